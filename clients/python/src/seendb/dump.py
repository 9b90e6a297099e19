"""Reads dumps of filters (engine/doc/filter-dump.md) and asks them, in pure Python."""

import struct

from . import _xxh3
from .errors import Error

HEAD, ENTRY = struct.Struct("<6sBBqqqQQHHH"), struct.Struct("<BBHIQqq")
RING, IMPRESSIONS, EXPOSURES, RECORD, MARKS, BUCKET = range(1, 7)
SEED = 0x5EE0DB015EE0DB01
ALWAYS = 2**63 - 1
MOST_LAYERS = 32
SALTS = (0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19)
MASK = _xxh3.MASK


def damaged(why):
    return Error("protocol", "the dump of a filter " + why)


class Key:
    """What makes fingerprints out of ids: the answer of GET /admin/item-hash-key."""

    def __init__(self, told):
        self.version, self.id = told["version"], int(told["id"], 16)
        secret = bytes.fromhex(told["secret"])
        if self.version not in (1, 2) or len(secret) != (192 if self.version == 2 else 0):
            raise Error("invalid_argument", "no key of item hashes that this client knows")
        self.secret = secret
        # The nine bytes of a number are hashed more often than all else.
        flips = secret or _xxh3.SECRET
        seed = 0 if secret else SEED
        self._low = ((_xxh3.word(flips, 24) ^ _xxh3.word(flips, 32)) + seed) & MASK
        self._high = ((_xxh3.word(flips, 40) ^ _xxh3.word(flips, 48)) - seed) & MASK

    def of_number(self, number):
        low, high = (0xFF | number << 8) & MASK ^ self._low, number ^ self._high
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _xxh3.avalanche((9 + swapped + high + _xxh3.fold(low, high)) & MASK) >> 16

    def of(self, checked):
        """The fingerprint of an id."""
        if isinstance(checked, int):
            return self.of_number(checked)
        if checked.isdecimal() and checked.isascii() and (checked[0] != "0" or checked == "0") and len(checked) <= 20 \
                and int(checked) <= MASK:
            return self.of_number(int(checked))
        return self._of_bytes(checked.encode())

    def of_group(self, group):
        return self._of_bytes(b"\xfe" + group.encode())

    def _of_bytes(self, data):
        whole = _xxh3.hash_of(data, self.secret) if self.secret else _xxh3.hash_of(data, seed=SEED)
        return whole >> 16


def _list(body, at, count):
    end = at + 6 * count
    if end > len(body):
        raise damaged("is cut off")
    items = [int.from_bytes(body[i:i + 6], "little") for i in range(at, end, 6)]
    if any(first >= second for first, second in zip(items, items[1:])):
        raise damaged("has a list out of order")
    return frozenset(items), end


class Part:
    """One part: its items, or its marks."""

    def __init__(self, kind, body):
        self.kind, self.items, self.exact, self.blooms, self.marks = kind, frozenset(), [], [], {}
        try:
            at = self._read_marks(body) if kind == MARKS else self._read_items(body)
        except struct.error:
            raise damaged("is cut off") from None
        if at != len(body):
            raise damaged("is longer than it says")

    def _read_items(self, body):
        (count,), at, layers = struct.unpack_from("<I", body), 4, []
        if self.kind == BUCKET:
            (number,), at = struct.unpack_from("<I", body, at), at + 4
            if number > MOST_LAYERS:
                raise damaged("has too many layers")
            for _ in range(number):
                layers.append(struct.unpack_from("<II", body, at))
                at += 8
        self.items, at = _list(body, at, count)
        for blocks, items in layers:
            if blocks:
                if at + 64 * blocks > len(body):
                    raise damaged("is cut off")
                self.blooms.append((blocks, bytes(body[at:at + 64 * blocks])))
                at += 64 * blocks
            else:
                exact, at = _list(body, at, items)
                self.exact.append(exact)
        return at

    def _read_marks(self, body):
        (count,), at = struct.unpack_from("<I", body), 4
        for _ in range(count):
            size, until = struct.unpack_from("<Bq", body, at)
            at += 9 + size
            if at > len(body):
                raise damaged("is cut off")
            self.marks[bytes(body[at - size:at]).decode()] = until
        return at

    def has(self, item):
        if item in self.items or any(item in exact for exact in self.exact):
            return True
        if not self.blooms:
            return False
        value = (item * 0x9E3779B97F4A7C15) & MASK
        value ^= value >> 32
        low, high = value & 0xFFFFFFFF, value >> 32
        for blocks, bits in self.blooms:
            at = ((high * blocks) >> 32) * 64
            for salt in SALTS:
                bit = ((low * salt) & 0xFFFFFFFF) >> 26
                if not bits[at + (bit >> 3)] >> (bit & 7) & 1:
                    break
                at += 8
            else:
                return True
        return False


class Dump:
    """A dump. `former` has the parts that it leaves out; None: there is none."""

    def __init__(self, body, former=None):
        body = memoryview(body)
        try:
            magic, version, flags, self.as_of, self.window_begin, self.valid_until, self.key_id, frame, \
                self.hash_version, parts, labels = HEAD.unpack_from(body)
            if magic != b"SeenFD" or version != 1 or flags > 1:
                raise damaged("is none of version 1")
            self.degraded, self.missing, at = bool(flags), [], HEAD.size
            for _ in range(labels):
                size = body[at]
                self.missing.append(bytes(body[at + 1:at + 1 + size]).decode())
                at += 1 + size
            entries = [ENTRY.unpack_from(body, at + ENTRY.size * i) for i in range(parts)]
        except (struct.error, IndexError, UnicodeDecodeError):
            raise damaged("is cut off") from None
        at += ENTRY.size * parts
        self.parts, known = {}, former.parts if former else {}
        for kind, sent, _, size, of, _, _ in entries:
            if not RING <= kind <= BUCKET or (size and not sent):
                raise damaged("has a part that this client does not know")
            if sent:
                if at + size > len(body):
                    raise damaged("is cut off")
                self.parts[of] = Part(kind, body[at:at + size])
                at += size
            elif of in known and known[of].kind == kind:
                self.parts[of] = known[of]
            else:
                raise damaged("leaves out a part that was never sent")
        if at != len(body):
            raise damaged("is longer than it says")
        self.etag = '"%s"' % "-".join("%016x" % one for one in [frame] + [entry[4] for entry in entries])
        kinds = lambda *wanted: [part for part in self.parts.values() if part.kind in wanted]
        self._shown, self._played, self._record = kinds(IMPRESSIONS, EXPOSURES), kinds(RING, BUCKET), kinds(RECORD)
        self.marks = {group: until for part in kinds(MARKS) for group, until in part.marks.items()}

    def seen(self, item):
        """Whether a fingerprint was served, exposed or played."""
        if any(part.has(item) for part in self._shown):
            return True
        return any(part.has(item) for part in self._played) and not any(part.has(item) for part in self._record)
