// What a shard remembers of what is gone for its age, and of the clock that said so.

#include <algorithm>
#include <utility>

#include "base/return_if_failed.h"
#include "store/shard_opening.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {

Status ShardFamilies::NoteFiltersGone(std::string_view collection, int64_t bucket) {
  const auto known = [&](const CollectionFamilies* of) {
    return of == nullptr || (of->dropped && *of->dropped >= bucket);
  };
  if (known(database_.families()->Find(collection))) return {};
  AssertMayBlock();
  RETURN_IF_FAILED(database_.CheckWritable());
  const MutexLock change(change_mutex_);
  auto set = std::make_shared<FamilySet>(*database_.families());
  if (known(set->Find(collection))) return {};
  CollectionFamilies& of = set->collections.find(collection)->second;
  const Status noted =
      database_.PutMeta(DroppedKey(collection), DroppedValue(BucketLabel(of.policy, bucket)));
  if (!noted.ok()) return noted;
  of.dropped = bucket;
  database_.Publish(std::move(set));
  return {};
}

Status ShardFamilies::NoteHistoryGone(std::string_view collection, int64_t up_to_ms) {
  const auto known = [&](const CollectionFamilies* of) {
    return of == nullptr || of->history_gone_up_to_ms >= up_to_ms;
  };
  if (known(database_.families()->Find(collection))) return {};
  AssertMayBlock();
  RETURN_IF_FAILED(database_.CheckWritable());
  const MutexLock change(change_mutex_);
  auto set = std::make_shared<FamilySet>(*database_.families());
  if (known(set->Find(collection))) return {};
  CollectionFamilies& of = set->collections.find(collection)->second;
  if (of.history_incomplete_up_to_ms < up_to_ms) {
    RETURN_IF_FAILED(database_.PutMeta(UnwatchedKey(collection), std::to_string(up_to_ms)));
    of.history_incomplete_up_to_ms = up_to_ms;
  }
  of.history_gone_up_to_ms = up_to_ms;
  database_.Publish(std::move(set));
  return {};
}

// A marker that can't be read may name any bucket that is past.
Status ShardOpening::LoadDropped(CollectionFamilies* families) {
  const std::string key = DroppedKey(families->name);
  std::string text;
  const rocksdb::Status status = database_.db_->Get({}, database_.meta(), key, &text);
  if (status.IsNotFound()) return {};
  if (!status.ok()) return FromRocks(status, "read which buckets were dropped");
  const Result<int64_t> index =
      BucketIndexOfLabel(families->policy, ParseDropped(text).value_or(""));
  families->dropped = index.ok() ? *index : BucketIndexOf(families->policy, options_.now_ms);
  if (!index.ok()) database_.problems().Add(key + " is damaged");
  return {};
}

// Precondition: the epoch is that of the opening before.
Status ShardOpening::LoadClockNote() {
  std::string text;
  const rocksdb::Status status = database_.db_->Get({}, database_.meta(), kClockKey, &text);
  if (!status.ok() && !status.IsNotFound()) return FromRocks(status, "read the time noted");
  const std::optional<ClockNote> note = ClockNote::FromJson(text);
  if (note && note->noted_ms) {
    store_.noted_ms_ = std::max<int64_t>(store_.noted_ms_, *note->noted_ms);
  }
  return note && note->epoch == store_.epoch_ ? Status() : DistrustEarlierDrops();
}

// The last opening was one of software that noted neither the time nor its drops: history may have
// been dropped, and the oldest bucket made anew since.
Status ShardOpening::DistrustEarlierDrops() {
  const MutexLock change(tables_.change_mutex());
  auto set = std::make_shared<FamilySet>(*database_.families());
  for (auto& [name, of] : set->collections) {
    if (of.history.empty() && !of.policy.history.enabled) continue;
    const int64_t oldest =
        of.history.empty() ? BucketIndexOf(of.policy, options_.now_ms) : of.history.rbegin()->first;
    const int64_t up_to_ms = BucketBeginMs(of.policy, oldest);
    if (of.history_incomplete_up_to_ms >= up_to_ms) continue;
    of.history_incomplete_up_to_ms = up_to_ms;
    if (options_.read_only) continue;
    RETURN_IF_FAILED(database_.PutMeta(UnwatchedKey(name), std::to_string(up_to_ms)));
  }
  database_.Publish(std::move(set));
  return {};
}

Status ShardStore::NoteClock(int64_t now_ms) {
  const Status writable = CheckWritable();
  if (!writable.ok() || database_.options().read_only) return writable;
  if (now_ms <= noted_ms_) return {};
  const ClockNote note{epoch_, now_ms};
  const rocksdb::Status written = db()->Put({}, meta(), kClockKey, note.ToJson());
  if (!written.ok()) return FromRocks(written, "note the time");
  noted_ms_ = now_ms;
  return {};
}

std::optional<int64_t> ShardStore::noted_ms() const {
  const int64_t noted_ms = noted_ms_;
  return noted_ms == kNeverNoted ? std::nullopt : std::optional<int64_t>(noted_ms);
}

}  // namespace seendb
