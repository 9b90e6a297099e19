#include "shard/verdict.h"

#include <limits>

namespace seendb {
namespace {

// Whether an erasure, and not a clearing, is the newest that forgot the collection's filters.
bool ErasedLast(const UserRecord& record, std::string_view collection) {
  return record.erased_seq != 0 && record.erased_at_ms == record.ForgottenIn(collection).at_ms;
}

}  // namespace

Verdict Judge(const UserRecord* record, int64_t at_ms, std::string_view collection,
              const Policy& policy, bool history) {
  if (record == nullptr) return history ? Verdict::kBoth : Verdict::kFilter;
  if (at_ms <= record->ForgottenIn(collection).at_ms) return Verdict::kRefused;
  if (!history) return Verdict::kFilter;
  // A record that can't be read may hold a pause.
  if (record->damaged) return Verdict::kFilter;
  if (!record->PausedAt(at_ms)) return Verdict::kBoth;
  return policy.history.when_paused == WhenPaused::kFilterIgnores ? Verdict::kNothing
                                                                  : Verdict::kFilter;
}

RefusalReason ReasonOfRefusal(const UserRecord& record, std::string_view collection) {
  return ErasedLast(record, collection) ? RefusalReason::kErased : RefusalReason::kCleared;
}

Status RefusalOf(const UserRecord& record, std::string_view collection, int64_t at_ms) {
  return Status::InvalidArgument(
      "at " + TimeText(at_ms) + " is not after " +
          (ErasedLast(record, collection) ? "the user's erasure"
                                          : "the clearing of the user's filter") +
          " at " + TimeText(record.ForgottenIn(collection).at_ms),
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
