#include "shard/verdict.h"

#include <limits>

namespace seendb {
namespace {

// Whether an erasure, and not a clearing, is the newest that forgot the collection's filters.
bool ErasedLast(const UserRecord& record, std::string_view collection) {
  return record.erased_seq != 0 && record.erased_at_ms == record.ForgottenIn(collection).at_ms;
}

}  // namespace

// A play that history would keep, and that a deletion made before would hide, is refused rather
// than accepted and nowhere to be seen.
Verdict Judge(const UserRecord* record, const JudgedEvent& event, const Policy& policy,
              bool history) {
  if (record == nullptr) return history ? Verdict::kBoth : Verdict::kFilter;
  if (event.at_ms <= record->ForgottenIn(event.collection).at_ms) return Verdict::kRefused;
  if (!history) return Verdict::kFilter;
  // A record that can't be read may hold a pause.
  if (record->damaged) return Verdict::kFilter;
  if (record->PausedAt(event.at_ms)) {
    return policy.history.when_paused == WhenPaused::kFilterIgnores ? Verdict::kNothing
                                                                    : Verdict::kFilter;
  }
  const bool deleted = record->DeletedAhead(event.collection, event.item, event.at_ms).has_value();
  return deleted ? Verdict::kRefused : Verdict::kBoth;
}

RefusalReason ReasonOfRefusal(const UserRecord& record, const JudgedEvent& event) {
  if (event.at_ms > record.ForgottenIn(event.collection).at_ms) return RefusalReason::kDeleted;
  return ErasedLast(record, event.collection) ? RefusalReason::kErased : RefusalReason::kCleared;
}

Status RefusalOf(const UserRecord& record, const JudgedEvent& event) {
  const std::string at = "at " + TimeText(event.at_ms);
  const RefusalReason reason = ReasonOfRefusal(record, event);
  if (reason == RefusalReason::kDeleted) {
    const auto until_ms = record.DeletedAhead(event.collection, event.item, event.at_ms);
    return Status::InvalidArgument(at +
                                       " is covered by the item's deletion from history, which "
                                       "reaches to " +
                                       TimeText(until_ms.value_or(event.at_ms)) +
                                       ": an earlier play lay ahead of the clock",
                                   "/at");
  }
  const bool erased = reason == RefusalReason::kErased;
  return Status::InvalidArgument(
      at + " is not after " +
          (erased ? "the user's erasure" : "the clearing of the user's filter") + " at " +
          TimeText(record.ForgottenIn(event.collection).at_ms),
      "/at");
}

Standing StandingOf(const UserRecord* record, std::string_view collection, uint64_t sequence) {
  if (record == nullptr) return {};
  return {sequence > record->erased_seq, sequence > record->ForgottenIn(collection).seq};
}

int64_t OldestDrained(const Policy& policy, const Present& now) {
  return now.in_doubt ? std::numeric_limits<int64_t>::min() : OldestBucket(policy, now.ms);
}

int64_t OldestDrainedHistory(const Policy& policy, const Present& now) {
  return now.in_doubt ? std::numeric_limits<int64_t>::min() : OldestHistoryBucket(policy, now.ms);
}

bool CountsInHistory(const UserRecord* record, std::string_view collection, int64_t at_ms) {
  return record == nullptr || at_ms > record->Watermark(collection);
}

}  // namespace seendb
