// A change of a collection that only one shard has heard of. As long as that shard can't be asked,
// the file COLLECTIONS says that a shard may know more: an opening then asks all shards before the
// first one answers.

#include <algorithm>
#include <future>
#include <string>

#include "store/collections_file.h"
#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using rocksdb::IOStatus;

class UntoldChangeTest : public EngineTest {
 protected:
  // Shard 0 has heard that "c" has another policy; shard 1 failed, and takes no writes.
  void SetUp() override {
    env_ = disk_.env();
    Open();
    Put("c", {});
    Put("other", {});
    disk_.Fail(MemDisk::kAppend, "shard-0001*.log", IOStatus::IOError("EIO"), 0, 1);
    PolicyPatch patch;
    patch.retention = kNew;
    ASSERT_EQ(engine_->PutCollection("c", patch).code(), StatusCode::kIOError);
    ASSERT_TRUE(IsAnnounced());
  }
  void TearDown() override { engine_.reset(); }

  bool IsAnnounced() {
    bool changing = false;
    EXPECT_TRUE(ReadCollections(disk_.env(), Path(), &changing).ok());
    return changing;
  }
  uint32_t Retention() {
    for (const CollectionInfo& info : engine_->Collections()) {
      if (info.name == "c") return info.policy.retention;
    }
    return 0;
  }
  void Kill() {
    disk_.Crash();
    engine_.reset();
    disk_.Revive();
    disk_.Clear();
  }
  // Before the first shard answers, the change is known.
  void ExpectKnownBeforeAnyShardAnswers() {
    options_.open_later = true;
    Open();
    EXPECT_TRUE(engine_->AttachedShards().empty());
    EXPECT_EQ(Retention(), kNew);
    const Status finished = engine_->FinishOpening();
    ASSERT_TRUE(finished.ok()) << finished.ToString();
    EXPECT_EQ(Retention(), kNew);
    EXPECT_FALSE(IsAnnounced()) << "all have told";
  }

  static constexpr uint32_t kNew = 17;
  MemDisk disk_;
};

TEST_F(UntoldChangeTest, OfAShardThatCannotBeReadMayBeKnownToIt) {
  disk_.Fail(MemDisk::kAppend, "shard-0000*.log", IOStatus::IOError("EIO"), 0, 1);
  const Items users = Numbered("u", 20);
  const auto user = std::find_if(users.begin(), users.end(), [this](const std::string& one) {
    return engine_->ShardOf(IdRef(one)) == 0;
  });
  ASSERT_NE(user, users.end());
  const seendb::Play play{IdRef(*user), IdRef("v")};
  ASSERT_FALSE(engine_->RecordPlays({&play, 1}).ok());
  disk_.Fail(MemDisk::kReading, "shard-0000/MANIFEST", IOStatus::IOError("gone"));
  EXPECT_FALSE(engine_->RunDue().ok()) << "shard 0 is not readable";
  EXPECT_TRUE(IsAnnounced());
  Kill();
  ExpectKnownBeforeAnyShardAnswers();
}

TEST_F(UntoldChangeTest, OfAShardThatIsNotOpenedMayBeKnownToIt) {
  Kill();
  options_.owned = {1};
  Open();
  EXPECT_TRUE(IsAnnounced());
  PolicyPatch patch;
  patch.retention = 9;
  Put("other", patch);
  EXPECT_TRUE(IsAnnounced()) << "that change is over, the one of before is not";
  engine_.reset();
  options_.owned.reset();
  ExpectKnownBeforeAnyShardAnswers();
}

// Who detaches a shard takes from it what it alone knows: it may come back much later.
TEST_F(UntoldChangeTest, IsAskedOfAShardBeforeItIsDetached) {
  const Status detached = engine_->DetachShard(0, Detached::kKept);
  ASSERT_TRUE(detached.ok()) << detached.ToString();
  RunDue();  // heals shard 1
  EXPECT_EQ(Retention(), kNew);
  EXPECT_FALSE(IsAnnounced());
  const Status attached = engine_->AttachShard(0, Path() + "/shard-0000.detached");
  ASSERT_TRUE(attached.ok()) << attached.ToString();
  EXPECT_EQ(Retention(), kNew);
}

// A deletion comes right after the failed shard was opened anew, before the change was settled.
TEST_F(UntoldChangeTest, IsNotOverForTheDeletionOfAnotherCollection) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Hold hold("heal: opened anew");
  std::future<Status> due = std::async(std::launch::async, [this] { return engine_->RunDue(); });
  ASSERT_TRUE(hold.WaitReached());
  const Status deleted = engine_->DeleteCollection("other");
  EXPECT_TRUE(deleted.ok()) << deleted.ToString();
  disk_.Crash();
  hold.Release();
  static_cast<void>(due.get());  // of a process that was killed
  Kill();
  ExpectKnownBeforeAnyShardAnswers();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
