#include "cluster/follower.h"

#include <utility>

#include "cluster/meta_cache.h"

namespace seendb::cluster {
namespace {

constexpr int kPollMs = 200;
constexpr int kReadMs = 2'000;
constexpr int kRegisterMs = 5'000;
constexpr std::chrono::milliseconds kNoPause{0}, kRetryPause{500};

/// Faults of the topic itself, which asking again does not mend.
bool IsFinal(const Status& status) {
  return status.code() == StatusCode::kIncompatible || status.code() == StatusCode::kCorruption;
}

bool IsRegistered(const Meta& meta, const MemberRecord& self) {
  const auto known = meta.members().find(self.node);
  return known != meta.members().end() && known->second.url == self.url &&
         known->second.zone == self.zone && known->second.weight == self.weight &&
         known->second.build == self.build && known->second.log_version == self.log_version;
}

}  // namespace

Follower::Follower(FollowerOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<Follower>> Follower::Start(FollowerOptions options) {
  std::unique_ptr<Follower> follower(new Follower(std::move(options)));
  Result<std::unique_ptr<MetaLog>> log =
      MetaLog::Open(follower->options_.access, follower->options_.cluster, {});
  if (!log.ok()) return log.status();
  follower->log_ = std::move(log).value();
  follower->log_->OnRefused([self = follower.get()](int64_t offset, const Status& why) {
    self->Say("record_refused",
              "offset " + std::to_string(offset) + ": " + std::string(why.message()));
  });
  if (std::optional<Meta> copy = ReadMetaCache(follower->options_.cache_path)) {
    follower->cached_offset_ = copy->next_offset();
    if (copy->init()) follower->expected_uuid_ = copy->init()->uuid;
    const MutexLock lock(follower->mutex_);
    follower->meta_ = std::make_shared<const Meta>(std::move(*copy));
  }
  follower->worker_.Start("meta", [self = follower.get()] { self->Run(); });
  return follower;
}

void Follower::RegisterAs(MemberRecord self) {
  const MutexLock lock(mutex_);
  self_ = std::move(self);
}

std::shared_ptr<const Meta> Follower::meta() const {
  const MutexLock lock(mutex_);
  return meta_;
}

std::string Follower::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

bool Follower::is_stuck() const {
  const MutexLock lock(mutex_);
  return stuck_;
}

bool Follower::is_current() const {
  const MutexLock lock(mutex_);
  return current_;
}

bool Follower::is_registered() const {
  const MutexLock lock(mutex_);
  return registered_;
}

bool Follower::WaitFor(int64_t next_offset, std::chrono::milliseconds most) const {
  const auto deadline = std::chrono::steady_clock::now() + most;
  const MutexLock lock(mutex_);
  while (meta_ == nullptr || meta_->next_offset() < next_offset) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  return meta_ != nullptr && meta_->next_offset() >= next_offset;
}

bool Follower::ReadToEnd(std::chrono::milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  const MutexLock lock(mutex_);
  const uint64_t mine = ++asked_;
  while (answered_ < mine) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  return answered_ >= mine;
}

void Follower::Run() {
  for (;;) {
    const Status status = Step();
    SetProblem(status);
    if (IsFinal(status) || !worker_.Pause(status.ok() ? kNoPause : kRetryPause)) return;
  }
}

// Until the first reading has come to the topic's end nothing is published: a part of the records
// is a cluster of the past.
Status Follower::Step() {
  const bool first = !is_current();
  uint64_t asked = 0;
  bool to_end = first;
  {
    const MutexLock lock(mutex_);
    asked = asked_;
    to_end = to_end || asked != answered_;
  }
  const int64_t before = log_->meta().next_offset();
  Status status = to_end ? log_->ReadToEnd(kReadMs) : log_->Poll(kPollMs);
  if (status.ok() && first) status = CheckBeginning();
  if (first ? status.ok() : log_->meta().next_offset() != before) Publish();
  std::optional<MemberRecord> self;
  {
    const MutexLock lock(mutex_);
    if (status.ok() && to_end) answered_ = asked;
    self = self_;
  }
  changed_.NotifyAll();
  if (status.ok() && self) status = Register(*self);
  return status;
}

Status Follower::CheckBeginning() const {
  const std::optional<InitRecord>& init = log_->meta().init();
  if (!init) return Status::Unavailable("the cluster " + options_.cluster + " was not made yet");
  if (expected_uuid_ && init->uuid != *expected_uuid_) {
    return Status::Incompatible("the topic is of the cluster " + init->uuid +
                                ", this node of the cluster " + *expected_uuid_);
  }
  if (log_->meta().next_offset() < cached_offset_) {
    return Status::Corruption(
        "the topic ends at offset " + std::to_string(log_->meta().next_offset()) +
        ", before what this node has read of it (" + std::to_string(cached_offset_) + ")");
  }
  return {};
}

void Follower::Publish() {
  auto fold = std::make_shared<const Meta>(log_->meta());
  if (Status kept = WriteMetaCache(options_.cache_path, *fold); !kept.ok()) {
    Say("copy_not_written", kept.ToString());
  }
  {
    const MutexLock lock(mutex_);
    meta_ = std::move(fold);
    current_ = true;
  }
  changed_.NotifyAll();
}

// Once a process has registered, it does not do so again: of two that use one name, each would
// take it from the other for ever.
Status Follower::Register(const MemberRecord& self) {
  if (IsRegistered(log_->meta(), self)) {
    const MutexLock lock(mutex_);
    registered_ = true;
    return {};
  }
  if (is_registered()) {
    const bool member = log_->meta().members().contains(self.node);
    return Status::Unavailable(
        self.node + (member ? " was registered by another process" : " is no member any more"));
  }
  const int64_t before = log_->meta().next_offset();
  const Status written = log_->Commit(self, kRegisterMs);
  if (log_->meta().next_offset() != before) Publish();
  // A record that is not known is met again by the next step.
  return written.ok() ? written
                      : Status::Unavailable("registration of " + self.node + ": " +
                                            std::string(written.message()));
}

void Follower::Say(const char* event, const std::string& text) const {
  if (options_.log) options_.log(event, text);
}

void Follower::SetProblem(const Status& status) {
  const std::string text(status.message());
  {
    const MutexLock lock(mutex_);
    stuck_ = IsFinal(status);
    if (problem_ == text) return;
    problem_ = text;
  }
  if (!status.ok()) Say(IsFinal(status) ? "cluster_stopped" : "cluster_problem", text);
}

}  // namespace seendb::cluster
