// tests/engine/faults/attach_faults.h: a database of two shards on a disk in memory, one of which
// comes and goes while the disk fails.

#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/faults/io_faults.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb {

inline const std::string kPlace = kPath + "/shard-0001";
inline const std::string kKept = kPlace + ".detached";
inline const std::string kRemoved = kPlace + ".removed";
inline const std::string kReplaced = kPlace + ".replaced";

class AttachFaultTest : public ::testing::Test {
 protected:
  AttachFaultTest() : clock_(kStartMs) {
    options_.background = false;
    options_.shards = 2;
    options_.block_cache_bytes = 1 << 20;
    options_.write_buffer_bytes = 1 << 20;
  }

  // Both shards attached, with plays in tables and in the ring.
  void SetUp() override {
    disk_ = std::make_unique<MemDisk>();
    MakeDatabase();
  }
  void MakeDatabase() {
    ASSERT_TRUE(Open().ok());
    for (uint32_t shard = 0; shard < 2; ++shard) {
      users_.push_back(UserOf(shard));
      Play(shard, "drained");
    }
    ASSERT_TRUE(engine_->Drain().ok());
    for (uint32_t shard = 0; shard < 2; ++shard) Play(shard, "staged");
    ASSERT_TRUE(engine_->Sync().ok());
  }

  Status Open() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk_->env();
    auto opened = Engine::Open(kPath, options_, seams);
    if (opened.ok()) engine_ = std::move(opened).value();
    return opened.status();
  }
  std::string UserOf(uint32_t shard) {
    for (int i = 0;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard) return user;
    }
  }
  void Play(uint32_t shard, const std::string& item) {
    const seendb::Play play{IdRef(users_[shard]), IdRef(item)};
    ASSERT_TRUE(engine_->RecordPlays({&play, 1}).ok());
  }
  FilterResponse Ask(uint32_t shard, std::span<const IdRef> items) {
    FilterRequest request;
    request.user = IdRef(users_[shard]);
    request.items = items;
    FilterResponse answer;
    const Status asked = engine_->Filter(request, &answer);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    return answer;
  }
  void ExpectWhole(uint32_t shard) {
    const IdRef items[] = {IdRef("drained"), IdRef("staged"), IdRef("never")};
    const FilterResponse answer = Ask(shard, items);
    EXPECT_FALSE(answer.degraded) << ::testing::PrintToString(answer.missing);
    EXPECT_EQ(answer.unseen, std::vector<uint32_t>{2}) << "shard " << shard;
  }
  void ExpectSeen(uint32_t shard, const std::string& item) {
    const IdRef items[] = {IdRef(item)};
    const FilterResponse answer = Ask(shard, items);
    EXPECT_EQ(answer.examined, 1U);
    EXPECT_TRUE(answer.unseen.empty()) << item;
  }
  bool IsAttached(uint32_t shard) {
    const std::vector<uint32_t> attached = engine_->AttachedShards();
    return std::count(attached.begin(), attached.end(), shard) > 0;
  }
  bool IsThere(const std::string& path) { return disk_->env()->FileExists(path).ok(); }
  // Opens what is there of the database.
  void OpenWhatIsThere() {
    options_.owned.reset();
    if (!IsThere(kPlace) && !IsThere(kReplaced)) options_.owned = std::vector<uint32_t>{0};
    const Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }

  // The shard is detached and lies in `folder`, the process has ended.
  void Detach(const std::string& folder) {
    ASSERT_TRUE(engine_->DetachShard(1, Detached::kKept).ok());
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    if (folder == kKept) return;
    ASSERT_TRUE(disk_->env()->RenameFile(kKept, folder).ok());
    for (const std::string& parent : {kPath, std::string("/data")}) {
      std::unique_ptr<rocksdb::Directory> names;
      ASSERT_TRUE(disk_->env()->NewDirectory(parent, &names).ok());
      ASSERT_TRUE(names->Fsync().ok());
    }
  }

  ManualClock clock_;
  Options options_;
  std::unique_ptr<MemDisk> base_, disk_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> users_;
};

}  // namespace seendb
