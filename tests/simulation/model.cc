#include "simulation/model.h"

#include <algorithm>

#include "simulation/calendar.h"

namespace seendb::simulation {

void Model::SetTime(int64_t at_ms) {
  for (const auto& [collection, policy] : policies_) {
    clock_.Expire(collection, policy, now_ms, call_);  // until now
  }
  now_ms = at_ms;
  newest_now_ms = std::max(newest_now_ms, at_ms);
  for (const auto& [collection, policy] : policies_) {
    clock_.Expire(collection, policy, now_ms, call_);
    history_.Age(collection, policy);
  }
}

void Model::SetPolicy(const std::string& collection, const Policy& policy) {
  const auto before = policies_.find(collection);
  if (before != policies_.end()) history_.Change(collection, before->second, policy);
  if (before != policies_.end()) clock_.Expire(collection, before->second, now_ms, call_);
  policies_[collection] = policy;
  clock_.Expire(collection, policy, now_ms, call_);
  history_.Age(collection, policy);
  const uint64_t ceiling = EffectiveMaxFilterBytes(policy);
  const auto [at, fresh] = ceilings_.try_emplace(collection, ceiling);
  at->second = std::min(at->second, ceiling);
  for (auto& [user, facts] : facts_[collection]) PushOut(policy, &facts);
}

// What may have been recorded stays possible.
void Model::BeginAnew(const std::string& collection, const Policy& policy) {
  std::erase_if(forgotten_, [&](const auto& one) { return one.first.first == collection; });
  history_.BeginAnew(collection);
  days_.BeginAnew(collection);
  for (auto& [user, facts] : facts_[collection]) facts.counted.clear();
  SetPolicy(collection, policy);
}

bool Model::HoldsAny(const std::string& collection) const {
  const std::vector<std::string> users = UsersOf(collection);
  return std::any_of(users.begin(), users.end(), [&](const std::string& user) {
    Expected expected = Expect(collection, user);
    ExpectExposed(collection, user, INT64_MIN, {}, &expected);
    return !expected.played_sure.empty() || !expected.served_sure.empty() ||
           !expected.exposed_sure.empty() || CountsAny(collection, user);
  });
}

Model::Facts* Model::Find(const std::string& collection, const std::string& user) {
  const auto users = facts_.find(collection);
  if (users == facts_.end()) return nullptr;
  const auto facts = users->second.find(user);
  return facts == users->second.end() ? nullptr : &facts->second;
}

const Model::Facts* Model::Find(const std::string& collection, const std::string& user) const {
  return const_cast<Model*>(this)->Find(collection, user);
}

int64_t Model::OldestRead(const std::string& collection) const {
  const Policy& policy = PolicyOf(collection);
  return BucketAt(policy, now_ms) - policy.window + 1;
}

Truth Model::MayTake(const std::string& collection, const Sent& sent, At at) const {
  const Policy& policy = PolicyOf(collection);
  const Truth counts = IsAfterForgotten(collection, sent);
  if (counts == Truth::kNo || at == At::kThisMoment) return counts;
  if (BucketAt(policy, sent.at_ms) <= BucketAt(policy, now_ms) - int64_t{policy.retention} ||
      sent.at_ms > now_ms + policy.max_future_ms) {
    return Truth::kNo;
  }
  return counts;
}

bool Model::Takes(const std::string& collection, const Sent& sent, At at) const {
  const Truth taken = MayTake(collection, sent, at);
  return taken == Truth::kMaybe ? sent.taken.value_or(true) : taken == Truth::kYes;
}

// The engine forgets an erasure once no retention reaches back to it. A retention that is made
// longer afterwards may reach back, and nobody can tell whether the erasure is still known.
Truth Model::IsAfterForgotten(const std::string& collection, const Sent& sent) const {
  const std::optional<int64_t> cleared = ForgottenAt(collection, sent.user);
  if (cleared && sent.at_ms <= *cleared) return Truth::kNo;
  const std::optional<int64_t> erased = ErasedAt(sent.user);
  if (!erased || sent.at_ms > *erased) return Truth::kYes;
  return MayBeWithoutErasure(sent.user) ? Truth::kMaybe : Truth::kNo;
}

OpenCall& Model::CallOf(uint32_t shard, bool acknowledged) {
  std::vector<OpenCall>& calls = open_calls_[shard];
  if (calls.empty() || calls.back().number != call_) {
    calls.push_back({call_, acknowledged, {}, {}});
  }
  return calls.back();
}

void Model::AddPlay(const std::string& collection, const Sent& sent, bool acknowledged) {
  const int64_t bucket = BucketAt(PolicyOf(collection), sent.at_ms);
  history_.EndLift(collection, sent.user, sent.item, sent.at_ms, acknowledged, call_);
  uint64_t& since = facts_[collection][sent.user].plays[sent.item][bucket];
  // What may have been dropped is known again.
  if (since != 0 && since <= clock_.DroppedUpTo(collection, bucket)) since = 0;
  if (since == 0) {
    // An earlier call holds for the item anyway where there is one.
    CallOf(sent.user, acknowledged).plays.push_back({collection, sent.user, sent.item, bucket});
    if (acknowledged) since = call_;
  }
}

void Model::Play(const std::string& collection, const std::vector<Sent>& sent, bool acknowledged) {
  ++call_;
  days_.Play(collection, sent, acknowledged, call_);
  for (const Sent& one : sent) {
    if (!Takes(collection, one)) continue;
    const HistoryModel::Verdict verdict = history_.Judge(collection, one.user, one.at_ms);
    if (verdict == HistoryModel::Verdict::kNothing) continue;
    sent_[one.user].insert(one.item);
    CallOf(one.user, acknowledged);
    const bool enters = verdict == HistoryModel::Verdict::kBoth;
    const std::set<int64_t> times =
        enters ? history_.TimesOf(collection, one.user, one.item, one.at_ms)
               : std::set<int64_t>{one.at_ms};
    const bool sure = acknowledged && times.size() == 1;
    for (const int64_t at_ms : times) {
      Sent recorded = one;
      recorded.at_ms = at_ms;
      times.size() == 1 ? AddPlay(collection, recorded, acknowledged)
                        : AddPossiblePlay(collection, recorded);
      if (!enters) continue;
      history_.Add(collection, one.user, one.item,
                   {at_ms, false, one.watch, sure, sure ? call_ : 0});
    }
  }
}

// One of several that it may be: no call can be told by it.
void Model::AddPossiblePlay(const std::string& collection, const Sent& sent) {
  const int64_t bucket = BucketAt(PolicyOf(collection), sent.at_ms);
  history_.EndLift(collection, sent.user, sent.item, sent.at_ms, false, call_);
  facts_[collection][sent.user].plays[sent.item].try_emplace(bucket, 0);
}

void Model::Serve(const std::string& collection, const std::vector<Sent>& sent, bool acknowledged,
                  At at) {
  ++call_;
  const Policy& policy = PolicyOf(collection);
  std::set<std::string> touched;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (!Takes(collection, sent[i], at)) continue;
    sent_[sent[i].user].insert(sent[i].item);
    CallOf(sent[i].user, acknowledged);
    if (policy.served_is_seen) AddPlay(collection, sent[i], acknowledged);
    if (policy.impressions == 0) continue;
    Facts& facts = facts_[collection][sent[i].user];
    facts.served.push_back({sent[i].at_ms, call_, i, sent[i].item, acknowledged, acknowledged});
    touched.insert(sent[i].user);
  }
  for (const std::string& user : touched) {
    Facts& facts = facts_[collection][user];
    // What is older than the window counts for nothing any more, not even for a rank.
    const int64_t oldest_ms = FirstMsOf(policy, OldestRead(collection));
    if (!may_be_set_back) {
      std::erase_if(facts.served, [&](const Served& one) { return one.at_ms < oldest_ms; });
    }
    std::sort(facts.served.begin(), facts.served.end(),
              [](const Served& a, const Served& b) { return a.Order() > b.Order(); });
    PushOut(policy, &facts);
  }
}

void Model::Ingest(const std::string& collection, bool served, const std::vector<Sent>& sent,
                   const std::vector<std::vector<SourceMove>>& moves, bool acknowledged) {
  served ? Serve(collection, sent, acknowledged) : Play(collection, sent, acknowledged);
  for (uint32_t shard = 0; shard < shards(); ++shard) {
    for (const SourceMove& move : moves[shard]) {
      CallOf(shard, acknowledged).steps[move.source] = move.next_offset;
      sources_.Move(shard, call_, move, acknowledged);
    }
  }
}

void Model::ForgetTopic(uint32_t shard, const std::string& topic) {
  const std::vector<Source> known = sources_.SourcesOf(topic);
  const bool stored = std::any_of(known.begin(), known.end(), [&](const Source& source) {
    return sources_.NextOf(shard, source).has_value();
  });
  for (OpenCall& call : open_calls_[shard]) {
    std::erase_if(call.steps, [&](const auto& one) { return one.first.first == topic; });
  }
  sources_.Forget(shard, topic);
  if (stored) Synced(shard);
}

void Model::PushOut(size_t limit, std::vector<Served>* list) {
  std::vector<size_t> out;
  Rank(*list, INT64_MIN, [&](size_t i, size_t worst, size_t) {
    if (worst >= limit) out.push_back(i);
  });
  for (const size_t i : out) (*list)[i].kept = false;
}

void Model::PushOut(const Policy& policy, Facts* facts) {
  PushOut(policy.impressions, &facts->served);
  PushOut(policy.exposures.recent, &facts->exposed);
}

void Model::Erase(const std::string& user, int64_t at_ms) {
  for (auto& [collection, users] : facts_) users.erase(user);
  int64_t& at = erased_[user];
  at = std::max(at, at_ms);
  history_.Erase(user);
  days_.Erase(user);
  marks_.Erase(user);
  Synced(shard_of_(user));
}

std::optional<int64_t> Model::ErasedAt(const std::string& user) const {
  const auto at = erased_.find(user);
  return at == erased_.end() ? std::nullopt : std::optional(at->second);
}

void Model::Maintain() {
  history_.Evict(false);
  int64_t oldest_ms = now_ms;
  for (const auto& [name, policy] : policies_) {
    const int64_t surely_ms = now_ms - policy.max_future_ms;
    const int64_t oldest = BucketAt(policy, surely_ms) - policy.retention + 1;
    oldest_ms = std::min(oldest_ms, FirstMsOf(policy, oldest));
  }
  erasures_kept_from_ms_ = std::max(erasures_kept_from_ms_, oldest_ms);
}

int64_t Model::OldestTakenMs() const {
  int64_t oldest_ms = now_ms;
  for (const auto& [name, policy] : policies_) {
    const int64_t oldest = BucketAt(policy, now_ms) - policy.retention + 1;
    oldest_ms = std::min(oldest_ms, FirstMsOf(policy, oldest));
  }
  return oldest_ms;
}

bool Model::MayBeWithoutErasure(const std::string& user) const {
  const auto at = erased_.find(user);
  return at == erased_.end() || at->second < erasures_kept_from_ms_;
}

void Model::Forget(const std::string& collection, const std::string& user, int64_t at_ms) {
  facts_[collection].erase(user);
  int64_t& at = forgotten_.try_emplace({collection, user}, at_ms).first->second;
  at = std::max(at, at_ms);
  history_.EndLifts(collection, user);
  Synced(shard_of_(user));
}

std::optional<int64_t> Model::ForgottenAt(const std::string& collection,
                                          const std::string& user) const {
  const auto at = forgotten_.find({collection, user});
  return at == forgotten_.end() ? std::nullopt : std::optional(at->second);
}

Expected Model::Expect(const std::string& collection, const std::string& user) const {
  Expected expected;
  const Facts* facts = Find(collection, user);
  if (facts == nullptr) return expected;
  const Policy& policy = PolicyOf(collection);
  const int64_t oldest = OldestRead(collection);
  for (const auto& [item, buckets] : facts->plays) {
    for (auto at = buckets.lower_bound(oldest); at != buckets.end(); ++at) {
      expected.played_maybe[item].insert(at->first);
      if (at->second != 0) expected.played_sure[item].insert(at->first);
    }
  }
  LiftDeleted(collection, user, &expected);
  const int64_t oldest_ms = FirstMsOf(policy, oldest);
  Rank(facts->served, INT64_MIN, [&](size_t i, size_t worst, size_t best) {
    const Served& one = facts->served[i];
    if (one.at_ms < oldest_ms) return;
    const Lift* lift = history_.LiftOf(collection, user, one.item);
    const bool may_be_lifted =
        lift != nullptr && (!lift->ended || !lift->sure) && one.at_ms <= lift->at_ms;
    if (may_be_lifted && lift->sure) return;
    if (best < policy.impressions) expected.served_maybe.insert(one.item);
    if (may_be_lifted) return;
    if (one.sure && one.kept && worst < policy.impressions) expected.served_sure.insert(one.item);
  });
  return expected;
}

void Model::LiftDeleted(const std::string& collection, const std::string& user,
                        Expected* expected) const {
  for (const auto& [item, buckets] : std::map(expected->played_maybe)) {
    const Lift* lift = history_.LiftOf(collection, user, item);
    if (lift == nullptr || (lift->ended && lift->sure)) continue;
    expected->played_sure.erase(item);
    if (!lift->sure) continue;
    expected->played_maybe.erase(item);
    expected->lifted.insert(item);
  }
}

uint64_t Model::SinceOf(const std::string& collection, const std::string& user,
                        const std::string& item, int64_t bucket) const {
  const uint64_t* since = const_cast<Model*>(this)->SureSince({collection, user, item, bucket});
  return since == nullptr ? 0 : *since;
}

bool Model::WasSent(const std::string& user, const std::string& item) const {
  const auto items = sent_.find(user);
  return items != sent_.end() && items->second.contains(item);
}

uint64_t Model::ItemsIn(const std::string& collection, const std::string& user,
                        int64_t bucket) const {
  const Facts* facts = Find(collection, user);
  if (facts == nullptr) return 0;
  uint64_t count = 0;
  for (const auto& [item, buckets] : facts->plays) count += buckets.count(bucket);
  return count;
}

std::optional<std::vector<int64_t>> Model::ServedTimes(const std::string& collection,
                                                       const std::string& user) const {
  std::vector<int64_t> times;
  const Facts* facts = Find(collection, user);
  if (facts == nullptr) return times;
  const Policy& policy = PolicyOf(collection);
  const int64_t oldest_ms = FirstMsOf(policy, OldestRead(collection));
  std::set<std::string> known;
  bool all_sure = true;
  Rank(facts->served, INT64_MIN, [&](size_t i, size_t, size_t best) {
    const Served& one = facts->served[i];
    if (one.at_ms < oldest_ms || best >= policy.impressions) return;
    if (!known.insert(one.item).second) return;
    all_sure = all_sure && one.sure && one.kept;
    times.push_back(one.at_ms);
  });
  if (!all_sure) return std::nullopt;
  return times;
}

std::vector<std::string> Model::UsersOf(const std::string& collection) const {
  std::vector<std::string> users;
  const auto at = facts_.find(collection);
  if (at == facts_.end()) return users;
  for (const auto& [user, facts] : at->second) users.push_back(user);
  return users;
}

void Model::Synced(uint32_t shard) {
  // What failed stays open: the next opening tells.
  std::erase_if(open_calls_[shard], [](const OpenCall& call) { return call.acknowledged; });
  history_.Synced(shard);
  days_.Synced(shard);
  marks_.Synced(shard);
  sources_.Synced(shard);
}

void Model::AllSynced() {
  for (uint32_t shard = 0; shard < shards(); ++shard) Synced(shard);
}

void Model::Drained() {
  // What entered history or was told as first was played, and is synced with what was drained.
  for (uint32_t shard = 0; shard < shards(); ++shard) {
    history_.Synced(shard);
    days_.Synced(shard);
  }
  for (uint32_t shard = 0; shard < shards(); ++shard) {
    std::vector<OpenCall>& calls = open_calls_[shard];
    uint64_t last_play = 0;
    for (const OpenCall& call : calls) {
      if (call.acknowledged && !call.plays.empty()) last_play = call.number;
    }
    std::erase_if(calls, [last_play](const OpenCall& call) {
      return call.acknowledged && call.number <= last_play;
    });
    sources_.SyncedTo(shard, last_play);
  }
}

uint64_t* Model::SureSince(const OpenPlay& play) {
  Facts* facts = Find(play.collection, play.user);
  if (facts == nullptr) return nullptr;
  const auto item = facts->plays.find(play.item);
  if (item == facts->plays.end()) return nullptr;
  const auto bucket = item->second.find(play.bucket);
  return bucket == item->second.end() ? nullptr : &bucket->second;
}

bool Model::IsSure(const OpenPlay& play, uint64_t before) {
  const uint64_t* since = SureSince(play);
  return since != nullptr && *since != 0 && *since < before;
}

bool Model::KeepsServed(const std::string& collection) const {
  const Policy& policy = PolicyOf(collection);
  return policy.impressions > 0 || policy.served_is_seen;
}

void Model::Settle(uint32_t shard, uint64_t kept, const std::set<uint64_t>& found) {
  std::set<uint64_t> lost;
  for (const OpenCall& call : open_calls_[shard]) {
    if (call.acknowledged && call.number > kept) lost.insert(call.number);
    for (const OpenPlay& play : call.plays) {
      uint64_t* since = SureSince(play);
      if (since == nullptr) continue;  // erased meanwhile
      if (lost.contains(call.number) && *since == call.number) *since = 0;
      if (found.contains(call.number) && *since == 0) *since = call.number;
    }
  }
  for (auto& [collection, users] : facts_) {
    for (auto& [user, facts] : users) {
      if (shard_of_(user) != shard) continue;
      for (std::vector<Served>* list : {&facts.served, &facts.exposed}) {
        for (Served& one : *list) {
          if (lost.contains(one.call)) one.sure = one.kept = false;
        }
      }
      for (auto& [event, counted] : facts.counted) {
        if (lost.contains(counted.call)) counted.sure = false;
      }
    }
  }
  open_calls_[shard].clear();
  days_.Settle(shard, kept);
}

void Model::Gone(const OpenPlay& play) {
  const uint64_t* since = SureSince(play);
  if (since == nullptr || *since != 0) return;
  Facts* facts = Find(play.collection, play.user);
  facts->plays[play.item].erase(play.bucket);
  if (facts->plays[play.item].empty()) facts->plays.erase(play.item);
}

}  // namespace seendb::simulation
