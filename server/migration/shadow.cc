#include "migration/shadow.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace seendb::migration {
namespace {

constexpr std::chrono::milliseconds kShadowTimeout{2'000};

/// What the engine calls seen of the items, by plays alone; nothing where it can't tell.
std::optional<std::vector<bool>> SeenHere(Engine& engine, std::string_view collection,
                                          std::string_view user, const std::vector<IdRef>& items) {
  FilterRequest request;
  request.collection = collection;
  request.user = IdRef(user);
  request.items = items;
  request.facts = kFactPlays;
  FilterResponse response;
  if (!engine.Filter(request, &response).ok() || response.degraded) return {};
  std::vector<bool> seen(items.size(), true);
  for (const uint32_t position : response.unseen) seen[position] = false;
  return seen;
}

}  // namespace

Shadow::Shadow(OldLink* link, Engine* engine, std::string collection, Counters* counters,
               double share)
    : link_(*link),
      engine_(*engine),
      collection_(std::move(collection)),
      counters_(*counters),
      share_(share) {
  worker_.Start("shadow", [this] { Work(); });
}

bool Shadow::IsDue() {
  if (share_ == 0 || paused_) return false;
  const auto turn = static_cast<double>(offered_.fetch_add(1, std::memory_order_relaxed));
  return std::floor((turn + 1) * share_) > std::floor(turn * share_);
}

void Shadow::Offer(const FilterRequest& request, const FilterResponse& response) {
  Comparison comparison;
  comparison.user = request.user.ToString();
  std::unordered_set<std::string> passed;  // excluded, or compared already
  for (const IdRef& item : request.exclude) passed.insert(item.ToString());
  auto unseen = response.unseen.begin();
  for (uint32_t i = 0; i < response.examined; ++i) {
    const bool is_unseen = unseen != response.unseen.end() && *unseen == i;
    if (is_unseen) ++unseen;
    std::string item = request.items[i].ToString();
    if (!passed.insert(item).second) continue;
    comparison.items.push_back(std::move(item));
    comparison.seen.push_back(!is_unseen);
  }
  if (comparison.items.empty()) return;
  {
    const MutexLock lock(mutex_);
    if (queue_.size() >= kWaitingMost) return counters_.Add(MigrationCount::kShadowSkipped);
    queue_.push_back(std::move(comparison));
  }
  worker_.Wake();
}

void Shadow::Samples(std::vector<ops::MigrationSample>* missing,
                     std::vector<ops::MigrationSample>* extra) const {
  const MutexLock lock(mutex_);
  *missing = missing_;
  *extra = extra_;
}

void Shadow::Work() {
  OldClient client(link_, kShadowTimeout);
  while (worker_.Wait()) {
    while (const std::optional<Comparison> next = Next()) Compare(client, *next);
  }
}

/// The oldest that waits; nothing once it is to end, too.
std::optional<Shadow::Comparison> Shadow::Next() {
  const MutexLock lock(mutex_);
  if (queue_.empty() || worker_.stopping()) return {};
  Comparison next = std::move(queue_.front());
  queue_.pop_front();
  return next;
}

Result<std::vector<std::optional<int64_t>>> Shadow::AskOld(
    OldClient& client, const std::string& user, const std::vector<std::string>& items) const {
  const std::string key = link_.keys().KeyOf(user);
  std::vector<std::string_view> words = {"ZMSCORE", key};
  words.insert(words.end(), items.begin(), items.end());
  redis::Pipeline pipeline;
  pipeline.Add(words, key);
  const auto replies = client.Run(pipeline);
  if (!replies.ok()) return replies.status();
  const auto scores = replies->front().elements();
  if (scores.size() != items.size()) return Status::Unavailable("Redis: no scores");
  std::vector<std::optional<int64_t>> times;
  for (const redisReply* const score : scores) {
    const auto number = redis::ParseScore(redis::Reply::TextOf(*score));
    // A score that is no time lies in no window.
    times.push_back(score->type == REDIS_REPLY_NIL ? std::optional<int64_t>()
                    : number ? redis::ScoreToMs(*number, link_.unit()).value_or(0)
                             : 0);
  }
  return times;
}

bool Shadow::IsInWindow(int64_t at_ms) const {
  for (const CollectionInfo& info : engine_.Collections()) {
    if (info.name != collection_) continue;
    const int64_t now_ms = engine_.NowMs();
    const int64_t first = BucketIndexOf(info.policy, now_ms) - info.policy.window + 1;
    return at_ms >= BucketBeginMs(info.policy, first) &&
           at_ms <= now_ms + info.policy.max_future_ms;
  }
  return false;
}

void Shadow::Compare(OldClient& client, const Comparison& comparison) {
  const auto times = AskOld(client, comparison.user, comparison.items);
  if (!times.ok()) return counters_.Add(MigrationCount::kShadowSkipped);
  counters_.Add(MigrationCount::kShadowChecked, comparison.items.size());
  std::vector<Difference> found;
  for (size_t i = 0; i < comparison.items.size(); ++i) {
    const std::optional<int64_t>& at_ms = (*times)[i];
    if (at_ms.has_value() == comparison.seen[i]) continue;
    if (at_ms && !IsInWindow(*at_ms)) continue;
    found.push_back({comparison.items[i], comparison.seen[i], at_ms.value_or(0)});
  }
  if (!found.empty()) Confirm(client, comparison.user, std::move(found));
}

/// Asks both again.
void Shadow::Confirm(OldClient& client, const std::string& user, std::vector<Difference> found) {
  std::vector<std::string> items;
  std::vector<IdRef> ids;
  items.reserve(found.size());
  ids.reserve(found.size());
  for (const Difference& one : found) items.push_back(one.item);
  for (const std::string& item : items) ids.emplace_back(item);
  const auto times = AskOld(client, user, items);
  if (!times.ok()) return counters_.Add(MigrationCount::kShadowSkipped);
  const auto seen = SeenHere(engine_, collection_, user, ids);
  if (!seen) return counters_.Add(MigrationCount::kShadowSkipped);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].seen == (*seen)[i] && (*times)[i].has_value() != found[i].seen) {
      Count(user, found[i]);
    }
  }
}

void Shadow::Count(const std::string& user, const Difference& difference) {
  counters_.Add(difference.seen ? MigrationCount::kShadowExtra : MigrationCount::kShadowMissing);
  const MutexLock lock(mutex_);
  auto& samples = difference.seen ? extra_ : missing_;
  if (samples.size() < kSamplesMost) samples.push_back({user, difference.item, difference.at_ms});
}

}  // namespace seendb::migration
