#include <algorithm>

#include "model/effects.h"
#include "model/steps.h"
#include "model/view.h"

namespace seendb::model {
namespace {

bool Answers(Step* step, Answer answer) {
  step->answer = answer;
  return true;
}

bool Exists(const Step& step) { return step.state.exists[step.action.collection] != 0; }

// Whether an event of that time is after what its user's erasure and clears of filters took.
// `start`: it is of the first millisecond of the bucket, else of now.
bool IsAfterForgotten(const Step& step, const Disk& disk, int bucket, bool start) {
  const Action& action = step.action;
  const Moment newest =
      std::max(disk.erased[action.user], disk.forgotten[action.collection][action.user]);
  return start ? !StartIsCovered(bucket, newest) : newest <= InBucket(bucket);
}

bool EntersHistory(const Step& step, const Disk& disk, int bucket, bool start) {
  const Action& action = step.action;
  if (action.collection != 0) return false;
  const uint8_t paused = disk.paused[action.user];
  if (start ? (paused >> bucket & 1) != 0 : (paused & kPausedNow) != 0) return false;
  const Moment newest = std::max(disk.cleared[action.collection][action.user],
                                 disk.deleted[action.user][action.item]);
  return start ? !StartIsCovered(bucket, newest) : newest <= InBucket(bucket);
}

// A play with a time after the deletion ends it, in the same write: earlier impressions count
// again.
void EndLift(const Step& step, Shard* shard, int bucket, bool start) {
  const Action& action = step.action;
  Moment& lifted = shard->disk.lifted[action.collection][action.user][action.item];
  if (start ? StartIsCovered(bucket, lifted) : lifted > InBucket(bucket)) return;
  lifted = 0;
  const Facts of_item = OfItem(action.collection, action.user, action.item);
  shard->disk.hidden &= ~of_item;
  shard->promise.hidden &= ~of_item;
}

bool PlayOf(Step* step, int bucket, bool start) {
  Shard& shard = step->OfUser();
  const Action& action = step->action;
  if (!Exists(*step)) return false;
  if (shard.absent) return Answers(step, Answer::kUnavailable);
  if (bucket < OldestKept(step->state.now)) {
    return Answers(step, step->state.in_doubt ? Answer::kUnavailable : Answer::kRefused);
  }
  if (CurrentSlot(step->scope, shard) < 0) return Answers(step, Answer::kBusy);
  if (shard.stopped) return Answers(step, Answer::kIOError);
  if (!IsAfterForgotten(*step, shard.disk, bucket, start)) {
    return Answers(step, Answer::kRefused);
  }
  if (!Write(step->scope, &shard)) return false;
  const Facts fact = Fact(action.collection, action.user, action.item, bucket);
  const bool enters = EntersHistory(*step, shard.disk, bucket, start);
  Record(step->scope, &shard, fact, enters);
  EndLift(*step, &shard, bucket, start);
  shard.promise.played |= fact;
  if (enters) shard.promise.entries |= fact;
  return true;
}

}  // namespace

bool Play(Step* step) { return PlayOf(step, step->state.now, false); }

bool LatePlay(Step* step) {
  if (step->action.bucket > step->state.now) return false;
  return PlayOf(step, step->action.bucket, true);
}

bool Impression(Step* step) {
  Shard& shard = step->OfUser();
  const Action& action = step->action;
  const int now = step->state.now;
  if (!Exists(*step)) return false;
  if (shard.absent) return Answers(step, Answer::kUnavailable);
  if (shard.stopped) return Answers(step, Answer::kIOError);
  if (!IsAfterForgotten(*step, shard.disk, now, false)) return Answers(step, Answer::kRefused);
  if (!Write(step->scope, &shard)) return false;
  Serve(&shard.disk.served, &shard.disk.hidden, action.collection, action.user, action.item, now);
  Serve(&shard.promise.served, &shard.promise.hidden, action.collection, action.user, action.item,
        now);
  return true;
}

// The time that is recorded is never before the user's newest impression, and later than what an
// erasure, a clear or a deletion took.
bool FilterAndRecord(Step* step) {
  Shard& shard = step->OfUser();
  const Action& action = step->action;
  if (!Exists(*step)) return false;
  if (shard.absent) return Answers(step, Answer::kUnavailable);
  const UserView view = ViewOf(step->scope, step->state, action.collection, action.user);
  const Facts of_user = OfUserIn(action.collection, action.user);
  int bucket = std::max<int>(step->state.now, NewestBucket(shard.disk.served & of_user));
  Moment newest = std::max(shard.disk.erased[action.user],
                           shard.disk.forgotten[action.collection][action.user]);
  bool any = false;
  for (int item = 0; item < step->scope.items; ++item) {
    newest = std::max(newest, shard.disk.lifted[action.collection][action.user][item]);
    any = any || !view.seen[item];
  }
  if (!any) return Answers(step, Answer::kNothing);
  if (shard.stopped) return Answers(step, Answer::kNotRecorded);
  if (!Write(step->scope, &shard)) return false;
  if (newest > 0) bucket = std::max(bucket, (newest - 1) / 2);
  for (int item = 0; item < step->scope.items; ++item) {
    if (view.seen[item]) continue;
    Serve(&shard.disk.served, &shard.disk.hidden, action.collection, action.user, item, bucket);
    Serve(&shard.promise.served, &shard.promise.hidden, action.collection, action.user, item,
          bucket);
  }
  return true;
}

// A write that failed leaves nothing; the shard takes no more writes.
bool FailWrite(Step* step) {
  Shard& shard = step->OfUser();
  if (!Exists(*step) || shard.absent || shard.stopped) return false;
  if (CurrentSlot(step->scope, shard) < 0) return false;
  if (!IsAfterForgotten(*step, shard.disk, step->state.now, false)) return false;
  shard.stopped = 1;
  return Answers(step, Answer::kIOError);
}

// ---- A log ----

namespace {

// Message number n is a play of one user and item, by turns, all of one time: when bucket 0 began.
int UserOf(const Scope& scope, int message) { return message % scope.users; }
int ItemOf(const Scope& scope, int message) { return message / scope.users % scope.items; }

// The lowest of the offsets that shards have stored; 0 where one knows none.
int LowestOffset(const Scope& scope, const State& state) {
  int lowest = INT8_MAX;
  for (int number = 0; number < scope.shards; ++number) {
    lowest = std::min<int>(lowest, state.shards[number].disk.offset);
  }
  return std::max(lowest - 1, 0);
}

// Applies a message to one shard. A shard leaves out what lies below its own offset. False: it
// leads out of the scope.
bool TakeMessage(const Step& step, int message, int number) {
  Shard& shard = step.state.shards[number];
  if (shard.disk.offset > message + 1) return true;
  if (!Write(step.scope, &shard)) return false;
  shard.disk.offset = static_cast<uint8_t>(message + 2);
  const int user = UserOf(step.scope, message), item = ItemOf(step.scope, message);
  if (ShardOf(step.scope, user) != number) return true;
  const Action play{Kind::kPlay, 0, static_cast<uint8_t>(user), static_cast<uint8_t>(item)};
  const Step of{step.scope, play, step.state};
  if (!IsAfterForgotten(of, shard.disk, 0, true)) return true;
  const Facts fact = Fact(0, user, item, 0);
  const bool enters = EntersHistory(of, shard.disk, 0, true);
  Record(step.scope, &shard, fact, enters);
  EndLift(of, &shard, 0, true);
  shard.promise.played |= fact;
  if (enters) shard.promise.entries |= fact;
  return true;
}

// Whether a batch may be written: a shard that is absent, failed or full refuses all of it.
bool TakesBatch(Step* step, int message) {
  const int owner = ShardOf(step->scope, UserOf(step->scope, message));
  for (int number = 0; number < step->scope.shards; ++number) {
    const Shard& shard = step->state.shards[number];
    if (shard.absent) return !Answers(step, Answer::kUnavailable);
    if (shard.stopped) return !Answers(step, Answer::kIOError);
    if (shard.recovering) return !Answers(step, Answer::kBusy);
    const bool takes = number == owner && shard.disk.offset <= message + 1;
    if (takes && CurrentSlot(step->scope, shard) < 0) return !Answers(step, Answer::kBusy);
  }
  return true;
}

}  // namespace

bool Ingest(Step* step) {
  const int message = LowestOffset(step->scope, step->state);
  if (!step->state.exists[0] || message >= step->scope.messages) return false;
  if (!TakesBatch(step, message)) return true;
  for (int number = 0; number < step->scope.shards; ++number) {
    if (!TakeMessage(*step, message, number)) return false;
  }
  return true;
}

// A message that every shard has stored comes again: it changes nothing.
bool IngestAgain(Step* step) {
  const int message = LowestOffset(step->scope, step->state) - 1;
  if (!step->state.exists[0] || message < 0) return false;
  if (!TakesBatch(step, message)) return true;
  return Answers(step, Answer::kNothing);
}

// The process dies behind the one write of a message into its user's shard: everything is stored.
bool IngestKilled(Step* step) {
  Step of{step->scope, step->action, step->state};
  if (!Ingest(&of) || of.answer != Answer::kOk) return false;
  Die(step->scope, &step->state, false);
  return true;
}

// The process dies between the writes of the first shard and of the second.
bool IngestTorn(Step* step) {
  const int message = LowestOffset(step->scope, step->state);
  if (step->scope.shards < 2 || !step->state.exists[0]) return false;
  if (message >= step->scope.messages || !TakesBatch(step, message)) return false;
  if (!TakeMessage(*step, message, 0)) return false;
  Die(step->scope, &step->state, false);
  return true;
}

}  // namespace seendb::model
