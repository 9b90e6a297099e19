#include "replica/appender.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace seendb::replica {
namespace {

using cluster::LogKind;

constexpr size_t kPendingMost = 16'384;
constexpr std::chrono::seconds kTickTime{60};  // beyond what a message may take

Status Open(const std::string& why) {
  return Status::Unavailable(why + "; the outcome is open: the record may yet get into the log");
}

/// Whether the message is known not to be in the log.
bool WasNotSent(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR__PURGE_QUEUE || error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
         error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
         error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
}

}  // namespace

Result<std::unique_ptr<Appender>> Appender::New(const cluster::KafkaAccess& access,
                                                const std::string& topic,
                                                const AppendLimits& limits, MetaNow meta) {
  std::unique_ptr<Appender> appender(new Appender(limits, std::move(meta)));
  for (size_t i = 0; i < kProducers; ++i) {
    Producer::Callbacks callbacks;
    callbacks.delivered = [self = appender.get()](uint64_t nonce, rd_kafka_resp_err_t error,
                                                  int64_t offset) {
      self->Delivered(nonce, error, offset);
    };
    callbacks.down = [self = appender.get(), i] { self->Down(i); };
    Result<std::unique_ptr<Producer>> made =
        Producer::New(access, topic, limits.delivery, std::move(callbacks));
    if (!made.ok()) return made.status();
    appender->producers_[i] = std::move(made).value();
  }
  return appender;
}

Appender::~Appender() { End(); }

Status Appender::Take(const NewRecord& record, Time deadline, bool is_probe, Done* done,
                      uint64_t* nonce) {
  if (record.value.size() > cluster::kLogValueBytesMost) {
    return Status::InvalidArgument("a record has at most " +
                                   std::to_string(cluster::kLogValueBytesMost) + " bytes");
  }
  const MutexLock lock(mutex_);
  if (ended_) return Status::Unavailable("the node is stopping");
  if (down_.contains(record.partition) && !is_probe) {
    return Status::Unavailable("the log takes no records of partition " +
                               std::to_string(record.partition) + ": " + why_[record.partition]);
  }
  if (pending_.size() >= kPendingMost) return Status::Unavailable("too many records are under way");
  do {
    *nonce = random_();
  } while (pending_.contains(*nonce));
  pending_[*nonce] = {record.partition, deadline, Time::max(), -1, std::move(*done)};
  return {};
}

void Appender::Append(const NewRecord& record, Time deadline, Done done) {
  uint64_t nonce = 0;
  const bool is_probe = record.kind == LogKind::kTick;
  const auto meta = meta_();
  const uint32_t log_version = meta == nullptr ? 1 : meta->log_version();
  Status status = cluster::CheckMayWrite(record.kind, log_version);
  if (status.ok()) status = Take(record, deadline, is_probe, &done, &nonce);
  if (!status.ok()) return done(status);
  cluster::LogHeader said{record.kind, record.arrival_ms, nonce};
  if (log_version >= 2) {
    said.meta_offset = record.meta_offset >= 0 ? record.meta_offset : meta->next_offset();
  }
  const std::string header = cluster::EncodeLogHeader(said);
  status = producers_[record.partition % kProducers]->Send(record.partition, record.key,
                                                           record.value, header, nonce);
  if (status.ok()) return;
  {
    const MutexLock lock(mutex_);
    const auto at = pending_.find(nonce);
    if (at == pending_.end()) return;  // it has ended meanwhile
    ++failures_;
    done = std::move(at->second.done);
    pending_.erase(at);
  }
  done(status);
}

void Appender::Tick(uint32_t partition, int64_t arrival_ms) {
  {
    const MutexLock lock(mutex_);
    if (!ticking_.insert(partition).second) return;
  }
  Append({.partition = partition, .kind = LogKind::kTick, .arrival_ms = arrival_ms},
         std::chrono::steady_clock::now() + kTickTime, [this, partition](const auto&) {
           const MutexLock lock(mutex_);
           ticking_.erase(partition);
         });
}

std::set<uint32_t> Appender::Down() const {
  const MutexLock lock(mutex_);
  return down_;
}

std::string Appender::WhyDown() const {
  const MutexLock lock(mutex_);
  if (down_.empty()) return {};
  const auto why = why_.find(*down_.begin());
  return why == why_.end() ? std::string() : why->second;
}

void Appender::Delivered(uint64_t nonce, rd_kafka_resp_err_t error, int64_t offset) {
  Done done;
  {
    const MutexLock lock(mutex_);
    const auto at = pending_.find(nonce);
    if (at == pending_.end()) return;  // applied, or given up
    Pending& pending = at->second;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      down_.erase(pending.partition);
      pending.offset = offset;
      pending.apply_by = std::chrono::steady_clock::now() + limits_.apply;
      return;
    }
    ++failures_;
    down_.insert(pending.partition);
    why_[pending.partition] = rd_kafka_err2str(error);
    done = std::move(pending.done);
    pending_.erase(at);
  }
  const std::string why =
      "the log did not take the record: " + std::string(rd_kafka_err2str(error));
  done(WasNotSent(error) ? Status::Unavailable(why) : Open(why));
}

// What is under way is tried on; nothing new is taken.
void Appender::Down(size_t producer) {
  const MutexLock lock(mutex_);
  for (uint32_t partition = static_cast<uint32_t>(producer); partition < cluster::kPartitionsMost;
       partition += kProducers) {
    down_.insert(partition);
    why_[partition] = "no broker can be reached";
  }
}

void Appender::Applied(int64_t offset, const seendb::replica::Applied& applied) {
  Done done;
  {
    const MutexLock lock(mutex_);
    const auto at = pending_.find(applied.header.nonce);
    if (at == pending_.end()) return;
    down_.erase(at->second.partition);
    done = std::move(at->second.done);
    pending_.erase(at);
  }
  done(
      Appended{offset, true, applied.verdict, applied.recorded, applied.erasure, applied.user_set});
}

void Appender::Expire(Time now) {
  std::vector<std::pair<Done, Result<Appended>>> ready;
  {
    const MutexLock lock(mutex_);
    for (auto at = pending_.begin(); at != pending_.end();) {
      Pending& pending = at->second;
      const bool delivered = pending.offset >= 0;
      const auto next = std::next(at);
      if (now >= std::min(pending.deadline, pending.apply_by)) {
        Result<Appended> result = Appended{.offset = pending.offset};
        if (!delivered) {
          ++failures_;
          result = Open("the log has not answered in time");
        }
        ready.emplace_back(std::move(pending.done), std::move(result));
        pending_.erase(at);
      }
      at = next;
    }
  }
  for (auto& [done, result] : ready) done(std::move(result));
}

void Appender::End() {
  std::map<uint64_t, Pending> left;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    left.swap(pending_);
  }
  for (auto& [nonce, pending] : left) {
    pending.done(pending.offset < 0 ? Result<Appended>(Open("the node is stopping"))
                                    : Result<Appended>(Appended{.offset = pending.offset}));
  }
  for (std::unique_ptr<Producer>& producer : producers_) producer.reset();
}

}  // namespace seendb::replica
