// server/cluster/topics.h: the topics of a cluster, and how its brokers are reached.
//
// Calls block for seconds where the brokers do not answer: kUnavailable then.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kafka/handle.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// How the brokers are reached.
struct KafkaAccess {
  std::string brokers;                            ///< "host:port,host:port"
  std::map<std::string, std::string> properties;  ///< librdkafka's, as they are
  /// Told of librdkafka's log lines; null: nobody is.
  void (*log)(const rd_kafka_t*, int level, const char* facility, const char* text) = nullptr;
};

/// Settings of a handle: `ours`, then those of the access over them. kInvalidArgument (field
/// "/NAME"): a property that librdkafka does not take, or that SeenDB relies on (acks and others).
Result<kafka::KafkaConf> ConfOf(const KafkaAccess& access,
                                const std::vector<std::pair<std::string, std::string>>& ours);
/// Those of a consumer of partitions that are assigned, with offsets that are given; `name` is what
/// the brokers see. It joins no group, and never looks for another offset by itself.
Result<kafka::KafkaConf> ConsumerConfOf(const KafkaAccess& access, const std::string& name);
/// Reads a file of properties, `name=value` on a line; empty lines and those that begin with '#'
/// are passed over. kInvalidArgument: a line without '='; kIOError: it can't be read.
Result<std::map<std::string, std::string>> ReadProperties(const std::string& path);
/// For how long a topic keeps its records, in ms; -1: for ever. Waits for seconds.
Result<int64_t> RetentionMsOf(const KafkaAccess& access, const std::string& topic);
/// kUnavailable, with what librdkafka says of the connections, unless a broker answers.
Status Reach(const KafkaAccess& access);

/// kInvalidArgument unless `name` can be a cluster's: 1-200 letters, digits, '.', '-' and '_', the
/// first a letter or a digit.
Status CheckClusterName(std::string_view name);
/// `X.log`, `X.meta` and `X.sets`.
std::string LogTopicOf(const std::string& cluster);
std::string MetaTopicOf(const std::string& cluster);
std::string SetsTopicOf(const std::string& cluster);

/// Partitions and copies of the topics.
struct TopicsPlan {
  uint32_t partitions = 64;         ///< of the log
  uint32_t replication_factor = 3;  ///< below 3: for trials
};
/// In how many copies a record is before it is acknowledged.
uint32_t MinInSync(uint32_t replication_factor);

/// Whether the cluster's topic of records is there.
Result<bool> HasTopics(const KafkaAccess& access, const std::string& cluster);
/// Makes the topics, so that no record is lost while one copy in sync is left. One that is there
/// already is taken if it has the right number of partitions (kIncompatible: another), and that of
/// sets if it is compacted and forgets nothing else (kIncompatible). kUnavailable too: there are
/// fewer brokers than copies.
Status MakeTopics(const KafkaAccess& access, const std::string& cluster, const TopicsPlan& plan);
/// Makes those that a cluster lacks which older software made, in as many copies as `X.meta` has.
/// kIncompatible: as with MakeTopics.
Status MakeNewerTopics(const KafkaAccess& access, const std::string& cluster);

}  // namespace seendb::cluster
