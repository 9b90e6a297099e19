#include "migration/old_writer.h"

#include <chrono>
#include <unordered_map>
#include <utility>

#include "ops/log.h"

namespace seendb::migration {
namespace {

constexpr std::chrono::milliseconds kWriteTimeout{5'000};
constexpr std::chrono::milliseconds kRetryAfter{200};
/// Members of one ZADD.
constexpr size_t kMembersMost = 1'000;

}  // namespace

OldWriter::OldWriter(OldLink* link, WriteQueue* queue, AffectedUsers* affected, Counters* counters,
                     int64_t cap)
    : link_(*link),
      queue_(*queue),
      affected_(*affected),
      counters_(*counters),
      cap_(cap),
      thread_([this] { Work(); }) {}

OldWriter::~OldWriter() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  queue_.Stop();
  thread_.join();
}

bool OldWriter::PauseForRetry() {
  const MutexLock lock(mutex_);
  if (!stopping_) stop_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kRetryAfter);
  return !stopping_;
}

void OldWriter::Work() {
  OldClient client(link_, kWriteTimeout);
  std::string bytes;
  std::vector<OldWrite> writes;
  while (queue_.Wait()) {
    if (const Status read = queue_.Peek(&bytes, &writes); !read.ok()) {
      ops::Log(ops::LogLevel::kError, "write_queue_damaged", {{"error", read.ToString()}});
    }
    while (!WriteAll(client, writes)) {
      if (!PauseForRetry()) return;
    }
    queue_.Done();
  }
}

std::string OldWriter::ScoreOf(int64_t at_ms) const {
  switch (link_.unit()) {
    case redis::ScoreUnit::kSeconds:
      return std::to_string(at_ms / 1'000);
    case redis::ScoreUnit::kMicros:
      return std::to_string(at_ms) + "000";
    default:
      return std::to_string(at_ms);
  }
}

/// The commands that make of a user's key what the writes say, in their order.
void OldWriter::AddUser(const std::string& user, const std::vector<const OldWrite*>& writes,
                        redis::Pipeline* pipeline, std::vector<Command>* commands) const {
  const std::string key = link_.keys().KeyOf(user);
  std::vector<std::string> scores;
  std::vector<std::string_view> items;
  const auto add_members = [&] {
    if (items.empty()) return;
    std::vector<std::string_view> words = {"ZADD", key, "GT"};
    for (size_t i = 0; i < items.size(); ++i) {
      words.push_back(scores[i]);
      words.push_back(items[i]);
    }
    pipeline->Add(words, key);
    commands->push_back({user, items.size()});
    items.clear();
    scores.clear();
  };
  bool added = false;
  for (const OldWrite* const write : writes) {
    if (write->kind == OldWrite::Kind::kPlay) {
      scores.push_back(ScoreOf(write->at_ms));
      items.push_back(write->item);
      added = true;
      if (items.size() == kMembersMost) add_members();
      continue;
    }
    add_members();
    if (write->kind == OldWrite::Kind::kDeleteKey) pipeline->Add({"DEL", key}, key);
    if (write->kind == OldWrite::Kind::kDeleteItem) pipeline->Add({"ZREM", key, write->item}, key);
    commands->push_back({user});
  }
  add_members();
  if (cap_ == 0 || !added) return;
  pipeline->Add({"ZREMRANGEBYRANK", key, "0", std::to_string(-cap_ - 1)}, key);
  commands->push_back({user});
}

/// False: the old store can't now; all are to be written again.
bool OldWriter::WriteAll(OldClient& client, const std::vector<OldWrite>& writes) {
  std::unordered_map<std::string, std::vector<const OldWrite*>> by_user;
  for (const OldWrite& write : writes) by_user[std::string(write.user)].push_back(&write);
  redis::Pipeline pipeline;
  std::vector<Command> commands;
  for (const auto& [user, own] : by_user) AddUser(user, own, &pipeline, &commands);
  if (commands.empty()) return true;
  const auto replies = client.Run(pipeline);
  if (!replies.ok()) return false;
  for (const redis::Reply& reply : *replies) {
    if (reply.is_error() && !IsOfKey(reply)) return false;
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    if (!(*replies)[i].is_error()) {
      counters_.Add(MigrationCount::kWritten, command.plays);
      continue;
    }
    counters_.Add(MigrationCount::kNotWritten, command.plays);
    affected_.Add(command.user);
  }
  return true;
}

}  // namespace seendb::migration
