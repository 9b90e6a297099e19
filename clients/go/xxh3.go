package seendb

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// XXH3-64 (xxHash specification 0.1.1) of up to 256 bytes, with a secret of 192 bytes or with a seed.

const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D
	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5
)

var xxh3Secret, _ = hex.DecodeString(
	"b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
		"b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
		"a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
		"170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")

func word(data []byte, at int) uint64 { return binary.LittleEndian.Uint64(data[at:]) }

func fold(first, second uint64) uint64 {
	high, low := bits.Mul64(first, second)
	return high ^ low
}

func avalanche(value uint64) uint64 {
	value = (value ^ value>>37) * 0x165667919E3779F9
	return value ^ value>>32
}

func mixed(data []byte, at int, secret []byte, place int, seed uint64) uint64 {
	return fold(word(data, at)^(word(secret, place)+seed), word(data, at+8)^(word(secret, place+8)-seed))
}

// xxh3Number is the hash of the byte 0xFF and the number.
func xxh3Number(number uint64, secret []byte, seed uint64) uint64 {
	low := (0xFF | number<<8) ^ ((word(secret, 24) ^ word(secret, 32)) + seed)
	high := number ^ ((word(secret, 40) ^ word(secret, 48)) - seed)
	return avalanche(9 + bits.ReverseBytes64(low) + high + fold(low, high))
}

func xxh3(data, secret []byte, seed uint64) uint64 {
	size := len(data)
	switch {
	case size > 240:
		return xxh3Long(data, secret, seed)
	case size > 128:
		return xxh3Middle(data, secret, seed)
	case size > 16:
		total := uint64(size) * prime64x1
		for i := (size - 1) / 32; i >= 0; i-- {
			total += mixed(data, 16*i, secret, 32*i, seed)
			total += mixed(data, size-16*(i+1), secret, 32*i+16, seed)
		}
		return avalanche(total)
	case size > 8:
		low := word(data, 0) ^ ((word(secret, 24) ^ word(secret, 32)) + seed)
		high := word(data, size-8) ^ ((word(secret, 40) ^ word(secret, 48)) - seed)
		return avalanche(uint64(size) + bits.ReverseBytes64(low) + high + fold(low, high))
	case size >= 4:
		seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
		first, last := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[size-4:])
		value := (uint64(last) + uint64(first)<<32) ^ ((word(secret, 8) ^ word(secret, 16)) - seed)
		value = (value ^ bits.RotateLeft64(value, 49) ^ bits.RotateLeft64(value, 24)) * 0x9FB21C651E98DF25
		value = (value ^ (value>>35 + uint64(size))) * 0x9FB21C651E98DF25
		return value ^ value>>28
	}
	value := seed ^ word(secret, 56) ^ word(secret, 64)
	if size > 0 {
		joined := uint32(data[0])<<16 | uint32(data[size>>1])<<24 | uint32(data[size-1]) | uint32(size)<<8
		flip := binary.LittleEndian.Uint32(secret) ^ binary.LittleEndian.Uint32(secret[4:])
		value = uint64(joined) ^ (uint64(flip) + seed)
	}
	value = (value ^ value>>33) * prime64x2
	value = (value ^ value>>29) * prime64x3
	return value ^ value>>32
}

func xxh3Middle(data, secret []byte, seed uint64) uint64 {
	size := len(data)
	total := uint64(size) * prime64x1
	for i := 0; i < 8; i++ {
		total += mixed(data, 16*i, secret, 16*i, seed)
	}
	total = avalanche(total)
	for i := 8; i < size/16; i++ {
		total += mixed(data, 16*i, secret, 16*(i-8)+3, seed)
	}
	return avalanche(total + mixed(data, size-16, secret, 136-17, seed))
}

// xxh3Long is of less than a block of 1,024 bytes.
func xxh3Long(data, secret []byte, seed uint64) uint64 {
	if seed != 0 {
		own := make([]byte, len(secret))
		for at := 0; at < len(secret); at += 16 {
			binary.LittleEndian.PutUint64(own[at:], word(secret, at)+seed)
			binary.LittleEndian.PutUint64(own[at+8:], word(secret, at+8)-seed)
		}
		secret = own
	}
	totals := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	stripe := func(at, place int) {
		for i := range totals {
			value := word(data, at+8*i)
			keyed := value ^ word(secret, place+8*i)
			totals[i^1] += value
			totals[i] += (keyed & 0xFFFFFFFF) * (keyed >> 32)
		}
	}
	for i := 0; i < (len(data)-1)/64; i++ {
		stripe(64*i, 8*i)
	}
	stripe(len(data)-64, len(secret)-64-7)
	total := uint64(len(data)) * prime64x1
	for i := 0; i < 4; i++ {
		total += fold(totals[2*i]^word(secret, 11+16*i), totals[2*i+1]^word(secret, 19+16*i))
	}
	return avalanche(total)
}
