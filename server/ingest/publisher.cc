#include "ingest/publisher.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr std::chrono::milliseconds kPublisherPause{100}, kPublisherFailurePause{500};
constexpr std::chrono::seconds kProblemAfter{10};
constexpr size_t kBatch = 1'000;  // first plays

std::vector<OutMessage> MessagesOf(const std::vector<OutboxRow>& rows) {
  std::vector<OutMessage> messages;
  for (const OutboxRow& row : rows) {
    for (const FirstOfDay& first : row.first_plays) {
      const nlohmann::ordered_json fact = {
          {"user", first.user}, {"collection", first.collection}, {"day", first.day}};
      messages.push_back({first.user, fact.dump(), {}});
    }
  }
  return messages;
}

}  // namespace

Publisher::Publisher(const ops::KafkaConfig& config) : config_(config) {
  for (const ops::KafkaTopic& topic : config.topics) {
    if (!topic.first_of_day_topic.empty()) topics_[topic.topic] = topic.first_of_day_topic;
  }
}

Status Publisher::Prepare() {
  if (topics_.empty()) return Status::Ok();
  Result<std::unique_ptr<TopicWriter>> writer = TopicWriter::New(config_);
  if (!writer.ok()) return writer.status();
  writer_ = std::move(writer).value();
  return Status::Ok();
}

void Publisher::Start(Engine* engine, const ShardTopics* shards) {
  shards_ = shards;
  if (writer_ != nullptr) worker_.Start("first-plays", [this, engine] { Run(engine); });
}

void Publisher::Stop() { worker_.Stop(); }

std::string Publisher::problem() const {
  const MutexLock lock(mutex_);
  if (failure_.empty() || Clock::now() - failing_since_ < kProblemAfter) return {};
  return "first plays of the day wait to be told: " + failure_;
}

std::optional<int64_t> Publisher::oldest_ms() const {
  const MutexLock lock(mutex_);
  return oldest_ms_;
}

void Publisher::Run(Engine* engine) {
  while (!worker_.stopping()) {
    bool any = false;
    const Status passed = Pass(engine, &any);
    Note(passed);
    if (!passed.ok()) {
      worker_.Pause(kPublisherFailurePause);
    } else if (!any) {
      worker_.Pause(kPublisherPause);
    }
  }
}

// A topic that can't be written to is tried once, and keeps no other from its turn.
Status Publisher::Pass(Engine* engine, bool* any) {
  Status first;
  std::set<std::string> failed;
  for (const OutboxSource& source : LookUp(engine)) {
    if (worker_.stopping()) return Status::Ok();
    const std::string& topic = topics_.at(source.topic);
    if (failed.contains(topic)) continue;
    bool written = true;
    Status told = TellSome(engine, source, topic, &written, any);
    if (!written) failed.insert(topic);
    if (first.ok()) first = std::move(told);
  }
  return first;
}

// What was told and can't be deleted, by a shard that takes no writes, is not told again meanwhile.
// Where rows wait and none is found behind what was told, they were written since, at lower
// offsets: the topic was forgotten, or is read again.
Status Publisher::TellSome(Engine* engine, const OutboxSource& source, const std::string& topic,
                           bool* written, bool* any) {
  Progress& progress = progress_[{source.shard, source.topic, source.partition}];
  if (progress.told.empty()) {
    Status done = engine->ReadOutbox(source, progress.after, kBatch, &progress.told);
    if (done.ok() && progress.told.empty()) progress.after = -1;
    if (done.ok()) {
      done = writer_->Write(topic, MessagesOf(progress.told));
      *written = done.ok();
    }
    if (!done.ok()) {
      progress.told.clear();
      return done;
    }
    if (progress.told.empty()) return done;
    progress.after = progress.told.back().offset;
    *any = true;
  }
  Status deleted = Delete(engine, source, progress.told);
  if (deleted.ok()) progress.told.clear();
  return deleted;
}

Status Publisher::Delete(Engine* engine, const OutboxSource& source,
                         const std::vector<OutboxRow>& told) {
  return shards_ == nullptr ? engine->DeleteOutbox(told)
                            : shards_->tell(source, told.back().offset);
}

// Within a source the first row is the oldest.
std::vector<OutboxSource> Publisher::LookUp(Engine* engine) {
  std::vector<OutboxSource> sources = engine->OutboxSources();
  std::erase_if(sources, [&](const OutboxSource& one) {
    if (!topics_.contains(one.topic)) return true;
    if (shards_ == nullptr || shards_->leads(one.shard)) return false;
    progress_.erase({one.shard, one.topic, one.partition});  // another node tells it
    return true;
  });
  std::optional<int64_t> oldest_ms;
  std::vector<OutboxRow> rows;
  for (const OutboxSource& source : sources) {
    const Progress& progress = progress_[{source.shard, source.topic, source.partition}];
    if (!engine->ReadOutbox(source, progress.after, 1, &rows).ok() || rows.empty()) continue;
    oldest_ms = std::min(oldest_ms.value_or(rows.front().at_ms), rows.front().at_ms);
  }
  const MutexLock lock(mutex_);
  oldest_ms_ = oldest_ms;
  return sources;
}

void Publisher::Note(const Status& passed) {
  const MutexLock lock(mutex_);
  if (passed.ok()) {
    failure_.clear();
    return;
  }
  if (failure_.empty()) failing_since_ = Clock::now();
  failure_ = passed.ToString();
}

}  // namespace seendb::ingest
