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

}  // namespace

Status Consumer::Prepare() {
  if (const Result<KafkaConf> conf = ConsumerConf(config_); !conf.ok()) return conf.status();
  Result<std::unique_ptr<DeadLetters>> made = DeadLetters::New(config_);
  if (!made.ok()) return made.status();
  dead_letters_ = std::move(made).value();
  return publisher_.Prepare();
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
                     std::optional<ShardTopics> shards) {
  assert(dead_letters_ != nullptr && engine_ == nullptr);
  shards_ = std::move(shards);
  engine_ = engine;
  crash_mark_ = OpenCrashMark(crash_mark_path_);
  publisher_.Start(engine, shards_ ? &*shards_ : nullptr);
  worker_.Start("ingest", [this, engine, migrations] { Run(engine, migrations); });
}

void Consumer::Stop() {
  worker_.Stop();
  publisher_.Stop();
  engine_ = nullptr;
}

ops::IngestState Consumer::State() const {
  Engine* const engine = engine_;
  ops::IngestState state = table_.Snapshot(
      engine == nullptr ? std::vector<SourceInfo>() : SourcesOf(engine, shards_.has_value()));
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

void Consumer::Run(Engine* engine, migration::Migrations* migrations) {
  while (!worker_.stopping()) {
    Session session(config_, engine, &table_, dead_letters_.get(), crash_mark_.get(), &late_topics_,
                    migrations, shards_ ? &*shards_ : nullptr, &worker_);
    const Status ended = session.Run();
    if (worker_.stopping()) return;
    if (ended.ok()) {
      worker_.Pause(kPause);  // a cluster that says one thing and another makes nobody spin
      continue;
    }
    table_.CountError();
    ops::Log(ops::LogLevel::kWarn, "ingest_session_ended", {{"error", ended.ToString()}});
    worker_.Pause(kPauseAfterFailure);
  }
}

}  // namespace seendb::ingest
