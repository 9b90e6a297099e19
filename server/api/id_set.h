// server/api/id_set.h: the ids of items that a user has seen, as bytes that search engines take as
// a set (GET /users/{user}/filter?format=...).
//
// "roaring" is the portable format of 64-bit Roaring bitmaps (RoaringFormatSpec, "Extension for
// 64-bit implementations"): a u64 count of 32-bit bitmaps, then for each its upper 32 bits as a u32
// and a 32-bit bitmap in the portable format. Containers are arrays of up to 4,096 values, else
// bitmaps; there are no runs.
//
// "idset" is Pinot's IdSet of a LONG column: the byte 2, then a Roaring64NavigableMap as Java
// writes it in its legacy mode: the byte 0 (numbers without a sign), the count of bitmaps as a
// big-endian u32, then for each its upper 32 bits as a big-endian u32 and the bitmap as above.

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace seendb::api {

/// The numbers, ascending and unique, as a 64-bit Roaring bitmap.
std::string ToRoaring(std::span<const uint64_t> numbers);
/// Writes the numbers as Pinot's IdSet.
std::string ToPinotIdSet(std::span<const uint64_t> numbers);

}  // namespace seendb::api
