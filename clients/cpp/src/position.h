// position.h: how far a user's writes are in the log of a cluster (SeenDB-Position), "3:1042,5:7".

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace seendb::client::internal {

/// Offsets by partition.
using Position = std::map<uint32_t, uint64_t>;

/// A batch of more partitions than that is not read back user by user.
inline constexpr size_t kPartsMost = 8;

/// Passes over what is no pair of a partition and an offset.
Position ReadPosition(std::string_view text);
/// The greatest offset of each partition: answers may come in another order than the writes. When
/// there are too many, those that were not told just now go.
void Advance(Position* position, const Position& told);
std::string ToText(const Position& position);

}  // namespace seendb::client::internal
