#include "ingest/consumer.h"

#include <cassert>

#include "ingest/kafka.h"
#include "ingest/session.h"
#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr std::chrono::milliseconds kPause{100}, kPauseAfterFailure{500};

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

void Consumer::Start(Engine* engine, migration::Migrations* migrations) {
  assert(dead_letters_ != nullptr && !thread_.joinable());
  engine_ = engine;
  crash_mark_ = OpenCrashMark(crash_mark_path_);
  publisher_.Start(engine);
  thread_ = std::thread([this, engine, migrations] { Run(engine, migrations); });
}

void Consumer::Stop() {
  stop_.Stop();
  if (thread_.joinable()) thread_.join();
  publisher_.Stop();
  engine_ = nullptr;
}

ops::IngestState Consumer::State() const {
  Engine* const engine = engine_;
  ops::IngestState state =
      table_.Snapshot(engine == nullptr ? std::vector<SourceInfo>() : engine->Sources());
  state.outbox_oldest_ms = publisher_.oldest_ms();
  return state;
}

std::vector<std::string> Consumer::Problems() const {
  std::string problem = publisher_.problem();
  if (problem.empty()) return {};
  return {std::move(problem)};
}

void Consumer::Run(Engine* engine, migration::Migrations* migrations) {
  while (!stop_.stopped()) {
    Session session(config_, engine, &table_, dead_letters_.get(), crash_mark_.get(), &late_topics_,
                    migrations, &stop_);
    const Status ended = session.Run();
    if (stop_.stopped()) return;
    if (ended.ok()) {
      stop_.Wait(kPause);  // a cluster that says one thing and another makes nobody spin
      continue;
    }
    table_.CountError();
    ops::Log(ops::LogLevel::kWarn, "ingest_session_ended", {{"error", ended.ToString()}});
    stop_.Wait(kPauseAfterFailure);
  }
}

}  // namespace seendb::ingest
