// server/api/milvus_filter.h: a set of ids as the Bloom filter that Milvus takes in the expression
// membership_match(field, {filter}, type=bloom).
//
// The bytes ("MBF1"), little-endian: the magic, u16 version 1, u16 algorithm 1, u64 count of ids,
// f64 false-positive rate, u32 blocks, u8 kind of ids (1 numbers, 2 text; 0: there are none), 3
// zero bytes, then the blocks of 32 bytes each. The blocks are the split-block Bloom filter of
// Apache Parquet (BloomFilter.md) over XXH64 with seed 0 of an id: 8 bytes of a number, the UTF-8
// of a text. Source: milvus.io, "Membership Match", and the builder of pymilvus 3.0.2, with which
// the tests compare the bytes.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace seendb::api {

inline constexpr double kMinMilvusRate = 0.0001, kMaxMilvusRate = 0.05, kMilvusRate = 0.005;

/// The filter of numbers for a field of an integer type, with so many false positives: from
/// kMinMilvusRate to kMaxMilvusRate. At most 128 MB: beyond, the rate is higher.
std::string ToMilvusFilter(std::span<const uint64_t> numbers, double rate);
/// The same of texts, for a field of the type VARCHAR.
std::string ToMilvusFilter(std::span<const std::string_view> texts, double rate);

}  // namespace seendb::api
