"""XXH3-64 (xxHash specification 0.1.1) of up to 256 bytes, with a secret of 192 bytes or with a seed."""

import struct

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def avalanche(value):
    value = ((value ^ (value >> 37)) * 0x165667919E3779F9) & MASK
    return value ^ (value >> 32)


def fold(first, second):
    product = first * second
    return (product & MASK) ^ (product >> 64)


def word(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def mixed(data, at, secret, place, seed):
    return fold(word(data, at) ^ ((word(secret, place) + seed) & MASK),
                word(data, at + 8) ^ ((word(secret, place + 8) - seed) & MASK))


def hash_of(data, secret=SECRET, seed=0):
    """The 64 bits."""
    size = len(data)
    if size > 240:
        return _long(data, secret, seed)
    if size > 128:
        return _middle(data, secret, seed)
    if size > 16:
        total = size * P64_1
        for i in range((size - 1) // 32, -1, -1):
            total += mixed(data, 16 * i, secret, 32 * i, seed)
            total += mixed(data, size - 16 * (i + 1), secret, 32 * i + 16, seed)
        return avalanche(total & MASK)
    if size > 8:
        low = word(data, 0) ^ (((word(secret, 24) ^ word(secret, 32)) + seed) & MASK)
        high = word(data, size - 8) ^ (((word(secret, 40) ^ word(secret, 48)) - seed) & MASK)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche((size + swapped + high + fold(low, high)) & MASK)
    if size >= 4:
        return _short(data, secret, seed)
    if size > 0:
        joined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        flip = int.from_bytes(secret[:4], "little") ^ int.from_bytes(secret[4:8], "little")
        value = (joined ^ (flip + seed)) & MASK
    else:
        value = seed ^ word(secret, 56) ^ word(secret, 64)
    value = ((value ^ (value >> 33)) * P64_2) & MASK
    value = ((value ^ (value >> 29)) * P64_3) & MASK
    return value ^ (value >> 32)


def _short(data, secret, seed):
    size = len(data)
    seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big") << 32
    first, last = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
    value = (last + (first << 32)) ^ (((word(secret, 8) ^ word(secret, 16)) - seed) & MASK)
    turned = lambda by: (value << by | value >> (64 - by)) & MASK
    value = ((value ^ turned(49) ^ turned(24)) * 0x9FB21C651E98DF25) & MASK
    value = ((value ^ ((value >> 35) + size)) * 0x9FB21C651E98DF25) & MASK
    return value ^ (value >> 28)


def _middle(data, secret, seed):
    size = len(data)
    total = size * P64_1
    for i in range(8):
        total += mixed(data, 16 * i, secret, 16 * i, seed)
    total = avalanche(total & MASK)
    for i in range(8, size // 16):
        total += mixed(data, 16 * i, secret, 16 * (i - 8) + 3, seed)
    return avalanche((total + mixed(data, size - 16, secret, 136 - 17, seed)) & MASK)


def _long(data, secret, seed):
    """Of less than a block of 1,024 bytes."""
    if seed:
        words = struct.unpack("<24Q", secret)
        secret = struct.pack("<24Q", *[(one - seed if i % 2 else one + seed) & MASK for i, one in enumerate(words)])
    totals = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes = [(64 * i, 8 * i) for i in range((len(data) - 1) // 64)] + [(len(data) - 64, len(secret) - 64 - 7)]
    for at, place in stripes:
        for i in range(8):
            value = word(data, at + 8 * i)
            keyed = value ^ word(secret, place + 8 * i)
            totals[i ^ 1] = (totals[i ^ 1] + value) & MASK
            totals[i] = (totals[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32)) & MASK
    total = len(data) * P64_1
    for i in range(4):
        total += fold(totals[2 * i] ^ word(secret, 11 + 16 * i), totals[2 * i + 1] ^ word(secret, 19 + 16 * i))
    return avalanche(total & MASK)
