// Checkpoints: what is in them, what they leave alone, what they refuse.

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class CheckpointTest : public EngineTest {
 protected:
  CheckpointReport Take(const std::string& name) {
    const Result<CheckpointReport> taken = engine_->Checkpoint(dir_ + "/" + name);
    EXPECT_TRUE(taken.ok()) << taken.status().ToString();
    return taken.ok() ? *taken : CheckpointReport{};
  }
  /// The database is the checkpoint from here on.
  void Restore(const std::string& name) {
    engine_.reset();
    std::filesystem::remove_all(Path());
    std::filesystem::rename(dir_ + "/" + name, Path());
    Open();
  }
  static Items UsersItems(int user) { return Numbered("i" + std::to_string(user) + "-", 20); }
};

TEST_F(CheckpointTest, HoldsAllThatWasAcknowledgedBefore) {
  Open();
  PolicyPatch patch;
  patch.durability = Durability::kNone;
  Put("quick", patch);
  for (int user = 0; user < 50; ++user) {
    Play("u" + std::to_string(user), UsersItems(user), kStartMs - 40 * kDayMs);
    Play("u" + std::to_string(user), {"drained"});
  }
  Drain();
  ASSERT_TRUE(engine_->Seal("default", "2026-01").ok());
  for (int user = 0; user < 50; ++user) {
    Play("u" + std::to_string(user), {"staged"}, std::nullopt, "quick");
    Serve("u" + std::to_string(user), {"served"});
  }
  ASSERT_TRUE(engine_->EraseUser(IdRef("u7")).ok());
  const CheckpointReport report = Take("copy");
  EXPECT_EQ(report.shards, 2u);
  EXPECT_GT(report.files_linked, 0u);
  EXPECT_GT(report.files_copied, 0u);
  EXPECT_LE(report.bytes_copied, report.bytes);
  // What comes later is not in it, and the database does not notice.
  Play("u1", {"later"});
  EXPECT_EQ(Unseen("u1", {"later", "drained", "new"}), Items{"new"});
  Restore("copy");
  for (int user = 0; user < 50; ++user) {
    const std::string name = "u" + std::to_string(user);
    Items asked = UsersItems(user);
    asked.insert(asked.end(), {"drained", "served"});
    if (user == 7) {
      EXPECT_EQ(Unseen(name, asked), asked);
      EXPECT_EQ(Play(name, {"old"}, kStartMs - 1), 0u);
      continue;
    }
    EXPECT_EQ(Unseen(name, asked), Items{});
    EXPECT_EQ(Unseen(name, {"staged", "new"}, "quick"), Items{"new"});
  }
  EXPECT_EQ(Unseen("u1", {"later"}), Items{"later"});
  EXPECT_FALSE(engine_->Stats().degraded);
  const Result<VerifyReport> verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
}

TEST_F(CheckpointTest, IsWholeWhileEverythingGoesOn) {
  options_.background = true;
  options_.slot_ms = 20;
  options_.list_limit = 16;
  Open();
  std::atomic<int> played{0};
  std::atomic<bool> stop{false};
  // Each round's plays fall into another month, so families come and go all the time.
  std::thread writer([&] {
    for (int round = 0; !stop; ++round) {
      const Items items{"r" + std::to_string(round)};
      for (const char* user : {"a", "b", "c", "d"}) {
        const std::vector<seendb::Play> plays{
            {IdRef(user), IdRef(items[0]), kStartMs - (round % 4) * 30 * kDayMs}};
        if (!engine_->RecordPlays(plays).ok()) --round;  // full: again
      }
      played = round + 1;
      if (round % 64 == 63) clock_.Advance(kHourMs);
    }
  });
  std::vector<int> before;
  for (int copy = 0; copy < 8; ++copy) {
    while (played < 40 * (copy + 1)) std::this_thread::yield();
    before.push_back(played);
    Take("copy" + std::to_string(copy));
  }
  stop = true;
  writer.join();
  for (int copy = 0; copy < 8; ++copy) {
    Restore("copy" + std::to_string(copy));
    for (const char* user : {"a", "b", "c", "d"}) {
      EXPECT_EQ(Unseen(user, Numbered("r", before[static_cast<size_t>(copy)])), Items{}) << copy;
    }
  }
}

TEST_F(CheckpointTest, RefusesWhatIsNoNewFolder) {
  Open();
  Play("u", {"i"});
  Take("copy");
  for (const std::string& dir :
       {dir_ + "/copy", Path() + "/inside", Path() + "/shard-0000/x", dir_ + "/absent/copy",
        dir_ + "/copy.tmp", std::string(), std::string("/")}) {
    const Result<CheckpointReport> refused = engine_->Checkpoint(dir);
    ASSERT_FALSE(refused.ok()) << dir;
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << dir;
    EXPECT_EQ(refused.status().field(), "/dir");
  }
  // A slash at the end, and the rest of one that was cut short.
  std::filesystem::create_directories(dir_ + "/again.tmp/shard-0000");
  std::ofstream(dir_ + "/again.tmp/shard-0000/000001.log") << "half";
  std::ofstream(dir_ + "/again.tmp/UNFINISHED") << "";
  Take("again/");
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/again.tmp"));
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/again/UNFINISHED"));
  Options read_only = options_;
  read_only.read_only = true;
  auto reader = Engine::Open(dir_ + "/again", read_only);
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_FALSE(reader.value()->Checkpoint(dir_ + "/third").ok());
}

TEST_F(CheckpointTest, WhatLiesBesideTheShardsIsThereBeforeTheCopyHasItsName) {
  namespace fs = std::filesystem;
  Open();
  Play("u", {"i"});
  const std::string target = dir_ + "/copy";
  const auto failed = engine_->Checkpoint(target, [&](const std::string& folder) {
    EXPECT_FALSE(fs::exists(target));
    EXPECT_TRUE(fs::exists(folder + "/shard-0000/CURRENT"));
    fs::create_directory(folder + "/items");
    return Status::IOError("the disk is full");
  });
  EXPECT_EQ(failed.status().code(), StatusCode::kIOError);
  EXPECT_FALSE(fs::exists(target));
  EXPECT_FALSE(fs::exists(target + ".tmp"));
  const auto made = engine_->Checkpoint(target, [&](const std::string& folder) {
    EXPECT_FALSE(fs::exists(target));
    fs::create_directory(folder + "/items");
    std::ofstream(folder + "/items/row") << "v1";
    return Status();
  });
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_TRUE(fs::exists(target + "/items/row"));
  Restore("copy");
  EXPECT_EQ(Unseen("u", {"i", "new"}), Items{"new"});
}

// RocksDB 7.8's GetAbsolutePath answers a relative path with the current folder.
TEST_F(CheckpointTest, PathsMayBeRelativeOrLeadThroughLinks) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const auto refused = [&](const std::string& target) {
    const Result<CheckpointReport> taken = engine_->Checkpoint(target);
    EXPECT_FALSE(taken.ok()) << target;
    if (taken.ok()) return;
    EXPECT_EQ(taken.status().code(), StatusCode::kInvalidArgument) << target;
    EXPECT_NE(taken.status().message().find("lies inside the database"), std::string_view::npos)
        << target << ": " << taken.status().ToString();
  };
  fs::create_directory_symlink(Path(), dir_ + "/link");
  for (const bool relative_db : {false, true}) {
    fs::current_path(dir_);
    Seams seams;
    seams.clock = &clock_;
    auto opened = Engine::Open(relative_db ? "db" : Path(), options_, seams);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    engine_ = std::move(opened).value();
    const std::string name = relative_db ? "r" : "a";
    Take(name + "1");
    const Result<CheckpointReport> taken = engine_->Checkpoint(name + "2");
    EXPECT_TRUE(taken.ok()) << taken.status().ToString();
    EXPECT_TRUE(fs::exists(dir_ + "/" + name + "2/SEENDB"));
    refused("db/copy");
    refused("./db/../db/copy");
    refused("link/copy");
    refused(dir_ + "/link/shard-0000/copy");
    fs::current_path(Path());
    refused("copy");
    EXPECT_TRUE(engine_->Checkpoint("../" + name + "3").ok());
    EXPECT_FALSE(fs::exists(Path() + "/copy"));
    for (const std::string& target : {std::string("."), std::string(".."), dir_ + "/a/.."}) {
      EXPECT_EQ(engine_->Checkpoint(target).status().code(), StatusCode::kInvalidArgument);
    }
    engine_.reset();
  }
  fs::current_path(before);
}

// Only a folder that a checkpoint began is removed, and no link is followed.
TEST_F(CheckpointTest, LeavesAloneWhatIsNotItsOwn) {
  namespace fs = std::filesystem;
  Open();
  Play("u", {"i"});
  fs::create_directories(dir_ + "/precious/inner");
  std::ofstream(dir_ + "/precious/file") << "kept";
  std::ofstream(dir_ + "/precious/UNFINISHED") << "";  // not even then, behind a link
  fs::create_directory(dir_ + "/folder.tmp");
  std::ofstream(dir_ + "/folder.tmp/file") << "kept";
  fs::create_directory(dir_ + "/empty.tmp");
  fs::create_directory_symlink(dir_ + "/precious", dir_ + "/link.tmp");
  fs::create_symlink(dir_ + "/nowhere", dir_ + "/dangling.tmp");
  std::ofstream(dir_ + "/plain.tmp") << "kept";
  for (const char* name : {"folder", "link", "dangling", "plain"}) {
    const Result<CheckpointReport> refused = engine_->Checkpoint(dir_ + "/" + name);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.status().code(), StatusCode::kIncompatible) << refused.status().ToString();
    EXPECT_EQ(refused.status().field(), "/dir");
    EXPECT_NE(fs::symlink_status(dir_ + "/" + name + ".tmp").type(), fs::file_type::not_found);
    EXPECT_FALSE(fs::exists(dir_ + "/" + name));
  }
  EXPECT_TRUE(fs::exists(dir_ + "/folder.tmp/file"));
  // A checkpoint that was killed before it wrote its mark left nothing.
  EXPECT_TRUE(engine_->Checkpoint(dir_ + "/empty").ok());
  // A target that is a link, even to nowhere, is there already.
  fs::create_symlink(dir_ + "/nowhere", dir_ + "/taken");
  EXPECT_EQ(engine_->Checkpoint(dir_ + "/taken").status().code(), StatusCode::kInvalidArgument);
  // Links inside a folder of ours go, what they lead to stays.
  fs::create_directories(dir_ + "/ours.tmp/shard-0000");
  std::ofstream(dir_ + "/ours.tmp/UNFINISHED") << "";
  fs::create_directory_symlink(dir_ + "/precious", dir_ + "/ours.tmp/shard-0000/inner");
  fs::create_directory_symlink(dir_ + "/precious", dir_ + "/ours.tmp/shard-0001");
  Take("ours");
  EXPECT_TRUE(fs::exists(dir_ + "/precious/file"));
  EXPECT_TRUE(fs::exists(dir_ + "/precious/inner"));
}

TEST_F(CheckpointTest, OfACheckpointIsTheSameDatabase) {
  Open();
  Play("u", {"i"});
  Take("one");
  Restore("one");
  Play("u", {"j"});
  Take("two");
  Restore("two");
  EXPECT_EQ(Unseen("u", {"i", "j", "k"}), Items{"k"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
