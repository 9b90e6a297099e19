// seendb produce FILE: the plays of a log as messages of a Kafka topic, one JSON object each, keyed
// by user and partitioned as Java's producers do.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "byte_source.h"
#include "commands.h"
#include "kafka_handle.h"
#include "log_flags.h"
#include "play_batch.h"
#include "progress.h"
#include "row_share.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr int kFlushMs = 1'000;
constexpr uint64_t kPollEvery = 1'000;
constexpr int kAskAgainMs = 500;

struct ProduceFlags {
  LogFlags log;
  std::string brokers, topic;
  uint64_t rate = 0;  ///< messages per second; 0: as fast as it goes
  std::vector<std::string> properties;
  std::string max_refused = "0%";
};

struct Counts {
  uint64_t rows = 0, bad = 0, sent = 0, failed = 0;
  std::vector<RowError> bad_rows;  ///< the first of them
  std::string error;               ///< of the last failed message
};

/// A librdkafka producer. Threads: one.
class Producer {
 public:
  static Result<std::unique_ptr<Producer>> Open(const ProduceFlags& flags) {
    std::unique_ptr<Producer> producer(new Producer);
    Status status = producer->Start(flags);
    if (!status.ok()) return status;
    return producer;
  }
  ~Producer() {
    if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// Waits until a broker answers that has the topic. In time none answered: kUnavailable;
  /// or the topic was not there, and no broker made it: kNotFound.
  Status Reach(const ProduceFlags& flags) {
    using std::chrono::steady_clock;
    const auto until = steady_clock::now() + std::chrono::milliseconds(KafkaHandle::kReachMs);
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
      const rd_kafka_metadata_t* metadata = nullptr;
      rd_kafka_resp_err_t error =
          rd_kafka_metadata(kafka_->get(), 0, topic_, &metadata,
                            std::max(static_cast<int>(left.count()), kAskAgainMs));
      if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_->Unreachable(flags.brokers, error);
      if (metadata->topic_cnt > 0) error = metadata->topics[0].err;
      rd_kafka_metadata_destroy(metadata);
      // Brokers that make topics by themselves say this until they have.
      if (error != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return {};
      if (left.count() < kAskAgainMs) {
        return Status::NotFound("Kafka at " + flags.brokers + " has no topic \"" + flags.topic +
                                "\"");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kAskAgainMs));
    }
  }
  /// Queues a message, waiting while the queue is full.
  Status Send(std::string_view key, const std::string& payload) {
    while (rd_kafka_produce(topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                            const_cast<char*>(payload.data()), payload.size(), key.data(),
                            key.size(), nullptr) != 0) {
      const rd_kafka_resp_err_t error = rd_kafka_last_error();
      if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        return Status::Unavailable(rd_kafka_err2str(error));
      }
      kafka_->Poll(100);
    }
    if (++queued_ % kPollEvery == 0) kafka_->Poll(0);
    return {};
  }
  /// Waits for the fate of all that is queued.
  void Flush(const std::function<void()>& on_wait) {
    while (rd_kafka_outq_len(kafka_->get()) > 0) {
      rd_kafka_flush(kafka_->get(), kFlushMs);
      on_wait();
    }
  }
  /// Messages the broker took, and those it did not.
  uint64_t delivered() const { return delivered_; }
  uint64_t failed() const { return failed_; }
  const std::string& error() const { return error_; }

 private:
  Producer() = default;

  static void Delivered(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    auto* const producer = static_cast<Producer*>(self);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++producer->delivered_;
      return;
    }
    ++producer->failed_;
    producer->error_ = rd_kafka_err2str(message->err);
  }

  Status Start(const ProduceFlags& flags) {
    auto kafka = KafkaHandle::Open(RD_KAFKA_PRODUCER,
                                   {{"bootstrap.servers", flags.brokers},
                                    {"partitioner", "murmur2_random"},
                                    {"linger.ms", "20"},
                                    {"compression.type", "lz4"},
                                    {"acks", "all"},
                                    {"enable.idempotence", "true"},
                                    {"queue.buffering.max.messages", "500000"}},
                                   flags.properties, Delivered, this);
    if (!kafka.ok()) return kafka.status();
    kafka_ = std::move(kafka).value();
    topic_ = rd_kafka_topic_new(kafka_->get(), flags.topic.c_str(), nullptr);
    return topic_ != nullptr ? Status()
                             : Status::InvalidArgument(rd_kafka_err2str(rd_kafka_last_error()));
  }

  std::unique_ptr<KafkaHandle> kafka_;
  rd_kafka_topic_t* topic_ = nullptr;
  uint64_t queued_ = 0, delivered_ = 0, failed_ = 0;
  std::string error_;
};

/// Sleeps so that not more than `rate` messages per second go out.
void KeepRate(const ProduceFlags& flags, uint64_t sent, const Progress& progress) {
  if (flags.rate == 0) return;
  const double ahead_s =
      static_cast<double>(sent) / static_cast<double>(flags.rate) - progress.elapsed_s();
  if (ahead_s > 0.001) std::this_thread::sleep_for(std::chrono::duration<double>(ahead_s));
}

Status PrintSummary(const Session& session, const Counts& counts, double elapsed_s) {
  const double rate = elapsed_s > 0 ? static_cast<double>(counts.sent) / elapsed_s : 0;
  if (session.json) {
    return PrintJson({{"rows", counts.rows},
                      {"sent", counts.sent},
                      {"failed", counts.failed},
                      {"bad", counts.bad},
                      {"bad_rows", RowsJson(counts.bad_rows)},
                      {"elapsed_us", static_cast<uint64_t>(elapsed_s * 1e6)},
                      {"messages_per_s", static_cast<uint64_t>(rate)}});
  }
  std::string out = FormatCount(counts.rows) + " rows: " + FormatCount(counts.sent) +
                    " messages sent, " + FormatCount(counts.failed) + " failed, " +
                    FormatCount(counts.bad) + " bad rows\n";
  if (!counts.error.empty()) out += "failed: " + Printable(counts.error) + "\n";
  out += FormatDurationUs(elapsed_s * 1e6) + ", " + FormatRate(rate) + "\n";
  return Print(out + RowsText("bad rows\n", counts.bad_rows, counts.bad));
}

Status RunProduce(Session& session, ProduceFlags flags) {
  const auto format = flags.log.Interpret();
  if (!format.ok()) return format.status();
  flags.log.columns.zone_known = !flags.log.time_zone.empty();  // a topic has no collection here
  const auto allowed_percent = ParsePercent(flags.max_refused);
  if (!allowed_percent.ok()) return allowed_percent.status();
  auto source = ByteSource::Open(flags.log.file);
  if (!source.ok()) return source.status();
  auto reader = PlayReader::Open([&](char* to, size_t size) { return (*source)->Read(to, size); },
                                 *format, flags.log.columns);
  if (!reader.ok()) return reader.status();
  auto producer = Producer::Open(flags);
  if (!producer.ok()) return producer.status();
  Status status = (*producer)->Reach(flags);
  if (!status.ok()) return status;

  Counts counts;
  Progress progress("messages");
  const auto show = [&] {
    const auto whole = static_cast<double>((*source)->file_bytes());
    const auto read = static_cast<double>((*source)->file_bytes_read());
    progress.Show(whole > 0 ? read / whole : -1, counts.rows);
  };
  std::string payload;
  PlayRow row;
  for (RowKind kind = (*reader)->Next(&row); kind != RowKind::kEnd && status.ok();
       kind = (*reader)->Next(&row)) {
    if (kind == RowKind::kFailed) {
      status = (*reader)->status();
      break;
    }
    ++counts.rows;
    if (kind == RowKind::kBad) {
      ++counts.bad;
      if (counts.bad_rows.size() < kRowErrorsMax) {
        counts.bad_rows.emplace_back((*reader)->row_number(), (*reader)->error());
      }
      continue;
    }
    if (row.at_ms) *row.at_ms += flags.log.shift_ms;
    payload.clear();
    AppendNdjson(row, &payload);
    payload.pop_back();  // the line's end
    status = (*producer)->Send(row.user, payload);
    if (counts.rows % kPollEvery == 0) show();
    KeepRate(flags, counts.rows, progress);
  }
  (*producer)->Flush(show);
  progress.Clear();
  counts.sent = (*producer)->delivered();
  counts.failed = (*producer)->failed();
  counts.error = (*producer)->error();
  Status printed = PrintSummary(session, counts, progress.elapsed_s());
  if (!status.ok()) return status;
  if (counts.failed > 0) return Status::Unavailable(counts.error);
  if (!printed.ok()) return printed;
  return JudgeRows(counts.bad, counts.rows, *allowed_percent, &session);
}

}  // namespace

void AddProduce(Command app, Session& session) {
  auto flags = std::make_shared<ProduceFlags>();
  Command command = AddCommand(
      app, session, "produce",
      "Send the plays of a log to a Kafka topic, keyed by user, partitioned as by Java's producers",
      Takes::kNothing, [&session, flags] { return RunProduce(session, *flags); });
  AddLogFlags(command, &flags->log);
  command.Add("--brokers", flags->brokers, "Where Kafka is").Required().TypeName("HOST:PORT");
  command.Add("--topic", flags->topic, "The topic, which must be there")
      .Required()
      .TypeName("NAME");
  command.Add("--rate", flags->rate, "Messages per second at most (as fast as it goes)")
      .TypeName("N");
  AddMaxRefused(command, &flags->max_refused);
  command
      .Add("--property", flags->properties,
           "A setting of librdkafka: TLS, SASL, ... (may be repeated)")
      .TypeName("NAME=VALUE");
  command.Examples(
      {"seendb produce plays.csv --brokers localhost:9092 --topic plays",
       "seendb produce plays.csv.gz --brokers localhost:9092 --topic plays --rate 5000"});
}

}  // namespace seendb::tool
