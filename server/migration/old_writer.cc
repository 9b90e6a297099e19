#include "migration/old_writer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <unordered_map>
#include <utility>

#include "migration/taken.h"
#include "ops/log.h"

namespace seendb::migration {
namespace {

constexpr std::chrono::milliseconds kWriteTimeout{5'000};
constexpr std::chrono::milliseconds kRetryAfter{200};
/// How often a node looks whether it writes, and what others have written.
constexpr std::chrono::milliseconds kLookAgain{100};
/// Members of one ZADD.
constexpr size_t kMembersMost = 1'000;

}  // namespace

OldWriter::OldWriter(Context context) : context_(std::move(context)) {
  worker_.Start("old-writer", [this] { Work(); });
}

/// Waits for more where nothing could be done. False: it is to end.
bool OldWriter::Rest(Served served) {
  if (served == Served::kSome) return !worker_.stopping();
  if (served == Served::kFailed) return worker_.Pause(kRetryAfter);
  return context_.node != nullptr ? worker_.Pause(kLookAgain) : worker_.Wait();
}

void OldWriter::Work() {
  OldClient client(*context_.link, kWriteTimeout);
  for (Served served = Served::kSome; Rest(served);) {
    served = Served::kNothing;
    const auto duties =
        context_.node == nullptr ? std::map<uint32_t, Duty>() : context_.node->duties();
    for (WriteQueue* const queue : context_.queues->All()) {
      Duty duty{.here = !queue->partition()};
      if (queue->partition()) {
        const auto found = duties.find(*queue->partition());
        if (found != duties.end()) duty = found->second;
      }
      const Served one = Serve(client, *queue, duty);
      if (one != Served::kNothing) served = one;
      if (one == Served::kFailed) break;
    }
  }
}

/// Writes, or drops, the oldest of a queue. What another node writes is dropped once it did; but
/// what it never had is written here, and keys are deleted everywhere: a play that was written late
/// must not outlive its user's erasure.
OldWriter::Served OldWriter::Serve(OldClient& client, WriteQueue& queue, const Duty& duty) {
  const std::optional<int64_t> front = queue.front();
  if (!front) return Served::kNothing;
  int64_t before = std::numeric_limits<int64_t>::max();
  bool dropped = false;
  if (!duty.here) {
    if (!duty.written || *front >= std::max(duty.written->from, duty.written->to)) {
      return Served::kNothing;
    }
    dropped = *front >= duty.written->from;
    before = dropped ? duty.written->to : duty.written->from;
  }
  WriteQueue::Batch batch;
  if (const Status read = queue.Peek(before, &batch); !read.ok()) {
    ops::Log(ops::LogLevel::kError, "write_queue_damaged", {{"error", read.ToString()}});
  }
  if (dropped) {
    std::erase_if(batch.writes,
                  [](const OldWrite& write) { return write.kind != OldWrite::Kind::kDeleteKey; });
  } else if (!AddRecorded(&batch)) {
    return Served::kFailed;
  }
  if (!WriteAll(client, batch.writes)) return Served::kFailed;
  queue.Done();
  return Served::kSome;
}

/// Of plays that were staged when the process died: those that were recorded are to be written.
/// False: the database can't tell yet, it is being opened.
bool OldWriter::AddRecorded(WriteQueue::Batch* batch) {
  std::vector<Play> plays;
  for (const OldWrite& write : batch->unsettled) {
    plays.push_back({IdRef(write.user), IdRef(write.item), write.at_ms});
  }
  if (plays.empty()) return true;
  const auto recorded = SeenOf(*context_.engine, context_.collection, plays);
  if (recorded.status().code() == StatusCode::kNotFound)
    return true;  // no such collection any more
  if (!recorded.ok()) return false;
  for (const Play& play : *recorded) {
    batch->writes.push_back(
        {.at_ms = *play.at_ms, .user = play.user.text(), .item = play.item.text()});
  }
  return true;
}

std::string OldWriter::ScoreOf(int64_t at_ms) const {
  switch (context_.link->unit()) {
    case redis::ScoreUnit::kSeconds:
      return std::to_string(at_ms / 1'000);
    case redis::ScoreUnit::kMicros:
      return std::to_string(at_ms) + "000";
    default:
      return std::to_string(at_ms);
  }
}

/// A deletion that may come late leaves what is newer.
void OldWriter::AddDeletion(const std::string& key, int64_t at_ms,
                            redis::Pipeline* pipeline) const {
  if (at_ms == 0) return pipeline->Add({"DEL", key}, key);
  pipeline->Add({"ZREMRANGEBYSCORE", key, "-inf", ScoreOf(at_ms)}, key);
}

/// The commands that make of a user's key what the writes say, in their order.
void OldWriter::AddUser(const std::string& user, const std::vector<const OldWrite*>& writes,
                        redis::Pipeline* pipeline, std::vector<Command>* commands) const {
  const std::string key = context_.link->keys().KeyOf(user);
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
    if (write->kind == OldWrite::Kind::kDeleteKey) AddDeletion(key, write->at_ms, pipeline);
    if (write->kind == OldWrite::Kind::kDeleteItem) pipeline->Add({"ZREM", key, write->item}, key);
    commands->push_back({user});
  }
  add_members();
  if (context_.cap == 0 || !added) return;
  pipeline->Add({"ZREMRANGEBYRANK", key, "0", std::to_string(-context_.cap - 1)}, key);
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
      context_.counters->Add(MigrationCount::kWritten, command.plays);
      continue;
    }
    context_.counters->Add(MigrationCount::kNotWritten, command.plays);
    context_.affected->Add(command.user);
  }
  return true;
}

}  // namespace seendb::migration
