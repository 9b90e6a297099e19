// Plays, impressions, filters with `record`, and a log.

#include <algorithm>
#include <optional>

#include "model/run/perform.h"

namespace seendb::model {
namespace {

using rocksdb::IOStatus;

Performed OfResult(World& world, const Result<RecordResult>& result) {
  if (!result.ok()) return AnswerOf(world, result.status());
  Performed done;
  done.nothing_is_told = true;
  if (result->refused != 0) done.answer = Answer::kRefused;
  done.what = std::to_string(result->accepted) + " accepted";
  if (!result->refusals.empty()) done.what += "; " + result->refusals[0].status.ToString();
  return done;
}

Performed RecordPlay(World& world, const Action& action, std::optional<int64_t> at_ms) {
  const std::string item = world.Item(action.item),
                    collection = world.Collection(action.collection);
  const seendb::Play play{IdRef(world.User(action.user)), IdRef(item), at_ms};
  return OfResult(world, world.engine().RecordPlays({&play, 1}, {.collection = collection}));
}

}  // namespace

Performed PerformPlay(World& world, const Action& action) { return RecordPlay(world, action, {}); }

Performed PerformLatePlay(World& world, const Action& action) {
  return RecordPlay(world, action, World::FirstMs(action.bucket));
}

Performed PerformImpression(World& world, const Action& action) {
  const std::string item = world.Item(action.item),
                    collection = world.Collection(action.collection);
  const seendb::Impression served{IdRef(world.User(action.user)), IdRef(item), {}};
  return OfResult(world,
                  world.engine().RecordImpressions({&served, 1}, {.collection = collection}));
}

Performed PerformFilterAndRecord(World& world, const Action& action) {
  const std::string collection = world.Collection(action.collection);
  std::vector<std::string> names;
  for (int item = 0; item < world.scope().items; ++item) names.push_back(world.Item(item));
  const std::vector<IdRef> items(names.begin(), names.end());
  FilterRequest request;
  request.collection = collection;
  request.user = IdRef(world.User(action.user));
  request.items = items;
  request.record = true;
  FilterResponse answer;
  const Status status = world.engine().Filter(request, &answer);
  if (!status.ok()) return AnswerOf(world, status);
  Performed done;
  done.nothing_is_told = true;
  done.what = std::to_string(answer.unseen.size()) + " unseen";
  if (answer.unseen.empty())
    done.answer = Answer::kNothing;
  else if (!answer.recorded)
    done.answer = Answer::kNotRecorded;
  return done;
}

// One write of the shard's log fails.
Performed PerformFailWrite(World& world, const Action& action) {
  const int shard = ShardOf(world.scope(), action.user);
  world.disk().Fail(MemDisk::kAppend, World::LogOf(shard), IOStatus::IOError("broken"), 0, 1);
  const Performed done = RecordPlay(world, action, {});
  world.disk().Clear();
  return done;
}

// ---- A log ----

namespace {

constexpr char kTopic[] = "topic";

Result<IngestResult> IngestMessage(World& world, int64_t message) {
  const Scope& scope = world.scope();
  const std::string collection = world.Collection(0);
  const auto user = static_cast<int>(message % scope.users);
  const std::string item = world.Item(static_cast<int>(message / scope.users % scope.items));
  const SourceStep step{.topic = kTopic, .next_offset = message + 1};
  const seendb::Play play{IdRef(world.User(user)), IdRef(item), World::FirstMs(0)};
  const Origin origin{.source = 0, .offset = message};
  return world.engine().Ingest({.collection = collection,
                                .sources = {&step, 1},
                                .plays = {&play, 1},
                                .origins = {&origin, 1}});
}

}  // namespace

std::optional<int64_t> NextOffset(World& world) {
  for (const SourceInfo& source : world.engine().Sources()) {
    if (source.topic == kTopic) return source.next_offset;
  }
  return {};
}

Performed PerformIngest(World& world, const Action&) {
  const Result<IngestResult> result = IngestMessage(world, NextOffset(world).value_or(0));
  Performed done = AnswerOf(world, result.status());
  if (result.ok() && result->accepted + result->refused + result->repeated != 1) {
    world.trouble = "a message is counted wrongly";
  }
  return done;
}

Performed PerformIngestAgain(World& world, const Action&) {
  const Result<IngestResult> result = IngestMessage(world, NextOffset(world).value_or(1) - 1);
  Performed done = AnswerOf(world, result.status());
  if (!result.ok()) return done;
  done.nothing_is_told = true;
  if (result->repeated == 1) done.answer = Answer::kNothing;
  return done;
}

// The process dies at the write of the second shard; behind the call, where that has the message.
Performed PerformIngestTorn(World& world, const Action&) {
  world.disk().CrashAt(MemDisk::kAppend, World::LogOf(1), 0);
  static_cast<void>(IngestMessage(world, NextOffset(world).value_or(0)));
  world.Restart(false);
  return {};
}

// The process dies at a second write into the shard of the message's user. The
// call makes one, so it dies behind the call.
Performed PerformIngestKilled(World& world, const Action&) {
  const int64_t message = NextOffset(world).value_or(0);
  const auto user = static_cast<int>(message % world.scope().users);
  world.disk().CrashAt(MemDisk::kAppend, World::LogOf(ShardOf(world.scope(), user)), 1);
  static_cast<void>(IngestMessage(world, message));
  world.Restart(false);
  return {};
}

}  // namespace seendb::model
