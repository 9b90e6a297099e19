// What is refused when a database is opened, naming the difference, and what is accepted; closing;
// reading beside a writer.

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/files.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class OpeningTest : public EngineTest {
 protected:
  OpeningTest() { options_.shards = 2; }

  Result<std::unique_ptr<Engine>> TryOpen() { return TryOpen(options_); }
  Result<std::unique_ptr<Engine>> TryOpen(const Options& options) {
    Seams seams;
    seams.clock = &clock_;
    return Engine::Open(Path(), options, seams);
  }
  // Expects the opening to be refused with `code`, its message containing `part`.
  void ExpectRefused(StatusCode code, const std::string& part) {
    const auto opened = TryOpen();
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.status().code(), code) << opened.status().ToString();
    EXPECT_NE(opened.status().ToString().find(part), std::string::npos)
        << opened.status().ToString() << " does not say " << part;
  }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  void MakeDatabase() {
    Open();
    for (int i = 0; i < 20; ++i) Play("u" + std::to_string(i), {"v"});
    Drain();
    for (int i = 0; i < 20; ++i) Play("u" + std::to_string(i), {"staged"});
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
  void ExpectAllThere() {
    Open();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(Unseen("u" + std::to_string(i), {"v", "staged", "other"}), Items{"other"});
    }
  }
};

TEST_F(OpeningTest, TheIdentityIsChecked) {
  options_.create_if_missing = false;
  ExpectRefused(StatusCode::kNotFound, "no database");
  options_.create_if_missing = true;
  MakeDatabase();
  const std::string file = Path() + "/SEENDB";
  const std::string sound = Read(file);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = sound;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << sound;
    changed.replace(at, from.size(), to);
    Write(file, changed);
  };
  with("\"format\": 2", "\"format\": 3");
  ExpectRefused(StatusCode::kIncompatible, "format 3");
  with("\"hash\": 2", "\"hash\": 7");
  ExpectRefused(StatusCode::kIncompatible, "hash is 7");
  with("seendb.seen.v1", "seendb.seen.v9");
  ExpectRefused(StatusCode::kIncompatible, "seendb.seen.v9");
  with("seendb.users.v1", "other.users");
  ExpectRefused(StatusCode::kIncompatible, "merge operator of users is other.users");
  Write(file, "{\"format\": 1");
  ExpectRefused(StatusCode::kCorruption, "SEENDB");
  Write(file, "");
  ExpectRefused(StatusCode::kCorruption, "SEENDB");
  std::filesystem::remove(file);
  ExpectRefused(StatusCode::kCorruption, "SEENDB is missing");
  Write(file, sound);
  options_.shards = 5;
  ExpectRefused(StatusCode::kIncompatible, "has 2 shards, asked for 5");
  options_.shards = 0;
  ExpectAllThere();
  EXPECT_EQ(engine_->Stats().shards, 2u) << "adopted";
}

TEST_F(OpeningTest, ShardsOfOthersAndMissingOnesAreNamed) {
  MakeDatabase();
  const std::string first = ShardPath(Path(), 0), second = ShardPath(Path(), 1);
  const std::string aside = dir_ + "/aside";
  std::filesystem::rename(second, aside);
  ExpectRefused(StatusCode::kCorruption, "shard-0001");
  EXPECT_FALSE(std::filesystem::exists(second + "/CURRENT")) << "and nothing was made up";
  // Shard 0 in the place of shard 1.
  std::filesystem::remove_all(second);
  std::filesystem::copy(first, second, std::filesystem::copy_options::recursive);
  ExpectRefused(StatusCode::kIncompatible, "holds shard 0 of 2");
  // A shard of another database.
  std::filesystem::remove_all(second);
  const std::string mine = Path();
  const std::string here = dir_;
  dir_ = here + "/other";
  std::filesystem::create_directory(dir_);
  MakeDatabase();
  std::filesystem::rename(ShardPath(Path(), 1), second);
  dir_ = here;
  ASSERT_EQ(Path(), mine);
  ExpectRefused(StatusCode::kIncompatible, "belongs to another database");
  std::filesystem::remove_all(second);
  std::filesystem::rename(aside, second);
  ExpectAllThere();
}

// An operator under another name, a family nobody knows: refused, not misread.
TEST_F(OpeningTest, ForeignFamiliesAreRefused) {
  MakeDatabase();
  {
    RawShard shard(Path(), 1);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(shard.db()->CreateColumnFamily({}, "strange", &handle).ok());
    ASSERT_TRUE(shard.db()->DestroyColumnFamilyHandle(handle).ok());
  }
  ExpectRefused(StatusCode::kIncompatible, "unknown column family strange");
}

TEST_F(OpeningTest, ASecondProcessIsRefusedAndTheFirstGoesOn) {
  Open();
  Play("u1", {"a"});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Another process: no test framework, no cleaning up.
    const auto opened = TryOpen();
    _exit(!opened.ok() && opened.status().code() == StatusCode::kBusy ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ExpectRefused(StatusCode::kBusy, "already open in this process");
  EXPECT_EQ(Unseen("u1", {"a", "b"}), Items{"b"});
  ASSERT_TRUE(engine_->Close().ok());
  const auto opened = TryOpen();
  EXPECT_TRUE(opened.ok()) << opened.status().ToString();
}

// Not another process has it: the file system refuses.
TEST_F(OpeningTest, ALockThatCantBeOpenedSaysWhy) {
  MakeDatabase();
  const std::string lock = Path() + "/LOCK";
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  ExpectRefused(StatusCode::kIOError, lock + " can't be opened");
  ExpectRefused(StatusCode::kIOError, "Is a directory");
  std::filesystem::remove(lock);
  std::filesystem::create_symlink(dir_ + "/nowhere/LOCK", lock);
  ExpectRefused(StatusCode::kIOError, "No such file or directory");
  std::filesystem::remove(lock);
  Write(lock, "");
  for (const std::string& path : {dir_, Path()}) ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  ASSERT_EQ(chmod(lock.c_str(), 0444), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // who may read and not write
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    const Status refused = TryOpen().status();
    const bool said = refused.code() == StatusCode::kIOError &&
                      refused.message().find("Permission denied") != std::string::npos;
    _exit(said ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove(lock);
  ExpectAllThere();
}

TEST_F(OpeningTest, ClosedIsClosed) {
  MakeDatabase();
  Open();
  const uint32_t shard = engine_->ShardOf(IdRef("u7"));
  EXPECT_TRUE(engine_->Close().ok());
  EXPECT_TRUE(engine_->Close().ok()) << "twice is once";
  const seendb::Play play{IdRef("u1"), IdRef("v")};
  EXPECT_EQ(engine_->RecordPlays({&play, 1}).status().code(), StatusCode::kClosed);
  FilterRequest request;
  request.user = IdRef("u1");
  EXPECT_EQ(engine_->Filter(request, &answer_).code(), StatusCode::kClosed);
  EXPECT_EQ(engine_->Inspect(IdRef("u1")).status().code(), StatusCode::kClosed);
  EXPECT_EQ(engine_->EraseUser(IdRef("u1")).code(), StatusCode::kClosed);
  EXPECT_EQ(engine_->PutCollection("c", {}).code(), StatusCode::kClosed);
  for (const auto work : {&Engine::Drain, &Engine::SealClosed, &Engine::DropExpired,
                          &Engine::Compact, &Engine::Sync, &Engine::RunDue}) {
    EXPECT_EQ((engine_.get()->*work)().code(), StatusCode::kClosed);
  }
  EXPECT_EQ(engine_->Seal("default", "2026-03").code(), StatusCode::kClosed);
  EXPECT_EQ(engine_->Verify().status().code(), StatusCode::kClosed);
  EXPECT_TRUE(engine_->Buckets().empty());
  EXPECT_TRUE(engine_->Ring().empty());
  EXPECT_EQ(engine_->Stats().shards, 0u);
  EXPECT_EQ(engine_->ShardOf(IdRef("u7")), shard);
  engine_.reset();
  ExpectAllThere();
}

// The log lost a part that SYNCED says was synced: refused, unless told to go on without.
TEST_F(OpeningTest, ASyncedLogThatIsCutShortIsRefused) {
  options_.shards = 1;
  Open();
  for (int i = 0; i < 50; ++i) Play("u1", {"v" + std::to_string(i)});
  ASSERT_TRUE(engine_->Sync().ok());
  // As a power loss, or a disk, might leave it: the folder copied, the newest log cut.
  const std::string living = Path();
  const std::string here = dir_;
  dir_ = here + "/cut";
  std::filesystem::create_directory(dir_);
  std::filesystem::copy(living, Path(), std::filesystem::copy_options::recursive);
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(ShardPath(Path(), 0))) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) {
      newest = std::max(newest, entry.path().string());
    }
  }
  ASSERT_FALSE(newest.empty());
  const uint64_t size = std::filesystem::file_size(newest);
  std::filesystem::resize_file(newest, size - size / 4);
  ExpectRefused(StatusCode::kCorruption, "synced up to");
  ExpectRefused(StatusCode::kCorruption, ".log");
  Options damaged = options_;
  damaged.open_damaged = true;
  auto opened = TryOpen(damaged);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  engine_.swap(*opened);
  EXPECT_TRUE(engine_->Stats().degraded);
  EXPECT_FALSE(engine_->Stats().problems.empty());
  const size_t unseen = Unseen("u1", Numbered("v", 50)).size();
  EXPECT_GT(unseen, 0u) << "the cut part is gone";
  EXPECT_LT(unseen, 50u) << "what came before is there";
  EXPECT_EQ(Play("u1", {"on"}), 1u);
  ASSERT_TRUE(engine_->Close().ok());
  engine_.swap(*opened);
  opened = TryOpen();
  ASSERT_TRUE(opened.ok()) << "what was accepted once is the truth now: "
                           << opened.status().ToString();
  engine_.swap(*opened);
  EXPECT_EQ(Unseen("u1", {"on"}), Items{});
  engine_.swap(*opened);
  opened = Status::NotFound("closed");
  dir_ = here;
  EXPECT_EQ(Unseen("u1", Numbered("v", 50)), Items{}) << "the living one lacks nothing";
}

// A log that merely ends in the middle of an unsynced record opens as it is.
TEST_F(OpeningTest, ATornTailThatWasNeverSyncedOpens) {
  options_.shards = 1;
  Open();
  Play("u1", {"synced"});
  ASSERT_TRUE(engine_->Sync().ok());
  Play("u1", {"torn"});
  const std::string copy = dir_ + "/copy";
  std::filesystem::copy(Path(), copy, std::filesystem::copy_options::recursive);
  engine_.reset();
  std::filesystem::remove_all(Path());
  std::filesystem::rename(copy, Path());
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(ShardPath(Path(), 0))) {
    if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
  }
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 3);
  Open();
  EXPECT_EQ(Unseen("u1", {"synced", "torn"}), Items{"torn"});
}

// Readers open beside a writer that records, syncs, drains, seals: never a failure, never a play
// missing that was acknowledged before the opening began.
TEST_F(OpeningTest, ReadersBesideABusyWriter) {
  options_.ring_slots = 3;
  Open();
  std::atomic<bool> stop{false};
  std::atomic<int> acknowledged{0};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const std::string item = "v" + std::to_string(i);
      const seendb::Play play{IdRef("u1"), IdRef(item)};
      if (engine_->RecordPlays({&play, 1}).ok()) acknowledged = i + 1;
      if (i % 5 == 0) {
        EXPECT_TRUE(engine_->Sync().ok());
      }
      if (i % 40 == 0) {
        EXPECT_TRUE(engine_->Drain().ok());
      }
      if (i % 100 == 0) {
        EXPECT_TRUE(engine_->Seal("default", "2026-03").ok());
      }
    }
  });
  Options reading = options_;
  reading.read_only = true;
  const auto begin = std::chrono::steady_clock::now();
  int openings = 0;
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(2)) {
    const int before = acknowledged;
    auto reader = TryOpen(reading);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    const Items asked = Numbered("v", before);
    std::vector<IdRef> ids(asked.begin(), asked.end());
    FilterRequest request;
    request.user = IdRef("u1");
    request.items = ids;
    FilterResponse answer;
    ASSERT_TRUE((*reader)->Filter(request, &answer).ok());
    EXPECT_TRUE(answer.unseen.empty()) << answer.unseen.size() << " of " << before << " missing";
    ++openings;
  }
  stop = true;
  writer.join();
  EXPECT_GT(openings, 0);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
