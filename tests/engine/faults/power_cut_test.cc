// Power cuts at any point of any work: the database opens, nothing promised is lost, what is lost
// is a suffix of what its shard was told. The exact record beside it is a list of what was
// acknowledged.
//
// SEENDB_SEED=N starts at that seed, SEENDB_ROUNDS=N does so many times as much. A failure names
// its seed. RocksDB flushes on threads of its own, so that a seed does not always cut at the same
// point: one that failed is to be run some hundred times.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/options.h"
#include "support/sample.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr uint64_t kSeeds = 64;
constexpr std::chrono::seconds kSeconds{20};
constexpr int kCrashes = 4;      // a seed
constexpr int kOperations = 60;  // at most, between two
constexpr uint32_t kShards = 2;
constexpr uint32_t kWindow = 3;

// What was told of one item. Each has an id of its own, so that it is there or not.
struct Told {
  std::string collection, user, item;
  int64_t at_ms = 0;
  bool impression = false;
  bool durable = false;       // promised to survive a power cut
  bool acknowledged = false;  // the call answered OK; otherwise anything goes
};

class PowerCut {
 public:
  explicit PowerCut(uint64_t seed) : random_(seed), clock_(kStartMs) {
    options_.background = false;
    options_.shards = kShards;
    options_.list_limit = 16;
    options_.ring_slots = 3;
    options_.block_cache_bytes = 1 << 20;
    options_.write_buffer_bytes = Below(2) == 0 ? 1 << 18 : 4 << 20;
  }

  void Run() {
    for (int crash = 0; crash < kCrashes; ++crash) {
      AimCrash();
      if (Open()) Work();
      disk_.Crash();
      engine_.reset();
      const bool cut = Below(4) != 0;
      if (cut) disk_.PowerCut(random_());
      disk_.Revive();
      disk_.Clear();
      ASSERT_TRUE(Open()) << "after crash " << crash << " at " << disk_.last_failure();
      Check(cut);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "crash " << crash << " at " << disk_.last_failure()
                      << (cut ? ", power cut" : ", power kept");
        return;
      }
      engine_.reset();
    }
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  // Few operations ahead, or many.
  void AimCrash() {
    const std::vector<uint32_t> kinds = {MemDisk::kWriting, MemDisk::kSync, MemDisk::kAppend,
                                         MemDisk::kCreate | MemDisk::kRename,
                                         MemDisk::kSyncFolder | MemDisk::kMakeFolder};
    const uint32_t kind = kinds[Below(kinds.size())];
    disk_.CrashAt(kind, "", static_cast<int>(Below(uint64_t{4} << Below(8))));
  }

  bool Open() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk_.env();
    auto opened = Engine::Open("/data/db", options_, seams);
    if (!opened.ok()) {
      EXPECT_TRUE(disk_.crashed()) << opened.status().ToString();
      return false;
    }
    engine_ = std::move(opened).value();
    return true;
  }

  void Work() {
    const uint64_t operations = 5 + Below(kOperations);
    for (uint64_t i = 0; i < operations && !disk_.crashed(); ++i) {
      const Status status = Step();
      ASSERT_TRUE(status.ok() || disk_.crashed() || status.code() == StatusCode::kBusy)
          << status.ToString();
    }
  }

  Status Step() {
    const uint64_t dice = Below(100);
    if (policies_.empty() || dice < 8) return PutCollection();
    if (dice < 50) return Record(false);
    if (dice < 65) return Record(true);
    if (dice < 75) return Drain();
    if (dice < 80) return engine_->SealClosed();
    if (dice < 84) return engine_->DropExpired();
    if (dice < 89) return Erase();
    if (dice < 94) return Sync();
    if (dice < 96) return engine_->RunDue();
    clock_.Advance(static_cast<int64_t>(Below(20)) * kDayMs);
    return engine_->RunDue();
  }

  Status PutCollection() {
    const std::string name = "c" + std::to_string(Below(4));
    const bool fresh = !policies_.contains(name);
    PolicyPatch patch;
    if (fresh) {
      patch.window = kWindow;
      if (Below(2) == 0) patch.representation = Representation::kExact;
      if (Below(2) == 0) patch.bucket = BucketSpec{BucketKind::kDays, 10};
      patch.impressions = 10'000;
    }
    patch.retention = kWindow + static_cast<uint32_t>(Below(3));
    patch.durability = static_cast<Durability>(Below(3));
    const Policy wanted = ApplyPatch(fresh ? Policy{} : policies_[name], patch);
    const Status put = engine_->PutCollection(name, patch);
    if (put.ok()) {
      policies_[name] = wanted;
    } else {
      asked_ = {name, wanted};
    }
    return put;
  }

  std::string SomeUser() { return "u" + std::to_string(Below(12)); }

  Status Record(bool impressions) {
    auto some = policies_.begin();
    std::advance(some, Below(policies_.size()));
    const std::string& collection = some->first;
    std::vector<Told> told(1 + Below(30));
    for (Told& one : told) {
      one = {collection, SomeUser(), "i" + std::to_string(next_item_++), 0, impressions};
      one.at_ms = clock_.NowMs() - static_cast<int64_t>(Below(25)) * kDayMs;
    }
    Status status;
    std::set<uint32_t> refused;
    const auto run = [&](auto call, auto event) {
      std::vector<decltype(event)> events;
      for (const Told& one : told) events.push_back({IdRef(one.user), IdRef(one.item), one.at_ms});
      const Result<RecordResult> recorded =
          (engine_.get()->*call)(events, {.collection = collection});
      status = recorded.status();
      if (!recorded.ok()) return;
      for (const Refusal& one : recorded->refusals) refused.insert(one.index);
    };
    if (impressions) {
      run(&Engine::RecordImpressions, Impression{});
    } else {
      run(&Engine::RecordPlays, Play{});
    }
    if (status.code() == StatusCode::kBusy) return status;
    for (uint32_t i = 0; i < told.size(); ++i) {
      if (refused.contains(i)) {
        never_.push_back(told[i]);
        continue;
      }
      told[i].acknowledged = status.ok();
      told[i].durable = status.ok() && some->second.durability == Durability::kSync;
      told_.push_back(told[i]);
    }
    return status;
  }

  Status Sync() {
    const Status synced = engine_->Sync();
    for (Told& one : told_) one.durable |= synced.ok();
    return synced;
  }

  Status Drain() {
    const Status drained = engine_->Drain();
    for (Told& one : told_) one.durable |= drained.ok() && !one.impression;
    return drained;
  }

  Status Erase() {
    const std::string user = SomeUser();
    const uint32_t shard = engine_->ShardOf(IdRef(user));
    const Status erased = engine_->EraseUser(IdRef(user), {.always = true});
    std::vector<Told> rest;
    for (Told& one : told_) {
      one.durable |= erased.ok() && engine_->ShardOf(IdRef(one.user)) == shard;
      if (one.user == user) {
        if (erased.ok()) never_.push_back(one);
      } else {
        rest.push_back(one);
      }
    }
    told_ = std::move(rest);  // of a failed erasure nothing is known
    return erased;
  }

  bool InWindow(const Told& one) const {
    const Policy& policy = policies_.at(one.collection);
    return BucketIndexOf(policy, one.at_ms) + policy.window > BucketIndexOf(policy, clock_.NowMs());
  }

  // Is it remembered by the opened database?
  bool Seen(const Told& one) {
    const IdRef items[] = {IdRef(one.item)};
    FilterRequest request;
    request.collection = one.collection;
    request.user = IdRef(one.user);
    request.items = items;
    request.facts = one.impression ? kFactImpressions : kFactPlays;
    FilterResponse answer;
    const Status status = engine_->Filter(request, &answer);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(answer.degraded);
    return answer.unseen.empty();
  }

  bool IsExact(const Told& one) const {
    return one.impression || policies_.at(one.collection).representation == Representation::kExact;
  }

  void Check(bool cut) {
    CheckPolicies();
    const auto verified = engine_->Verify();
    ASSERT_TRUE(verified.ok()) << verified.status().ToString();
    EXPECT_EQ(verified->damaged, 0u);
    EXPECT_FALSE(engine_->Stats().degraded) << ::testing::PrintToString(engine_->Stats().problems);
    for (const Told& one : never_) {
      if (IsExact(one)) {
        EXPECT_FALSE(Seen(one)) << "erased or refused, yet seen: " << Name(one);
      }
    }
    CheckTold(cut);
    if (::testing::Test::HasFailure()) return;
    // The same of drained buckets.
    ASSERT_TRUE(engine_->Drain().ok());
    for (const Told& one : told_) EXPECT_TRUE(!InWindow(one) || Seen(one)) << Name(one);
    ASSERT_TRUE(engine_->Close().ok());
  }

  // What was promised is there; of the rest a prefix a shard. What is gone is forgotten here too.
  void CheckTold(bool cut) {
    std::vector<Told> kept;
    std::map<uint32_t, std::string> lost;  // the first one, by shard
    for (Told& one : told_) {
      if (!InWindow(one)) continue;
      const uint32_t shard = engine_->ShardOf(IdRef(one.user));
      const bool seen = Seen(one);
      EXPECT_TRUE(seen || !one.acknowledged || (cut && !one.durable)) << "lost: " << Name(one);
      if (seen && IsExact(one)) {
        EXPECT_FALSE(lost.contains(shard))
            << lost[shard] << " is lost, a later one is not: " << Name(one);
      }
      // One that was not acknowledged may have been refused: no word was given.
      if (!seen && one.acknowledged) lost.emplace(shard, Name(one));
      one.acknowledged = one.durable = true;
      if (seen) kept.push_back(one);
    }
    told_ = std::move(kept);
  }

  void CheckPolicies() {
    std::map<std::string, Policy> found;
    for (const CollectionInfo& info : engine_->Collections()) found[info.name] = info.policy;
    EXPECT_TRUE(found.contains("default"));
    if (asked_ && found.contains(asked_->first) &&
        found[asked_->first] == WithCeiling(asked_->second)) {
      policies_[asked_->first] = asked_->second;
    }
    asked_.reset();
    for (const auto& [name, policy] : policies_) {
      ASSERT_TRUE(found.contains(name)) << name;
      EXPECT_EQ(found[name], WithCeiling(policy))
          << PolicyToJson(found[name]) << " instead of " << PolicyToJson(policy);
    }
  }

  static Policy WithCeiling(Policy policy) {
    policy.max_filter_bytes = EffectiveMaxFilterBytes(policy);
    return policy;
  }

  std::string Name(const Told& one) const {
    return (one.impression ? "impression " : "play ") + one.collection + "/" + one.user + "/" +
           one.item + " of shard " + std::to_string(engine_->ShardOf(IdRef(one.user)));
  }

  std::mt19937_64 random_;
  ManualClock clock_;
  MemDisk disk_;
  Options options_ = test::FixedOptions();
  std::unique_ptr<Engine> engine_;
  std::map<std::string, Policy> policies_;               // acknowledged
  std::optional<std::pair<std::string, Policy>> asked_;  // failed, so it may hold
  std::vector<Told> told_, never_;
  uint64_t next_item_ = 0;
};

// Fresh seeds for at most kSeconds; all of them where they are asked for.
TEST(PowerCutTest, WhatWasPromisedIsThere) {
  uint64_t rounds = 1;
  bool hurry = std::getenv("SEENDB_SEED") == nullptr;
  if (const char* text = std::getenv("SEENDB_ROUNDS")) {
    rounds = std::strtoull(text, nullptr, 0);
    hurry = false;
  }
  const uint64_t first = test::Seed();
  const auto end = std::chrono::steady_clock::now() + kSeconds / test::SampleEvery();
  for (uint64_t seed = first; seed != first + kSeeds * rounds; ++seed) {
    if (hurry && std::chrono::steady_clock::now() > end) break;
    SCOPED_TRACE("SEENDB_SEED=" + std::to_string(seed));
    PowerCut(seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
