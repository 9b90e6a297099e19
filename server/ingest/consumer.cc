#include "ingest/consumer.h"

#include <algorithm>
#include <cassert>

#include "ingest/kafka.h"
#include "ingest/session.h"
#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr std::chrono::milliseconds kPause{100}, kPauseAfterFailure{500};

}  // namespace

Status Consumer::Prepare() {
  if (const Result<KafkaConf> conf = ConsumerConf(config_); !conf.ok()) return conf.status();
  Result<std::unique_ptr<DeadLetters>> made = DeadLetters::New(config_);
  if (!made.ok()) return made.status();
  dead_letters_ = std::move(made).value();
  const auto tells = [](const ops::KafkaTopic& topic) { return !topic.first_of_day_topic.empty(); };
  if (std::none_of(config_.topics.begin(), config_.topics.end(), tells)) return Status::Ok();
  Result<std::unique_ptr<TopicWriter>> writer = TopicWriter::New(config_);
  if (!writer.ok()) return writer.status();
  firsts_ = std::move(writer).value();
  return Status::Ok();
}

void Consumer::Start(Engine* engine) {
  assert(dead_letters_ != nullptr && !thread_.joinable());
  engine_ = engine;
  thread_ = std::thread([this, engine] { Run(engine); });
}

void Consumer::Stop() {
  stop_.Stop();
  if (thread_.joinable()) thread_.join();
  engine_ = nullptr;
}

ops::IngestState Consumer::State() const {
  Engine* const engine = engine_;
  return table_.Snapshot(engine == nullptr ? std::vector<SourceInfo>() : engine->Sources());
}

void Consumer::Run(Engine* engine) {
  while (!stop_.stopped()) {
    Session session(config_, engine, &table_, {dead_letters_.get(), firsts_.get()}, &late_topics_,
                    &stop_);
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
