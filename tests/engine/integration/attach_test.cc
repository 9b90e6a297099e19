// A shard comes and goes while the others work.

#include "seams.h"
#include "store/copy_file.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class AttachTest : public EngineTest {
 protected:
  AttachTest() { options_.shards = 3; }

  void SetUp() override {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    Put("article", patch);
    for (uint32_t shard = 0; shard < 3; ++shard) users_.push_back(UserOf(shard));
    for (const std::string& user : users_) Play(user, {"drained"});
    Drain();
    for (const std::string& user : users_) Play(user, {"staged"});
  }
  std::string UserOf(uint32_t shard) {
    for (int i = 0;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard) return user;
    }
  }
  void ExpectOk(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
  void ExpectSeen(const std::string& user, const Items& items) {
    EXPECT_EQ(Unseen(user, items), Items{}) << user;
    EXPECT_FALSE(answer_.degraded);
  }
  StatusCode FilterCode(const std::string& user) {
    const IdRef items[] = {IdRef("v")};
    FilterRequest request;
    request.user = IdRef(user);
    request.items = items;
    return engine_->Filter(request, &answer_).code();
  }
  bool IsThere(const std::string& path) { return std::filesystem::exists(path); }
  std::string Place(uint32_t shard) { return Path() + "/shard-000" + std::to_string(shard); }

  Items users_;
};

TEST_F(AttachTest, AShardThatWasKeptComesBack) {
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(FilterCode(users_[1]), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->DetachShard(1, Detached::kKept).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(IsThere(Place(1) + ".detached"));
  EXPECT_FALSE(IsThere(Place(1)));
  for (const uint32_t other : {0U, 2U}) {
    ExpectSeen(users_[other], {"drained", "staged"});
    EXPECT_EQ(Play(users_[other], {"meanwhile"}), 1U);
  }
  Drain();
  RunDue();
  ExpectOk(engine_->AttachShard(1, Place(1) + ".detached"));
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{0, 1, 2}));
  ExpectSeen(users_[1], {"drained", "staged"});
  EXPECT_EQ(Play(users_[1], {"after"}), 1U);
  Reopen();
  for (const uint32_t other : {0U, 2U}) ExpectSeen(users_[other], {"drained", "meanwhile"});
  ExpectSeen(users_[1], {"drained", "staged", "after"});
}

TEST_F(AttachTest, ACopyReplacesAShard) {
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->CheckpointShard(2, copy).ok());
  Play(users_[2], {"later"});
  ExpectOk(engine_->ReplaceShard(2, copy));
  EXPECT_FALSE(IsThere(copy));
  EXPECT_FALSE(IsThere(Place(2) + ".replaced"));
  ExpectSeen(users_[2], {"drained", "staged"});
  EXPECT_EQ(Unseen(users_[2], {"later"}), Items{"later"});
  EXPECT_EQ(Play(users_[2], {"after"}), 1U);
  ExpectSeen(users_[0], {"drained", "staged"});
  Reopen();
  ExpectSeen(users_[2], {"drained", "staged", "after"});
}

TEST_F(AttachTest, WhatCanReplaceNoShardChangesNothing) {
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->CheckpointShard(2, copy).ok());
  EXPECT_EQ(engine_->ReplaceShard(1, copy).code(), StatusCode::kIncompatible);
  EXPECT_EQ(engine_->ReplaceShard(2, Place(2)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->ReplaceShard(2, copy + "-absent").code(), StatusCode::kInvalidArgument);
  ExpectOk(engine_->DetachShard(2, Detached::kRemoved));
  EXPECT_EQ(engine_->ReplaceShard(2, copy).code(), StatusCode::kUnavailable);
  ExpectOk(engine_->AttachShard(2, copy));
  for (const std::string& user : users_) ExpectSeen(user, {"drained", "staged"});
}

// Its files are damaged: what was there before serves on.
TEST_F(AttachTest, ACopyThatCannotBeOpenedLeavesTheFormerShard) {
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->CheckpointShard(2, copy).ok());
  for (const auto& file : std::filesystem::directory_iterator(copy)) {
    if (file.path().filename().string().starts_with("MANIFEST")) {
      std::filesystem::resize_file(file.path(), 3);
    }
  }
  EXPECT_FALSE(engine_->ReplaceShard(2, copy).ok());
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{0, 1, 2}));
  ExpectSeen(users_[2], {"drained", "staged"});
  EXPECT_EQ(Play(users_[2], {"after"}), 1U);
  Reopen();
  ExpectSeen(users_[2], {"drained", "staged", "after"});
}

TEST_F(AttachTest, ACopyIsAttachedInPlaceOfWhatWasRemoved) {
  const std::string copy = dir_ + "/copy";
  const auto report = engine_->CheckpointShard(2, copy);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->shards, 1U);
  EXPECT_FALSE(IsThere(copy + ".tmp"));
  Play(users_[2], {"later"});
  ExpectOk(engine_->DetachShard(2, Detached::kRemoved));
  EXPECT_FALSE(IsThere(Place(2)));
  EXPECT_FALSE(IsThere(Place(2) + ".removed"));
  ExpectOk(engine_->AttachShard(2, copy));
  EXPECT_FALSE(IsThere(copy));
  EXPECT_EQ(Unseen(users_[2], {"drained", "staged", "later"}), Items{"later"});
  Reopen();
  ExpectSeen(users_[2], {"drained", "staged"});
}

// Whoever moves shards keeps copies in the database's own folder, for it may be a file system of
// its own.
TEST_F(AttachTest, ACopyMayLieInTheFolderForThose) {
  std::filesystem::create_directories(Path() + "/tmp/deeper");
  const std::string copy = Path() + "/tmp/copy";
  ASSERT_TRUE(engine_->CheckpointShard(2, copy).ok());
  EXPECT_EQ(engine_->CheckpointShard(2, Path() + "/tmp/deeper/copy").status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->CheckpointShard(2, Path() + "/copy").status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->Checkpoint(Path() + "/tmp/all").status().code(), StatusCode::kInvalidArgument);
  ExpectOk(engine_->DetachShard(2, Detached::kRemoved));
  std::filesystem::rename(copy, Path() + "/tmp/deeper/copy");
  EXPECT_EQ(engine_->AttachShard(2, Path() + "/tmp/deeper/copy").code(),
            StatusCode::kInvalidArgument);
  options_.owned = std::vector<uint32_t>{0, 1};
  Reopen();  // what lies there is nothing to the database
  std::filesystem::rename(Path() + "/tmp/deeper/copy", copy);
  ExpectOk(engine_->AttachShard(2, copy));
  EXPECT_FALSE(IsThere(copy));
  ExpectSeen(users_[2], {"drained", "staged"});
}

TEST_F(AttachTest, AShardThatWasNotOwnedIsAttachedWhereItLies) {
  options_.owned = std::vector<uint32_t>{0, 1};
  Reopen();
  EXPECT_EQ(FilterCode(users_[2]), StatusCode::kUnavailable);
  ExpectOk(engine_->AttachShard(2, Place(2)));
  ExpectSeen(users_[2], {"drained", "staged"});
}

// What changed while it was away: a policy, a collection that was made, one that went and came
// again.
TEST_F(AttachTest, ItHearsOfTheCollections) {
  Put("gone", {});
  Play(users_[1], {"former"}, std::nullopt, "gone");
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  PolicyPatch patch;
  patch.impressions = 3;
  Put("article", patch);
  Put("new", {});
  ExpectOk(engine_->DeleteCollection("gone"));
  patch.window = 2;
  Put("gone", patch);
  ExpectOk(engine_->AttachShard(1, Place(1) + ".detached"));
  EXPECT_EQ(Unseen(users_[1], {"former"}, "gone"), Items{"former"});
  EXPECT_FALSE(answer_.degraded);
  for (const char* const name : {"article", "new", "gone"}) {
    EXPECT_EQ(Play(users_[1], {"v"}, std::nullopt, name), 1U) << name;
  }
  Serve(users_[1], {"i1", "i2", "i3", "i4"}, std::nullopt, "article");
  EXPECT_EQ(Unseen(users_[1], {"i1", "i2", "i3", "i4"}, "article"), Items{"i1"});
}

TEST_F(AttachTest, AShardMadeForALostOneIsDegraded) {
  const auto expect_lossy = [&](const std::string& user, bool lossy) {
    for (const char* const name : {"default", "article"}) {
      EXPECT_EQ(Unseen(user, {"drained"}, name).size(), name == std::string("article") || lossy);
      EXPECT_EQ(answer_.degraded, lossy) << name;
      EXPECT_EQ(answer_.missing, lossy ? Items{"log"} : Items{}) << name;
    }
  };
  AttachOptions lost;
  lost.former_lost = "its disk broke";
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  EXPECT_EQ(engine_->AttachShard(1, Place(1) + ".detached", lost).field(), "/former_lost");
  ExpectOk(engine_->AttachShard(1, "", lost));
  expect_lossy(users_[1], true);
  expect_lossy(users_[0], false);
  const std::vector<std::string> problems = engine_->Stats().problems;
  EXPECT_NE(
      std::find_if(problems.begin(), problems.end(),
                   [](const std::string& one) { return one.find("its disk broke") != one.npos; }),
      problems.end());
  Put("new", {});
  EXPECT_EQ(Unseen(users_[1], {"v"}, "new"), Items{"v"});
  EXPECT_FALSE(answer_.degraded) << "a collection of later has lost nothing";
  Reopen();
  expect_lossy(users_[1], true);
  const uint32_t window = engine_->Collections().front().policy.window;
  clock_.Advance((window + 1) * 31 * kDayMs);
  Unseen(users_[1], {"v"});
  EXPECT_FALSE(answer_.degraded) << "nothing of that time is read any more";
}

// A copy of the database that went its own way: a collection was made again there, or a policy
// changed. Its word would delete what the other shards hold.
class OwnWayTest : public AttachTest {
 protected:
  Result<std::unique_ptr<Engine>> OpenCopy() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = env_;
    return Engine::Open(dir_ + "/copy", options_, seams);
  }
  void MakeCopies() {
    Put("c", History());
    for (const std::string& user : users_) Play(user, {"v"}, clock_.NowMs() - 40 * kDayMs, "c");
    Drain();
    ASSERT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
    {
      auto copy = OpenCopy();
      ASSERT_TRUE(copy.ok());
      ASSERT_TRUE((*copy)->PutCollection("c", History()).ok());  // changes nothing
      ASSERT_TRUE((*copy)->CheckpointShard(1, dir_ + "/same").ok());
      PolicyPatch shorter;
      shorter.history.days = 5;
      ASSERT_TRUE((*copy)->PutCollection("c", shorter).ok());
      ASSERT_TRUE((*copy)->CheckpointShard(1, dir_ + "/policy").ok());
      ASSERT_TRUE((*copy)->DeleteCollection("c").ok());
      ASSERT_TRUE((*copy)->CheckpointShard(1, dir_ + "/deleted").ok());
      ASSERT_TRUE((*copy)->PutCollection("c", History()).ok());
      ASSERT_TRUE((*copy)->CheckpointShard(1, dir_ + "/again").ok());
      ASSERT_TRUE((*copy)->PutCollection("unknown", {}).ok());
      ASSERT_TRUE((*copy)->CheckpointShard(1, dir_ + "/unknown").ok());
    }
  }
  static PolicyPatch History() {
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.history.days = 300;
    return patch;
  }
  void ExpectOthersWhole() {
    for (const uint32_t shard : {0U, 2U}) {
      EXPECT_EQ(Unseen(users_[shard], {"v", "never"}, "c"), Items{"never"});
      EXPECT_FALSE(answer_.degraded);
      EXPECT_EQ(Play(users_[shard], {"on"}, std::nullopt, "c"), 1U);
    }
  }
};

TEST_F(OwnWayTest, IsRefusedAndChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(MakeCopies());
  for (const char* const name : {"/policy", "/deleted", "/again", "/unknown"}) {
    const Status replaced = engine_->ReplaceShard(1, dir_ + name);
    EXPECT_EQ(replaced.code(), StatusCode::kIncompatible) << name << " " << replaced.ToString();
    EXPECT_EQ(replaced.field(), "/folder");
  }
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  for (const char* const name : {"/policy", "/deleted", "/again", "/unknown"}) {
    const Status attached = engine_->AttachShard(1, dir_ + name);
    EXPECT_EQ(attached.code(), StatusCode::kIncompatible) << name << " " << attached.ToString();
    EXPECT_EQ(attached.field(), "/folder");
    EXPECT_TRUE(IsThere(dir_ + name));
    ExpectOthersWhole();
  }
  RunDue();
  ExpectOk(engine_->AttachShard(1, dir_ + "/same"));
  Reopen();
  ExpectOthersWhole();
  EXPECT_EQ(Unseen(users_[1], {"v", "never"}, "c"), Items{"never"});
}

TEST_F(OwnWayTest, ItsWordHoldsWhereTheCallerSaysSo) {
  ASSERT_NO_FATAL_FAILURE(MakeCopies());
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  ExpectOk(engine_->AttachShard(1, dir_ + "/unknown", {.newer_collections = true}));
  for (const std::string& user : users_) {
    EXPECT_EQ(Unseen(user, {"v"}, "c"), Items{"v"});
    EXPECT_EQ(Play(user, {"w"}, std::nullopt, "unknown"), 1U);
  }
  Reopen();
  for (const std::string& user : users_) EXPECT_EQ(Unseen(user, {"v"}, "c"), Items{"v"});
}

// What it alone knows is told to the others once it is open, not before.
TEST_F(OwnWayTest, NothingIsToldBeforeItIsOpen) {
  engine_.reset();
  MemDisk disk;
  env_ = disk.env();
  Open();
  ASSERT_NO_FATAL_FAILURE(MakeCopies());
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  for (int step = 0; step < 40; ++step) {
    SCOPED_TRACE(step);
    disk.Fail(MemDisk::kWriting, "db/shard-0001/", rocksdb::IOStatus::IOError("EIO"), step);
    const Status attached = engine_->AttachShard(1, dir_ + "/again", {.newer_collections = true});
    disk.Clear();
    if (attached.ok()) break;
    ExpectOthersWhole();
  }
  engine_.reset();
}

TEST_F(AttachTest, WhatDoesNotFitIsRefused) {
  const auto refused = [&](uint32_t shard, const std::string& folder, StatusCode code,
                           const std::string& field) {
    const Status status = engine_->AttachShard(shard, folder);
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(status.field(), field) << status.ToString();
  };
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->CheckpointShard(1, copy).ok());
  refused(1, copy, StatusCode::kIncompatible, "/shard");
  ExpectOk(engine_->DetachShard(2, Detached::kKept));
  refused(3, copy, StatusCode::kInvalidArgument, "/shard");
  refused(2, copy, StatusCode::kIncompatible, "/folder");  // of another shard
  refused(2, dir_ + "/nothing", StatusCode::kInvalidArgument, "/folder");
  refused(2, Path(), StatusCode::kInvalidArgument, "/folder");
  refused(2, Path() + "/shard-0000", StatusCode::kInvalidArgument, "/folder");
  std::filesystem::create_symlink(Place(2) + ".detached", dir_ + "/link");
  refused(2, dir_ + "/link", StatusCode::kInvalidArgument, "/folder");
  std::filesystem::create_directory(dir_ + "/empty");
  EXPECT_FALSE(engine_->AttachShard(2, dir_ + "/empty").ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir_ + "/empty"));
  std::filesystem::create_directory(Place(2));
  refused(2, Place(2) + ".detached", StatusCode::kIncompatible, "/shard");
  std::filesystem::remove(Place(2));
  EXPECT_TRUE(IsThere(copy));
  ExpectOk(engine_->AttachShard(2, Place(2) + ".detached"));
  ExpectSeen(users_[2], {"drained", "staged"});
  EXPECT_EQ(engine_->CheckpointShard(7, dir_ + "/other").status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->DetachShard(7, Detached::kKept).code(), StatusCode::kInvalidArgument);
}

TEST_F(AttachTest, AnotherDatabasesShardIsRefused) {
  const std::string copy = dir_ + "/copy";
  {
    Seams seams;
    seams.clock = &clock_;
    auto other = Engine::Open(dir_ + "/other", options_, seams);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE((*other)->CheckpointShard(1, copy).ok());
  }
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  const Status status = engine_->AttachShard(1, copy);
  EXPECT_EQ(status.code(), StatusCode::kIncompatible) << status.ToString();
  EXPECT_TRUE(IsThere(copy));
}

TEST_F(AttachTest, ALeftoverOfAKilledRemovalGoes) {
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  engine_.reset();
  std::filesystem::rename(Place(1) + ".detached", Place(1) + ".removed");
  options_.owned = std::vector<uint32_t>{0, 2};
  Open();
  EXPECT_FALSE(IsThere(Place(1) + ".removed"));
  ExpectSeen(users_[0], {"drained", "staged"});
}

// A deletion that fails is not in the way of the next, and is tried again.
TEST_F(AttachTest, AFolderThatCannotBeDeletedIsNotInTheWay) {
  engine_.reset();
  MemDisk disk;
  env_ = disk.env();
  Open();
  disk.Fail(MemDisk::kDelete, ".removed", rocksdb::IOStatus::IOError("EIO"), 0, 1);
  ExpectOk(engine_->DetachShard(1, Detached::kRemoved));
  EXPECT_FALSE(disk.Files(".removed").empty());
  disk.Clear();
  ExpectOk(engine_->AttachShard(1, ""));
  ExpectOk(engine_->DetachShard(1, Detached::kRemoved));
  EXPECT_TRUE(disk.Files(".removed").empty());
  ExpectOk(engine_->AttachShard(1, ""));
  disk.Fail(MemDisk::kDelete, ".removed", rocksdb::IOStatus::IOError("EIO"), 0, 1);
  ExpectOk(engine_->DetachShard(1, Detached::kRemoved));
  disk.Clear();
  RunDue();
  EXPECT_TRUE(disk.Files(".removed").empty());
  engine_.reset();
}

// Of a shard whose disk failed, memory alone has what was acknowledged last.
TEST_F(AttachTest, AShardThatTakesNoWritesIsNotReplaced) {
  engine_.reset();
  MemDisk disk;
  env_ = disk.env();
  Open();
  ASSERT_TRUE(engine_->CheckpointShard(1, "/copy").ok());
  Play(users_[1], {"v"});
  disk.Fail(MemDisk::kSync, "shard-0001", rocksdb::IOStatus::IOError("EIO"), 0, 1);
  EXPECT_FALSE(engine_->Sync().ok());
  disk.Clear();
  const Status refused = engine_->ReplaceShard(1, "/copy");
  EXPECT_EQ(refused.code(), StatusCode::kIOError) << refused.ToString();
  ExpectSeen(users_[1], {"v"});
  ExpectOk(engine_->ReplaceShard(1, "/copy", {.former_may_lose = true}));
  EXPECT_EQ(Unseen(users_[1], {"v"}), Items{"v"});
  engine_.reset();
}

// Of a shard whose disk failed, memory has what the folder lacks.
TEST_F(AttachTest, AShardThatTakesNoWritesIsNotKept) {
  engine_.reset();
  MemDisk disk;
  env_ = disk.env();
  Open();
  Play(users_[1], {"v"});
  disk.Fail(MemDisk::kWriting, "shard-0001", rocksdb::IOStatus::IOError("gone"));
  const seendb::Play play{IdRef(users_[1]), IdRef("w")};
  EXPECT_FALSE(engine_->RecordPlays({&play, 1}).ok());
  EXPECT_FALSE(engine_->DetachShard(1, Detached::kKept).ok());
  EXPECT_EQ(engine_->AttachedShards().size(), 3U);
  disk.Clear();
  RunDue();
  ExpectSeen(users_[1], {"v"});
  ExpectOk(engine_->DetachShard(1, Detached::kKept));
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
