// Marks: what is asked is checked, and the user's shard reads or changes it.

#include <algorithm>

#include "base/facts.h"
#include "call_time.h"
#include "engine_impl.h"

namespace seendb {
namespace {

Status CheckMark(const Mark& mark, int64_t now_ms) {
  Status status = CheckGroup(mark.group);
  if (!status.ok()) return status.WithFieldPrefix("/group");
  if (mark.until_ms && (*mark.until_ms < kFirstTimeMs || *mark.until_ms > kLastTimeMs)) {
    return Status::InvalidArgument(
        std::to_string(*mark.until_ms) + " is no time of the years 1 to 9998, in ms since 1970",
        "/until");
  }
  status = CheckTime(mark.at_ms, now_ms);
  return status.ok() ? status : Status(status.code(), std::string(status.message()), "/at");
}

// A mark is of no collection: the one that syncs soonest says how it is written.
bool AnySyncs(const CollectionMap& collections) {
  return std::any_of(collections.begin(), collections.end(), [](const auto& one) {
    return one.second->policy.durability == Durability::kSync;
  });
}

}  // namespace

Result<RecordResult> EngineImpl::PutMarks(IdRef user, std::span<const Mark> marks) {
  Status valid = CheckWritable();
  if (valid.ok()) valid = CheckUser(user);
  if (valid.ok() && marks.size() > kMaxMarksAtOnce) {
    valid = Status::InvalidArgument("at most " + std::to_string(kMaxMarksAtOnce) + " marks");
  }
  const int64_t now_ms = clock_->NowMs();
  for (size_t i = 0; valid.ok() && i < marks.size(); ++i) {
    valid = CheckMark(marks[i], now_ms);
    if (!valid.ok()) return valid.WithFieldPrefix("/" + std::to_string(i));
  }
  if (!valid.ok()) return valid;
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  RecordResult result;
  if (marks.empty()) return result;
  const Status put =
      (*shard)->PutMarks(user.ToString(), marks, now_ms, AnySyncs(*catalog_.All()), &result);
  if (!put.ok()) return put;
  counters_->marks_accepted.fetch_add(result.accepted, std::memory_order_relaxed);
  counters_->marks_refused.fetch_add(result.refused, std::memory_order_relaxed);
  return result;
}

Result<bool> EngineImpl::DeleteMark(IdRef user, std::string_view group, CallTime at_ms) {
  Status valid = CheckWritable();
  if (valid.ok()) valid = CheckUser(user);
  if (valid.ok()) valid = CheckGroup(group).WithFieldPrefix("/group");
  const int64_t now_ms = clock_->NowMs();
  if (valid.ok()) valid = CheckTime(at_ms, now_ms);
  if (!valid.ok()) return valid;
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  bool deleted = false;
  const Status done =
      (*shard)->DeleteMark(user.ToString(), group, at_ms.ms.value_or(now_ms), &deleted);
  if (!done.ok()) return done;
  counters_->marks_deleted.fetch_add(deleted ? 1 : 0, std::memory_order_relaxed);
  return deleted;
}

Status EngineImpl::ReadMarks(const MarksRequest& request, MarksPage* page) {
  *page = {};
  Status valid = CheckOpen();
  if (valid.ok()) valid = CheckUser(request.user);
  if (valid.ok() && (request.limit < 1 || request.limit > kMaxMarksAtOnce)) {
    valid =
        Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxMarksAtOnce), "/limit");
  }
  if (!valid.ok()) return valid;
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(request.user);
  if (!shard.ok()) return shard.status();
  return (*shard)->ReadMarks(request, page);
}

}  // namespace seendb
