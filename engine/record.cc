// Recording plays and impressions: check everything, decide what is accepted, then for each shard
// journal, stage, acknowledge. The callers' own threads do all of it.

#include <algorithm>

#include "engine_impl.h"
#include "filter/hash.h"
#include "format/impressions_codec.h"
#include "store/status.h"

namespace seendb {
namespace {

// Larger batches are recorded in pieces of this size.
constexpr size_t kPiece = 65'536;

// Times an event may have, and the buckets they fall into.
class TimeCheck {
 public:
  TimeCheck(const Policy& policy, int64_t now_ms)
      : policy_(policy),
        now_ms_(now_ms),
        oldest_ms_(BucketBeginMs(
            policy, BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.retention) + 1)),
        newest_ms_(std::min(now_ms, kLastTimeMs) + policy.max_future_ms) {
    oldest_ms_ = std::max(oldest_ms_, kFirstTimeMs);
    newest_ms_ = std::min(newest_ms_, kLastTimeMs);
  }

  // The event's time, or the reason to refuse it.
  Result<int64_t> Check(int64_t at_ms) const {
    if (at_ms == kNowMs) at_ms = now_ms_;
    if (at_ms >= oldest_ms_ && at_ms <= newest_ms_) return at_ms;
    return at_ms < oldest_ms_
               ? Status::InvalidArgument("at " + std::to_string(at_ms) +
                                         " is older than retention, which begins at " +
                                         std::to_string(oldest_ms_))
               : Status::InvalidArgument("at " + std::to_string(at_ms) +
                                         " is beyond max_future, which ends at " +
                                         std::to_string(newest_ms_));
  }

  // Consecutive events mostly share a bucket.
  int64_t BucketOf(int64_t at_ms) {
    if (at_ms < begin_ms_ || at_ms >= end_ms_) {
      bucket_ = BucketIndexOf(policy_, at_ms);
      begin_ms_ = BucketBeginMs(policy_, bucket_);
      end_ms_ = BucketBeginMs(policy_, bucket_ + 1);
    }
    return bucket_;
  }

 private:
  const Policy& policy_;
  int64_t now_ms_, oldest_ms_, newest_ms_;
  int64_t bucket_ = 0, begin_ms_ = 0, end_ms_ = 0;
};

void Refuse(RecordResult* result, uint32_t index, Status status) {
  ++result->refused;
  if (result->refusals.size() < kMaxRefusals)
    result->refusals.push_back({index, std::move(status)});
}

template <typename Given>
Status CheckIds(std::span<const Given> given) {
  const IdRef* last_user = nullptr;
  for (size_t i = 0; i < given.size(); ++i) {
    if (last_user == nullptr || !(*last_user == given[i].user)) {
      const Status user = given[i].user.Validate();
      if (!user.ok()) {
        return Status(user.code(), std::string(user.message()), "/" + std::to_string(i) + "/user");
      }
      last_user = &given[i].user;
    }
    const Status item = given[i].item.Validate();
    if (!item.ok()) {
      return Status(item.code(), std::string(item.message()), "/" + std::to_string(i) + "/item");
    }
  }
  return {};
}

}  // namespace

// One well-formed event, its user as text.
struct EngineImpl::Event {
  uint32_t index = 0;
  StagedPlay play;
  int64_t at_ms = 0;
};

Result<RecordResult> EngineImpl::RecordPlays(std::span<const Play> plays,
                                             const RecordOptions& options) {
  Result<RecordResult> result = RecordAll(plays, options, false);
  if (result.ok()) {
    counters_.plays_accepted.fetch_add(result->accepted, std::memory_order_relaxed);
    counters_.plays_refused.fetch_add(result->refused, std::memory_order_relaxed);
  }
  return result;
}

Result<RecordResult> EngineImpl::RecordImpressions(std::span<const Impression> impressions,
                                                   const RecordOptions& options) {
  Result<RecordResult> result = RecordAll(impressions, options, true);
  if (result.ok()) {
    counters_.impressions_accepted.fetch_add(result->accepted, std::memory_order_relaxed);
    counters_.impressions_refused.fetch_add(result->refused, std::memory_order_relaxed);
  }
  return result;
}

template <typename Given>
Result<RecordResult> EngineImpl::RecordAll(std::span<const Given> given,
                                           const RecordOptions& options, bool impressions) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Result<Collection> collection = FindCollection(options.collection);
  if (!collection.ok()) return collection.status();
  const Status ids = CheckIds(given);
  if (!ids.ok()) return ids;
  RecordResult result;
  for (size_t begin = 0; begin < given.size(); begin += kPiece) {
    const Status recorded =
        RecordPiece(given.subspan(begin, std::min(kPiece, given.size() - begin)),
                    static_cast<uint32_t>(begin), *collection, impressions, &result);
    if (!recorded.ok()) return recorded;
  }
  std::sort(result.refusals.begin(), result.refusals.end(),
            [](const Refusal& a, const Refusal& b) { return a.index < b.index; });
  return result;
}

template <typename Given>
Status EngineImpl::RecordPiece(std::span<const Given> given, uint32_t first_index,
                               const Collection& collection, bool impressions,
                               RecordResult* result) {
  TimeCheck times(collection.policy, clock_->NowMs());
  EventsByShard by_shard(shards_.size());
  for (auto& events : by_shard) events.reserve(given.size() / shards_.size() + 16);
  std::string numbers;  // texts of integer users; reserved, so that views into it stay good
  size_t number_users = 0;
  for (const Given& one : given) number_users += one.user.is_number() ? 1 : 0;
  numbers.reserve(number_users * 20);

  const IdRef* last_user = nullptr;
  std::string_view user;
  uint32_t shard = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto index = first_index + static_cast<uint32_t>(i);
    const Result<int64_t> at = times.Check(given[i].at_ms);
    if (!at.ok()) {
      Refuse(result, index, at.status());
      continue;
    }
    if (last_user == nullptr || !(*last_user == given[i].user)) {
      last_user = &given[i].user;
      user = last_user->text();
      if (last_user->is_number()) {
        const size_t begin = numbers.size();
        last_user->AppendTo(&numbers);
        user = std::string_view(numbers).substr(begin);
      }
      shard = seendb::ShardOf(user, static_cast<uint32_t>(shards_.size()));
    }
    Event event;
    event.index = index;
    event.at_ms = *at;
    event.play = {user, times.BucketOf(*at), FingerprintOf(given[i].item)};
    by_shard[shard].push_back(event);
  }
  return WriteEvents(by_shard, collection, impressions, result);
}

Status EngineImpl::WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                               bool impressions, RecordResult* result) {
  const bool staged = !impressions || collection.policy.served_is_seen;
  std::vector<Gate::Scope> used;
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (by_shard[i].empty()) continue;
    used.emplace_back(*shards_[i].use);
    const Status writable = shards_[i].store->CheckWritable();
    if (!writable.ok()) return writable;
  }
  std::vector<std::pair<size_t, Gate::Scope>> inside;
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (by_shard[i].empty()) continue;
    inside.emplace_back(i, Gate::Scope(shards_[i].ring->gate()));
    if (staged && !shards_[i].ring->HasCurrent()) {
      counters_.busy.fetch_add(1, std::memory_order_relaxed);
      return Status::Busy("the ring of shard " + std::to_string(i) +
                          " is full: every slot waits to be drained");
    }
  }
  for (const auto& [i, scope] : inside) {
    const Status written =
        WriteShard(scope, shards_[i], by_shard[i], collection, impressions, result);
    if (!written.ok()) return written;
  }
  inside.clear();
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (!by_shard[i].empty() && shards_[i].ring->Full()) shards_[i].ring->RotateIfDue();
  }
  return {};
}

Status EngineImpl::WriteShard(const Gate::Scope& inside, Shard& shard,
                              const std::vector<Event>& events, const Collection& collection,
                              bool impressions, RecordResult* result) {
  const Policy& policy = collection.policy;
  const bool listed = impressions && policy.impressions > 0;
  thread_local std::vector<StagedPlay> plays;
  plays.clear();
  rocksdb::WriteBatch batch;
  ImpressionList list;
  std::string operand;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection.name);
  if (family == nullptr) return Status::Unavailable("the collection is being made");
  const uint64_t stamp = listed ? shard.ring->NextSequence() : 0;
  const auto flush_list = [&](std::string_view user) -> rocksdb::Status {
    if (list.entries.empty()) return {};
    list.Normalize(policy.impressions);
    list.Encode(&operand);
    list.entries.clear();
    return batch.Merge(family->impressions->get(), {user.data(), user.size()}, operand);
  };

  std::string_view user;
  UserRecord erased;
  uint64_t accepted = 0;
  rocksdb::Status status;
  for (const Event& event : events) {
    if (event.play.user != user) {
      status = flush_list(user);
      if (!status.ok()) return FromRocks(status, "impressions");
      user = event.play.user;
      erased = shard.ring->erasures().Find(user);
    }
    if (erased.erased_seq != 0 && event.at_ms <= erased.erased_at_ms) {
      Refuse(result, event.index,
             Status::InvalidArgument("at " + std::to_string(event.at_ms) +
                                     " is not after the user's erasure at " +
                                     std::to_string(erased.erased_at_ms)));
      continue;
    }
    ++accepted;
    if (listed) list.entries.push_back({event.at_ms, stamp, event.index, event.play.item});
    if (!impressions || policy.served_is_seen) plays.push_back(event.play);
  }
  status = flush_list(user);
  if (!status.ok()) return FromRocks(status, "impressions");
  result->accepted += accepted;
  const bool sync = policy.durability == Durability::kSync;
  if (!plays.empty()) {
    return shard.ring->Record(inside, collection.name, collection.id, plays, sync, &batch);
  }
  if (batch.Count() == 0) return {};
  rocksdb::WriteOptions options;
  options.sync = sync;
  options.ignore_missing_column_families = true;
  return FromRocks(shard.store->db()->Write(options, &batch), "impressions");
}

Status EngineImpl::EraseUser(IdRef user) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  Status valid = user.Validate();
  if (!valid.ok()) return Status(valid.code(), std::string(valid.message()), "/user");
  const Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const Status erased = shard.ring->Erase(user.ToString(), clock_->NowMs());
  if (erased.ok()) counters_.users_erased.fetch_add(1, std::memory_order_relaxed);
  return erased;
}

}  // namespace seendb
