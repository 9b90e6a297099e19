// server/cluster/topic_writer.h: appends records to a topic of one partition, for whoever does so
// seldom: each call has a connection of its own.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cluster/topics.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// A record to be appended. Borrows its bytes.
struct NewTopicRecord {
  std::string_view key = {};
  std::optional<std::string_view> value = {};  ///< nothing: what has the key is to go
};

/// Appends records, in their order, each once, acknowledged by all copies in sync; the offset of
/// the last one. kUnavailable: not all were, within `timeout_ms` and a little, or before `give_up`
/// became true (may be null); any of them may be in the topic, or get there for some seconds more.
/// kNotFound: the brokers say that there is no such topic; nothing was written.
/// Blocks. Precondition: there is a record.
Result<int64_t> AppendInOrder(const KafkaAccess& access, const std::string& topic,
                              std::span<const NewTopicRecord> records, int timeout_ms,
                              const std::atomic<bool>* give_up = nullptr);

}  // namespace seendb::cluster
