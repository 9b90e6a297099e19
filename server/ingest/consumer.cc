#include "ingest/consumer.h"

#include <cassert>

#include "ingest/kafka.h"
#include "ingest/session.h"
#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr std::chrono::milliseconds kPause{100}, kPauseAfterFailure{500};
constexpr int kShapeMs = 3'000;

// Without the file all goes on as well, but for a message that kills each process.
std::unique_ptr<CrashMark> OpenCrashMark(const std::string& path) {
  if (path.empty()) return std::make_unique<CrashMark>();
  Result<std::unique_ptr<CrashMark>> opened = CrashMark::Open(path);
  if (opened.ok()) return std::move(opened).value();
  ops::Log(ops::LogLevel::kWarn, "crash_mark", {{"error", opened.status().ToString()}});
  return std::make_unique<CrashMark>();
}

/// The settings with the topics of items alone, or without them.
ops::KafkaConfig Only(const ops::KafkaConfig& config, bool items) {
  ops::KafkaConfig only = config;
  std::erase_if(only.topics, [items](const auto& topic) { return topic.items != items; });
  return only;
}

}  // namespace

Consumer::Consumer(const ops::KafkaConfig& config, std::string crash_mark)
    : config_(config),
      crash_mark_path_(std::move(crash_mark)),
      table_(config_),
      event_lane_{Only(config, false)},
      item_lane_{Only(config, true)},
      publisher_(config_) {}

Status Consumer::Prepare() {
  if (const Result<KafkaConf> conf = ConsumerConf(config_); !conf.ok()) return conf.status();
  for (Lane* const lane : {&event_lane_, &item_lane_}) {
    if (lane->config.topics.empty()) continue;
    Result<std::unique_ptr<DeadLetters>> made = DeadLetters::New(config_);
    if (!made.ok()) return made.status();
    lane->dead_letters = std::move(made).value();
  }
  return publisher_.Prepare();
}

Status Consumer::CheckItemTopics() const {
  if (item_lane_.config.topics.empty()) return {};
  Result<KafkaConf> conf = ConsumerConf(config_);
  if (!conf.ok()) return conf.status();
  const Result<KafkaHandle> asking = NewKafka(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!asking.ok()) return asking.status();
  for (const ops::KafkaTopic& topic : item_lane_.config.topics) {
    const auto found = PartitionsOf(asking->get(), topic.topic, kShapeMs);
    if (!found.ok()) return {};
    if (found->empty()) continue;
    Status kept = CheckNotCompacted(asking->get(), topic.topic, kShapeMs);
    if (!kept.ok()) return kept;
  }
  return {};
}

Status Consumer::CheckShapes(uint32_t partitions) const {
  Result<KafkaConf> conf = ConsumerConf(config_);
  if (!conf.ok()) return conf.status();
  const Result<KafkaHandle> asking = NewKafka(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!asking.ok()) return asking.status();
  for (const ops::KafkaTopic& topic : config_.topics) {
    const auto found = PartitionsOf(asking->get(), topic.topic, kShapeMs);
    if (!found.ok()) return {};
    if (found->empty()) continue;
    if (Status shape = CheckShape(topic.topic, found->size(), partitions); !shape.ok()) {
      return shape;
    }
  }
  return {};
}

void Consumer::Start(Engine* engine, migration::Migrations* migrations,
                     std::optional<ShardTopics> shards, std::optional<ItemSink> items) {
  assert(engine_ == nullptr);
  shards_ = std::move(shards);
  items_ = std::move(items);
  engine_ = engine;
  publisher_.Start(engine, shards_ ? &*shards_ : nullptr);
  if (!event_lane_.config.topics.empty()) {
    event_lane_.crash_mark = OpenCrashMark(crash_mark_path_);
    worker_.Start("ingest", [this, engine, migrations] {
      Run(&event_lane_, nullptr, &worker_, engine, migrations);
    });
  }
  if (!items_ || item_lane_.config.topics.empty()) return;
  const std::string items_mark = crash_mark_path_.empty() ? "" : crash_mark_path_ + "_ITEMS";
  item_lane_.crash_mark = OpenCrashMark(items_mark);
  item_worker_.Start("ingest-items", [this, engine] {
    Run(&item_lane_, &*items_, &item_worker_, engine, nullptr);
  });
}

void Consumer::Stop() {
  worker_.Stop();
  item_worker_.Stop();
  publisher_.Stop();
  engine_ = nullptr;
}

// A store of items whose notes can't be read tells nothing here; its session says why.
std::vector<SourceInfo> Consumer::Sources(Engine* engine) const {
  if (engine == nullptr) return {};
  std::vector<SourceInfo> sources = SourcesOf(engine, shards_.has_value());
  if (!items_) return sources;
  Result<std::vector<SourceInfo>> of_items = SourcesOf(*items_);
  if (!of_items.ok()) return sources;
  for (SourceInfo& one : *of_items) sources.push_back(std::move(one));
  return sources;
}

ops::IngestState Consumer::State() const {
  ops::IngestState state = table_.Snapshot(Sources(engine_));
  state.outbox_oldest_ms = publisher_.oldest_ms();
  return state;
}

std::map<uint32_t, int64_t> Consumer::BehindMs() const {
  Engine* const engine = engine_;
  if (engine == nullptr) return {};
  return table_.BehindMs(SourcesOf(engine, true), engine->NowMs());
}

std::vector<std::string> Consumer::Problems() const {
  std::vector<std::string> problems;
  if (engine_ != nullptr && shards_) problems = table_.HeldReasons();
  for (std::string& one : table_.UnreadReasons(Rate::Clock::now()))
    problems.push_back(std::move(one));
  for (auto& [topic, sentence] : table_.outcomes().NothingTaken(TopicOutcomes::Clock::now())) {
    problems.push_back(sentence);
  }
  if (std::string problem = publisher_.problem(); !problem.empty()) {
    problems.push_back(std::move(problem));
  }
  return problems;
}

void Consumer::Run(Lane* lane, const ItemSink* items, Worker* worker, Engine* engine,
                   migration::Migrations* migrations) {
  while (!worker->stopping()) {
    Session session(lane->config, engine, &table_, lane->dead_letters.get(), lane->crash_mark.get(),
                    &lane->late_topics, migrations, shards_ ? &*shards_ : nullptr, items, worker);
    const Status ended = session.Run();
    if (worker->stopping()) return;
    if (ended.ok()) {
      worker->Pause(kPause);  // a cluster that says one thing and another makes nobody spin
      continue;
    }
    table_.CountError();
    ops::Log(ops::LogLevel::kWarn, "ingest_session_ended", {{"error", ended.ToString()}});
    worker->Pause(kPauseAfterFailure);
  }
}

}  // namespace seendb::ingest
