#include "topics_node.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace seendb {
namespace {

// More than Kafka and the apply may take (replica::AppendLimits): the answer always comes before.
constexpr std::chrono::seconds kTell{10};

Status TellReplicas(replica::Replicas* replicas, const OutboxSource& source, int64_t up_to) {
  const nlohmann::ordered_json told = {
      {"topic", source.topic}, {"partition", source.partition}, {"offset", up_to}};
  const std::string value = told.dump();
  auto promise = std::make_shared<std::promise<Result<replica::Appended>>>();
  replicas->Append(
      {.partition = source.shard,
       .kind = cluster::LogKind::kTold,
       .value = value,
       .arrival_ms = SystemClock()->NowMs()},
      std::chrono::steady_clock::now() + kTell,
      [promise](Result<replica::Appended> done) { promise->set_value(std::move(done)); });
  const Result<replica::Appended> appended = promise->get_future().get();
  if (!appended.ok()) return appended.status();
  if (appended->applied) return appended->verdict;
  return Status::Unavailable("what was told of shard " + std::to_string(source.shard) +
                             " is in the log, and not applied yet");
}

}  // namespace

ingest::ShardTopics ShardTopicsOf(membership::Node* node, replica::Replicas* replicas) {
  ingest::ShardTopics topics;
  topics.partitions = node->meta()->init()->partitions;
  topics.readable = [replicas] { return replicas->CaughtUp(); };
  topics.leads = [node](uint32_t shard) {
    const auto table = node->table();
    if (table == nullptr || shard >= table->partitions()) return false;
    const auto& leader = table->of(shard).leader;
    return leader && leader->here;
  };
  topics.tell = [replicas](const OutboxSource& source, int64_t up_to) {
    return TellReplicas(replicas, source, up_to);
  };
  return topics;
}

}  // namespace seendb
