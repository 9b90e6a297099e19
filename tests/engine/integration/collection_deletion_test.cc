// A collection is deleted with all that it holds; one made again under its name begins empty.

#include <atomic>
#include <functional>
#include <utility>

#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"
#include "support/sample.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class CollectionDeletionTest : public EngineTest {
 protected:
  static constexpr const char* kName = "article";

  static PolicyPatch WithHistory() {
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.first_of_day = true;
    return patch;
  }
  void Delete() {
    const Status deleted = engine_->DeleteCollection(kName);
    ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  }
  bool Exists() {
    for (const CollectionInfo& info : engine_->Collections()) {
      if (info.name == kName) return true;
    }
    return false;
  }
  size_t Families(const std::string& of) {
    size_t rows = 0;
    const Status scanned = engine_->Scan(of, [&](const ScanRow&) { return ++rows > 0; });
    EXPECT_TRUE(scanned.ok() || scanned.code() == StatusCode::kNotFound) << scanned.ToString();
    return rows;
  }
  std::vector<std::string> History(const std::string& user) {
    HistoryRequest request;
    request.user = IdRef(user);
    const std::string_view names[] = {kName};
    request.collections = names;
    HistoryPage page;
    const Status read = engine_->ReadHistory(request, &page);
    EXPECT_TRUE(read.ok()) << read.ToString();
    std::vector<std::string> items;
    for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
    return items;
  }
  void ExpectEmpty() {
    EXPECT_EQ(Unseen("u1", {"v1", "v2", "v3"}, kName), (Items{"v1", "v2", "v3"}));
    EXPECT_FALSE(answer_.degraded);
    EXPECT_TRUE(History("u1").empty());
  }
};

TEST_F(CollectionDeletionTest, NothingOfItIsLeft) {
  Open();
  Put(kName, WithHistory());
  Play("u1", {"v1"}, std::nullopt, kName);
  Drain();
  Play("u1", {"v2"}, std::nullopt, kName);
  Serve("u1", {"v3"}, std::nullopt, kName);
  Delete();
  EXPECT_FALSE(Exists());
  EXPECT_EQ(engine_->DeleteCollection(kName).code(), StatusCode::kNotFound);
  const seendb::Play play{IdRef("u1"), IdRef("v1"), std::nullopt};
  EXPECT_EQ(engine_->RecordPlays({&play, 1}, {.collection = kName}).status().code(),
            StatusCode::kNotFound);
  for (const char* const kind : {"seen/article", "impressions/article", "history/article"}) {
    EXPECT_EQ(Families(kind), 0u) << kind;
  }
  Drain();
  Reopen();
  EXPECT_FALSE(Exists());
  EXPECT_FALSE(engine_->Stats().degraded);
}

TEST_F(CollectionDeletionTest, OneMadeAgainBeginsEmpty) {
  Open();
  Put(kName, WithHistory());
  Play("u1", {"v1"}, std::nullopt, kName);
  Drain();
  Play("u1", {"v2"}, std::nullopt, kName);
  Serve("u1", {"v3"}, std::nullopt, kName);
  Delete();
  Put(kName, WithHistory());
  ExpectEmpty();
  Drain();  // what was staged of the former does not come back
  ExpectEmpty();
  Play("u1", {"v1"}, std::nullopt, kName);
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}, kName), Items{"v2"});
  Reopen();
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}, kName), Items{"v2"});
  EXPECT_EQ(History("u1"), Items{"v1"});
}

// The journal still has the plays of the former one when the shard is opened.
TEST_F(CollectionDeletionTest, JournalsOfTheFormerOneDoNotCount) {
  Open();
  Put(kName, WithHistory());
  Play("u1", {"v1", "v2"}, std::nullopt, kName);
  Delete();
  Reopen();
  EXPECT_FALSE(Exists());
  EXPECT_FALSE(engine_->Stats().degraded);
  Put(kName, WithHistory());
  ExpectEmpty();
  Play("u1", {"v3"}, std::nullopt, kName);
  Reopen();
  EXPECT_EQ(Unseen("u1", {"v1", "v2", "v3"}, kName), (Items{"v1", "v2"}));
  Drain();
  EXPECT_EQ(Unseen("u1", {"v1", "v2", "v3"}, kName), (Items{"v1", "v2"}));
}

TEST_F(CollectionDeletionTest, UsersRecordsOfTheFormerOneDoNotCount) {
  Open();
  Put(kName, WithHistory());
  Play("u1", {"v1", "v2"}, std::nullopt, kName);
  const IdRef deleted[] = {IdRef("v1")};
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u1"), kName, deleted).ok());
  const std::string_view names[] = {kName};
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u1"), {.collections = names, .filter = true}).ok());
  ASSERT_TRUE(engine_->SetRecording(IdRef("u2"), true).ok());
  Delete();
  Put(kName, WithHistory());
  for (int openings = 0; openings < 2; ++openings) {
    SCOPED_TRACE(openings);
    // A time of before the clearing is taken, and is in history.
    EXPECT_EQ(Play("u1", {"v1"}, kStartMs - kHourMs, kName), 1u);
    EXPECT_EQ(Unseen("u1", {"v1", "v2"}, kName), Items{"v2"});
    EXPECT_EQ(History("u1"), Items{"v1"});
    EXPECT_TRUE(engine_->GetRecording(IdRef("u2"))->paused);
    Reopen();
  }
}

TEST_F(CollectionDeletionTest, TheFirstPlayOfTheDayIsToldAnew) {
  Open();
  Put(kName, WithHistory());
  const auto first = [&](const char* user) {
    const seendb::Play play{IdRef(user), IdRef("v1"), std::nullopt};
    const auto result = engine_->RecordPlays({&play, 1}, {.collection = kName});
    return result.ok() && result->first_today.size() == 1;
  };
  EXPECT_TRUE(first("u1"));
  EXPECT_FALSE(first("u1"));
  Delete();
  Put(kName, WithHistory());
  EXPECT_TRUE(first("u1"));
  EXPECT_FALSE(first("u1"));
}

// A later one takes the place of the one that is there: only once nothing refuses it.
TEST_F(CollectionDeletionTest, ARefusedSuccessorDeletesNothing) {
  options_.max_column_families = 60;
  Open();
  Put(kName, WithHistory());
  Play("u1", {"v1"}, std::nullopt, kName);
  const auto refused = [&](const PolicyPatch& patch, uint64_t making, StatusCode code,
                           const std::string& field) {
    const Status status = engine_->PutCollection(kName, patch, making);
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(status.field(), field) << status.ToString();
    EXPECT_TRUE(Exists());
    EXPECT_EQ(Unseen("u1", {"v1", "v2"}, kName), Items{"v2"});
    EXPECT_EQ(History("u1"), Items{"v1"});
  };
  PolicyPatch bad = WithHistory();
  bad.window = 9;
  bad.retention = 3;
  refused(bad, 1, StatusCode::kInvalidArgument, "/window");
  PolicyPatch many = WithHistory();
  many.retention = 60;
  refused(many, 1, StatusCode::kIncompatible, "/engine/max_column_families");
  clock_.Set(kLastTimeMs + 1);
  EXPECT_FALSE(engine_->PutCollection(kName, WithHistory(), 1).ok());
  clock_.Set(kStartMs);
  EXPECT_EQ(History("u1"), Items{"v1"});
  ASSERT_TRUE(engine_->PutCollection(kName, WithHistory(), 1).ok());
  ExpectEmpty();
  EXPECT_EQ(engine_->PutCollection(kName, WithHistory(), 0).code(), StatusCode::kIncompatible);
  for (const CollectionInfo& info : engine_->Collections()) {
    if (info.name == kName) {
      EXPECT_EQ(info.making, 1U);
    }
  }
  Reopen();
  ExpectEmpty();
}

// Fields that are fixed for one collection may be others of the next.
TEST_F(CollectionDeletionTest, ASuccessorHasItsOwnFixedFields) {
  Open();
  Put(kName, WithHistory());
  Play("u1", {"v1"}, std::nullopt, kName);
  Drain();
  PolicyPatch daily = WithHistory();
  daily.bucket = BucketSpec{BucketKind::kDays, 10};
  EXPECT_EQ(engine_->PutCollection(kName, daily).code(), StatusCode::kIncompatible);
  ASSERT_TRUE(engine_->PutCollection(kName, daily, 7).ok());
  ExpectEmpty();
  EXPECT_EQ(Play("u1", {"v2"}, std::nullopt, kName), 1U);
  Reopen();
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}, kName), Items{"v1"});
}

TEST_F(CollectionDeletionTest, OtherCollectionsKeepEverything) {
  Open();
  Put(kName, WithHistory());
  Put("article-2", WithHistory());
  for (const char* const name : {kName, "article-2", "default"}) {
    Play("u1", {"v1"}, std::nullopt, name);
    Serve("u1", {"v3"}, std::nullopt, name);
  }
  Delete();
  for (int openings = 0; openings < 2; ++openings) {
    for (const char* const name : {"article-2", "default"}) {
      EXPECT_EQ(Unseen("u1", {"v1", "v2", "v3"}, name), Items{"v2"}) << name;
    }
    Reopen();
  }
}

TEST_F(CollectionDeletionTest, DefaultGoesOnlyWhileItHoldsNothing) {
  Open();
  Play("u1", {"v1"});
  EXPECT_EQ(engine_->DeleteCollection("default").code(), StatusCode::kIncompatible);
  EXPECT_EQ(Play("u1", {"v2"}), 1u);  // writes go on
  Drain();
  EXPECT_EQ(engine_->DeleteCollection("default").code(), StatusCode::kIncompatible);
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1"), {}, nullptr).ok());
  ASSERT_TRUE(engine_->DeleteCollection("default").ok());
  Reopen();
  EXPECT_TRUE(engine_->Collections().empty());
  Put("default", {});
  EXPECT_EQ(Unseen("u1", {"v1"}), Items{"v1"});
}

// Wherever the disk fails, or the power: the collection is there with all it had, or gone; it is
// gone where that was answered; and one made again begins empty.
class DeletionFaultTest : public CollectionDeletionTest {
 protected:
  void SetUp() override {
    disk_ = std::make_unique<MemDisk>();
    env_ = disk_->env();
    Open();
    Put(kName, WithHistory());
    for (const std::string& user : users_) Play(user, {"v1"}, std::nullopt, kName);
    Drain();
    for (const std::string& user : users_) Play(user, {"v2"}, std::nullopt, kName);
    for (const std::string& user : users_) Serve(user, {"v3"}, std::nullopt, kName);
    const std::string_view names[] = {kName};
    ASSERT_TRUE(engine_->ClearHistory(IdRef("cleared"), {.collections = names}).ok());
    ASSERT_TRUE(engine_->Sync().ok());
    engine_.reset();
    base_ = std::move(disk_);
  }
  void TearDown() override { engine_.reset(); }

  void ExpectAllOrNothing() {
    if (!Exists()) return;
    for (const std::string& user : users_) {
      EXPECT_EQ(Unseen(user, {"v1", "v2", "v3", "v4"}, kName), Items{"v4"}) << user;
    }
  }
  // One try, with the step-th write failing. False where there was none to fail.
  bool Try(int step, bool power_cut) {
    disk_ = base_->Clone();
    env_ = disk_->env();
    Open();
    disk_->Fail(MemDisk::kWriting, "", rocksdb::IOStatus::IOError("injected"), step, 1);
    const Status deleted = engine_->DeleteCollection(kName);
    const bool failed = disk_->failures() > 0;
    disk_->Clear();
    EXPECT_TRUE(deleted.ok() || failed) << deleted.ToString();
    if (power_cut) {
      disk_->Crash();
      engine_.reset();
      disk_->PowerCut(static_cast<uint64_t>(step));
      disk_->Revive();
      Open();
    } else {
      RunDue();  // heals
    }
    if (deleted.ok()) {
      EXPECT_FALSE(Exists());
    }
    ExpectAllOrNothing();
    Reopen();
    ExpectAllOrNothing();
    if (Exists()) Delete();
    Put(kName, WithHistory());
    for (const std::string& user : users_) {
      EXPECT_EQ(Unseen(user, {"v1", "v2", "v3"}, kName).size(), 3u) << user;
    }
    EXPECT_EQ(Play("cleared", {"v1"}, kStartMs - kHourMs, kName), 1u);
    EXPECT_EQ(History("cleared"), Items{"v1"});
    engine_.reset();
    return failed;
  }
  void TryEach(bool power_cut) {
    int step = static_cast<int>(test::SampleTurn());
    while (!HasFailure() && Try(step, power_cut)) step += static_cast<int>(test::SampleEvery());
    EXPECT_GT(step, 0);
    EXPECT_FALSE(HasFailure()) << "operation " << step << ": " << disk_->last_failure();
  }

  const Items users_ = Numbered("u", 8);
  std::unique_ptr<MemDisk> base_, disk_;
};

TEST_F(DeletionFaultTest, AFailureLeavesAllOrNothing) { TryEach(false); }

TEST_F(DeletionFaultTest, APowerCutLeavesAllOrNothing) { TryEach(true); }

// ---- Fixed fields of a collection that holds nothing ----

class EmptyCollectionTest : public CollectionDeletionTest {
 protected:
  static PolicyPatch DaysOf(uint16_t days) {
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, days};
    return patch;
  }
};

TEST_F(EmptyCollectionTest, FixedFieldsMayChange) {
  Open();
  Put("default", DaysOf(10));
  Play("u1", {"v1"});
  Drain();
  EXPECT_EQ(engine_->Buckets().front().bucket.size(), std::string("2026-03-01").size());
  EXPECT_EQ(engine_->PutCollection("default", DaysOf(7)).code(), StatusCode::kIncompatible);
  Reopen();
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}), Items{"v2"});
  EXPECT_EQ(engine_->Collections().front().policy.bucket.days, 10);
}

TEST_F(EmptyCollectionTest, WhatHoldsAnythingKeepsThem) {
  Open();
  const auto refused = [&] {
    return engine_->PutCollection("default", DaysOf(10)).code() == StatusCode::kIncompatible;
  };
  Play("u1", {"v1"});
  EXPECT_TRUE(refused()) << "staged";
  EXPECT_EQ(Play("u1", {"v2"}), 1u) << "writes go on";
  Drain();
  EXPECT_TRUE(refused()) << "drained";
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1"), {}, nullptr).ok());
  EXPECT_FALSE(refused()) << "erased";
  Serve("u2", {"v1"});
  EXPECT_EQ(engine_->PutCollection("default", DaysOf(5)).code(), StatusCode::kIncompatible)
      << "served";
}

TEST_F(EmptyCollectionTest, AChangeThatFailedHalfWayIsFinished) {
  MemDisk disk;
  env_ = disk.env();
  Open();
  disk.Fail(MemDisk::kWriting, "shard-0001", rocksdb::IOStatus::IOError("gone"));
  EXPECT_FALSE(engine_->PutCollection("default", DaysOf(10)).ok());
  disk.Clear();
  RunDue();
  for (int openings = 0; openings < 2; ++openings) {
    for (const std::string& user : Numbered("u", 20)) {
      EXPECT_EQ(Play(user, {"v1"}), 1u);
      EXPECT_EQ(Unseen(user, {"v1", "v2"}), Items{"v2"});
    }
    EXPECT_EQ(engine_->Collections().front().policy.bucket.days, 10);
    Drain();
    Reopen();
  }
  engine_.reset();
}

// ---- The policy of `default` in a new database ----

TEST_F(EmptyCollectionTest, ANewDatabaseTakesTheDefaultPolicy) {
  options_.default_policy = DaysOf(10);
  options_.default_policy.window = 5;
  options_.default_policy.retention = 5;
  Open();
  EXPECT_EQ(engine_->Collections().front().policy.window, 5);
  options_.default_policy = DaysOf(7);
  Reopen();
  EXPECT_EQ(engine_->Collections().front().policy.bucket.days, 10);
}

TEST_F(EmptyCollectionTest, ADefaultPolicyThatIsNoneIsRefused) {
  options_.default_policy.window = 9;
  options_.default_policy.retention = 3;
  EXPECT_EQ(TryOpen().code(), StatusCode::kInvalidArgument);
}

// What users' records say of it goes a piece at a time: a write waits for one.
TEST_F(CollectionDeletionTest, UserRecordsAreRewrittenInPieces) {
  SEENDB_NEEDS_PAUSE_POINTS();
  constexpr int kUsers = 600;
  MemDisk disk;
  env_ = disk.env();
  options_.shards = 1;
  Open();
  Put(kName, WithHistory());
  const std::string_view cleared[] = {kName};
  for (const std::string& user : Numbered("u", kUsers)) {
    const Status done = engine_->ClearHistory(IdRef(user), {.collections = cleared});
    ASSERT_TRUE(done.ok()) << done.ToString();
  }
  std::atomic<int> pieces{0};
  PausePoints::Set("forget: piece written", [&pieces] { ++pieces; });
  Delete();
  PausePoints::Set("forget: piece written", std::function<void()>());
  EXPECT_GE(pieces * 256, kUsers);
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
