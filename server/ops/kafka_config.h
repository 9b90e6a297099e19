// server/ops/kafka_config.h: what is consumed from Kafka, and how: the object "kafka" of the
// server's settings. Keys and defaults are listed in server/doc/kafka.md.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/cluster_config.h"
#include "ops/config_keys.h"
#include "seendb/facts.h"

namespace seendb::ops {

/// An id that is not in the message but in the record around it.
struct RecordPlace {
  bool key = false;    ///< the record's key
  std::string header;  ///< a header of this name; empty: none

  explicit operator bool() const { return key || !header.empty(); }
};

/// What a bare number of a topic's times counts.
enum class AtUnit : uint8_t { kMillis, kSeconds, kMicros, kNanos };

/// What the bytes of a message are.
enum class Framing : uint8_t {
  kNone,       ///< JSON
  kConfluent,  ///< JSON behind the five bytes that name a schema of a registry
};

/// One topic: which events it holds, and where in a message they are.
struct KafkaTopic {
  std::string topic;
  std::string collection = "default";
  Fact fact = Fact::kPlayed;  ///< "fact", or "kind": what the events are
  bool marks = false;         ///< "fact":"mark": marks of users, of no fact and no item
  /// "fact":"item": updates of items, of no user and no collection, as POST /items takes them.
  bool items = false;
  /// Members of an event, each a path of names from the event's object down.
  std::vector<std::string> user = {"user"}, item = {"item"};
  RecordPlace user_place, item_place;  ///< in place of a path, which is empty then
  std::vector<std::string> at;         ///< empty: the record's own timestamp counts
  AtUnit at_unit = AtUnit::kMillis;    ///< of numbers
  std::string time_zone;  ///< of dates that name none, as times::TimeZone; empty: the collection's
  Framing framing = Framing::kNone;
  /// Where the player is: read where an event has them, of plays only; empty: nowhere.
  std::vector<std::string> progress_s, duration_s, device, fields;
  std::vector<std::string> day;      ///< the day the client was told last, likewise
  std::string first_of_day_topic;    ///< told of first plays of the day, of plays only; empty: none
  std::vector<std::string> surface;  ///< where an item was shown: of impressions and exposures only
  std::vector<std::string> of, same_as;   ///< groups of the item; of marks none; empty: nowhere
  std::vector<std::string> group, until;  ///< of marks alone, and never empty there
  bool gaps_expected = false;             ///< "gaps": a compacted or transactional topic
};

/// Where to begin with a partition of which nothing is stored.
enum class KafkaStart : uint8_t {
  kRefuse,    ///< nowhere: it is an error
  kEarliest,  ///< with the oldest message
  kLatest,    ///< with what comes from now on
  kTime,      ///< with the first message of a time
};

/// See the head of this file.
struct KafkaConfig {
  std::string brokers;           ///< "host:port,host:port"; of a node, unless given: the cluster's
  std::string group = "seendb";  ///< offsets are shown to; never read back
  KafkaStart start = KafkaStart::kRefuse;
  int64_t start_ms = 0;           ///< for kTime
  std::string dead_letter_topic;  ///< at most one of these two
  std::string dead_letter_file;
  std::vector<KafkaTopic> topics;                  ///< at least one
  std::optional<std::vector<int32_t>> partitions;  ///< owned here; unset: all
  uint32_t batch_messages = 20'000;                ///< applied at once, at most
  uint32_t batch_ms = 50;                          ///< waited for a batch to fill
  uint64_t queued_bytes = 64ULL << 20;             ///< fetched ahead, at most
  uint64_t message_bytes = 8ULL << 20;             ///< larger messages are dead letters
  uint32_t refresh_ms = 5'000;                     ///< new topics and partitions are looked for
  uint32_t commit_ms = 5'000;                      ///< the group is told
  std::map<std::string, std::string> properties;   ///< librdkafka's (kafka_properties.h)
};

/// Reads the object "kafka".
Setter Kafka(std::optional<KafkaConfig>* to);
/// Fills in and checks what depends on other settings, once all are read. `cluster`: that the
/// server is a node of; null: it is none. `keeps_items`: there may be a store of items.
/// kInvalidArgument with the key at fault.
Status SettleKafka(const ClusterConfig* cluster, bool keeps_items, KafkaConfig* kafka);
/// Whether some topic has updates of items.
bool HasItemTopics(const KafkaConfig& kafka);

}  // namespace seendb::ops
