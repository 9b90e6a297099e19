#include "shard/history_reader.h"

#include <algorithm>
#include <utility>

#include "base/pause_point.h"

namespace seendb {

void ReadGaps::Add(std::string what) {
  degraded = true;
  if (std::find(missing.begin(), missing.end(), what) == missing.end()) {
    missing.push_back(std::move(what));
  }
}

HistoryState FoundState::state() const {
  HistoryState state = StateOf(at_ms, words);
  state.deleted_ms = deleted_ms;
  return state;
}

void FoundState::Set(const HistoryState& state) {
  at_ms = state.at_ms;
  deleted_ms = state.deleted_ms;
  std::string fresh;  // the state borrows of the former
  PutWords(&fresh, state);
  words = std::move(fresh);
}

void FoundState::Join(const HistoryState& other, Sought sought) {
  if (sought == Sought::kNewest) {
    deleted_ms = std::max(deleted_ms, other.deleted_ms);
    at_ms = std::max(at_ms, other.at_ms);
    if (at_ms <= deleted_ms) at_ms = kNoTimeMs;
    return;
  }
  HistoryState joined = state();
  joined.Join(other);
  Set(joined);
}

HistoryReader::HistoryReader(const ShardParts& shard, const Collection& collection,
                             std::string_view user, int64_t now_ms, ReadGaps* gaps,
                             const LoadedRecords* known)
    : shard_(shard),
      collection_(collection),
      user_(user),
      gaps_(gaps),
      oldest_bucket_(OldestHistoryBucket(collection.policy, now_ms)),
      oldest_ms_(BucketBeginMs(collection.policy, oldest_bucket_)),
      drains_begun_(shard.ring.DrainsBegun()),
      staged_(shard.ring.HistoryOf(collection.id, user)),
      changes_(staged_.Changes()) {
  FindWatermark(known);
  SEENDB_PAUSE_POINT("history: ring read");
  families_ = shard.store->families();
  family_ = families_->Find(collection.name);
  if (!shard.store->readable()) {
    family_ = nullptr;
    gaps_->Add("shard");
  }
  if (family_ != nullptr) CheckLosses();
}

// Where it can't be read, nothing is shown: all may have been erased.
void HistoryReader::FindWatermark(const LoadedRecords* known) {
  UserRecordPtr read;
  const UserRecord* settings = nullptr;
  if (known != nullptr) {
    settings = known->Find(user_);
  } else {
    const Status found = shard_.users.Find(user_, RecordTier::kDisk, &read);
    settings = read.get();
    if (!found.ok() && shard_.store->readable()) {
      gaps_->Add("user");
      up_to_ms_ = INT64_MAX;
      return;
    }
  }
  if (settings != nullptr) up_to_ms_ = settings->Watermark(collection_.name);
}

// What was lost may be this user's, and of buckets that are still read.
void HistoryReader::CheckLosses() {
  const DataLossSet& losses = family_->losses;
  if (losses.CoversLog(user_, collection_.policy, oldest_bucket_)) {
    gaps_->Add(collection_.name + "/log");
  }
  for (const auto& [index, bucket] : family_->history) {
    if (index < oldest_bucket_) break;
    if (losses.CoversHistory(user_, bucket->label)) MarkMissing(bucket->label);
  }
}

void HistoryReader::MarkMissing(std::string_view bucket) {
  gaps_->Add(std::string(collection_.name).append("/").append(bucket));
}

std::vector<FoundState> HistoryReader::Find(std::span<const std::string_view> items,
                                            Sought sought) {
  std::vector<FoundState> found(items.size());
  if (collection_.policy.history.ids_only) sought = Sought::kNewest;
  staged_.ForItems(items,
                   [&](size_t i, const HistoryState& state) { found[i].Join(state, sought); });
  if (family_ != nullptr) ReadBuckets(items, sought, &found);
  if (sought == Sought::kWhole) HideWords(&found);
  return found;
}

void HistoryReader::ReadBuckets(std::span<const std::string_view> items, Sought sought,
                                std::vector<FoundState>* found) {
  const bool whole = sought == Sought::kWhole;
  std::vector<size_t> pending(items.size());
  for (size_t i = 0; i < items.size(); ++i) pending[i] = i;
  for (const auto& [index, bucket] : family_->history) {
    if (index < oldest_bucket_) break;
    const int64_t last_ms = bucket->end_ms - 1;
    // What this bucket and older ones may have is known, covered, or not shown.
    std::erase_if(pending, [&](size_t i) {
      const FoundState& known = (*found)[i];
      if (!whole || known.at_ms == kNoTimeMs) return known.time_ms() > last_ms;
      return known.deleted_ms >= last_ms || up_to_ms_ >= last_ms ||
             known.state().SaysAllAfter(last_ms);
    });
    if (pending.empty()) break;
    ReadBucket(*bucket, items, sought, &pending, found);
  }
}

// What was said before the history that is kept, or was cleared since, is not said any more.
void HistoryReader::HideWords(std::vector<FoundState>* found) const {
  const int64_t up_to_ms = std::max(up_to_ms_, oldest_ms_ - 1);
  for (FoundState& one : *found) {
    if (one.at_ms == kNoTimeMs) continue;
    HistoryState state = one.state();
    state.EndWordsUpTo(up_to_ms);
    one.Set(state);
  }
}

void HistoryReader::ReadBucket(const HistoryBucket& bucket, std::span<const std::string_view> items,
                               Sought sought, std::vector<size_t>* pending,
                               std::vector<FoundState>* found) {
  const size_t count = pending->size();
  std::vector<std::string> keys(count);
  std::vector<rocksdb::Slice> slices(count);
  std::vector<rocksdb::PinnableSlice> values(count);
  std::vector<rocksdb::Status> statuses(count);
  for (size_t i = 0; i < count; ++i) {
    keys[i] = HistoryKey(user_, items[(*pending)[i]]);
    slices[i] = keys[i];
  }
  shard_.store->db()->MultiGet({}, bucket.states->get(), count, slices.data(), values.data(),
                               statuses.data());
  std::vector<size_t> left;
  for (size_t i = 0; i < count; ++i) {
    const size_t item = (*pending)[i];
    if (statuses[i].IsNotFound()) {
      left.push_back(item);
      continue;
    }
    HistoryValue value;
    const bool readable = statuses[i].ok() && value.Parse(values[i].ToStringView());
    const bool whole = readable && !value.damaged && value.newer.empty();
    if (!whole && sought == Sought::kWhole) {  // it may have a deletion that ends older words
      HistoryState newer = (*found)[item].state();
      newer.EndWordsUpTo(bucket.begin_ms - 1);
      (*found)[item].Set(newer);
    }
    if (readable) (*found)[item].Join(value.state, sought);
    if (whole) {
      left.push_back(item);
      continue;
    }
    (*found)[item].unread_to_ms = bucket.end_ms - 1;
    MarkMissing(bucket.label);
  }
  *pending = std::move(left);
}

int64_t HistoryReader::NewestMs(int64_t reach_ms) {
  int64_t newest_ms = staged_.NewestMs();
  if (family_ == nullptr) return newest_ms;
  const std::string prefix = HistoryPrefix(user_);
  for (const auto& [index, bucket] : family_->history) {
    if (bucket->end_ms <= newest_ms) break;
    const std::unique_ptr<rocksdb::Iterator> it(
        shard_.store->db()->NewIterator({}, bucket->timeline->get()));
    it->Seek(prefix);
    std::string_view user, item;
    int64_t at_ms = 0;
    if (!it->status().ok()) return std::max(newest_ms, std::min(bucket->end_ms - 1, reach_ms));
    if (it->Valid() && ParseTimelineKey(it->key().ToStringView(), &user, &at_ms, &item) &&
        user == user_) {
      return std::max(newest_ms, at_ms);
    }
  }
  return newest_ms;
}

// ---- The walk ----

HistoryWalk::HistoryWalk(HistoryReader* reader, TimelinePlace from, size_t ahead, Sought sought)
    : reader_(reader),
      place_(std::move(from)),
      ahead_(ahead),
      sought_(sought),
      end_(HistoryPrefixEnd(reader->user())),
      end_slice_(end_) {
  if (reader->family() == nullptr) return;
  bucket_ = reader->family()->history.begin();
  ReadTimeline();
}

// Opens the next bucket that may have rows behind the place, at its first.
bool HistoryWalk::OpenBucket() {
  const auto& buckets = reader_->family()->history;
  while (bucket_ != buckets.end() && bucket_->second->begin_ms > place_.at_ms) ++bucket_;
  if (bucket_ == buckets.end() || !reader_->Reaches(bucket_->second->end_ms - 1)) return false;
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end_slice_;
  it_.reset(reader_->store().db()->NewIterator(options, bucket_->second->timeline->get()));
  const int64_t from_ms = std::min(place_.at_ms, bucket_->second->end_ms - 1);
  it_->Seek(
      TimelineKey(reader_->user(), from_ms,
                  from_ms == place_.at_ms ? std::string_view(place_.item) : std::string_view()));
  return true;
}

// Sets timeline_ to the next row behind the place, going on to older buckets.
void HistoryWalk::ReadTimeline() {
  timeline_.reset();
  while (it_ != nullptr || OpenBucket()) {
    for (; it_->Valid(); it_->Next()) {
      std::string_view user, item;
      int64_t at_ms = 0;
      if (!ParseTimelineKey(it_->key().ToStringView(), &user, &at_ms, &item)) {
        reader_->MarkMissing(bucket_->second->label);
        continue;
      }
      if (!reader_->Reaches(at_ms)) break;
      if (!place_.IsBefore(at_ms, item)) continue;
      timeline_ = Row{at_ms, std::string(item)};
      return;
    }
    if (!it_->status().ok()) reader_->MarkMissing(bucket_->second->label);
    it_.reset();
    ++bucket_;
  }
}

// The next staged row behind the place. Those that can't be shown end it: all behind are older.
std::optional<HistoryWalk::Row> HistoryWalk::StagedRow() {
  while (true) {
    for (; staged_at_ < staged_.size(); ++staged_at_) {
      const Row& row = staged_[staged_at_];
      if (!place_.IsBefore(row.at_ms, row.item)) continue;
      if (reader_->Reaches(row.at_ms)) return row;
      staged_more_ = false;
      staged_.clear();
      staged_at_ = 0;
      return {};
    }
    if (!staged_more_) return {};
    staged_ = reader_->staged().Behind(place_.at_ms, place_.item, ahead_);
    staged_at_ = 0;
    staged_more_ = staged_.size() >= ahead_;
  }
}

// The next row of either; one that is in both comes once.
std::optional<HistoryWalk::Row> HistoryWalk::NextRow() {
  std::optional<Row> row = StagedRow();
  const bool from_timeline =
      timeline_ &&
      (!row || TimelinePlace{timeline_->at_ms, timeline_->item}.IsBefore(row->at_ms, row->item));
  if (from_timeline) row = timeline_;
  if (!row) return {};
  place_ = {row->at_ms, row->item};
  if (timeline_ && !place_.IsBefore(timeline_->at_ms, timeline_->item)) ReadTimeline();
  return row;
}

// Looks up the next rows and keeps those that are their item's state.
bool HistoryWalk::Fill() {
  std::vector<Row> rows;
  std::vector<std::string_view> items;
  while (rows.size() < ahead_) {
    std::optional<Row> row = NextRow();
    if (!row) break;
    rows.push_back(*std::move(row));
  }
  items.reserve(rows.size());
  for (const Row& row : rows) items.push_back(row.item);
  std::vector<FoundState> found = reader_->Find(items, sought_);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (found[i].at_ms != rows[i].at_ms || !reader_->Shows(found[i])) continue;
    ready_.push_back({std::move(rows[i].item), std::move(found[i])});
  }
  return !rows.empty();
}

const WalkedEntry* HistoryWalk::Peek() {
  while (ready_.empty()) {
    if (!Fill()) return nullptr;
  }
  return &ready_.front();
}

}  // namespace seendb
