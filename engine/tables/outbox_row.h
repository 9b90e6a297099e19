// tables/outbox_row.h: rows of the outbox (format.md, "Names"): the first plays of the day that one
// message of a log had in one shard, until they are told. The key orders the rows of a source by
// offset.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/ingest.h"

namespace seendb {

/// What the keys of a topic's rows, and those of a source, begin with.
std::string OutboxTopicPrefix(std::string_view topic);
std::string OutboxSourcePrefix(std::string_view topic, uint32_t partition);
/// The key of a row. Precondition: `offset` >= 0.
std::string OutboxKey(std::string_view topic, uint32_t partition, int64_t offset);
/// The parts of a key.
struct OutboxPlace {
  std::string topic;
  uint32_t partition = 0;
  int64_t offset = 0;
};
/// Nothing where it is no key of a row.
std::optional<OutboxPlace> ParseOutboxKey(std::string_view key);

/// The value of a row.
struct OutboxValue {
  uint64_t seq = 0;   ///< of the shard, of the write: an erasure with a greater one covers the row
  int64_t at_ms = 0;  ///< of the write
  std::vector<FirstOfDay> first_plays;

  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<OutboxValue> FromJson(std::string_view json);
  /// Takes in what an earlier write of the same message left there, and its age.
  void Join(const OutboxValue& earlier);
  /// Whether it named the user, who is out now.
  bool Remove(std::string_view user);
};

}  // namespace seendb
