// A database's folder is locked once, whatever the spelling of its path, and stays locked until the
// engine lets go of it; versions that lock by RocksDB's Env see the lock and are seen.

#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <rocksdb/env.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

class FolderLockTest : public EngineTest {
 protected:
  Status TryOpenAt(const std::string& path) {
    Seams seams;
    seams.clock = &clock_;
    const auto opened = Engine::Open(path, options_, seams);
    return opened.status();
  }
  // Runs in another process; whether it answered true.
  static bool Elsewhere(const std::function<bool()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work() ? 0 : 1);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  bool BusyElsewhere() {
    return Elsewhere([&] {
      const Status refused = TryOpenAt(Path());
      return refused.code() == StatusCode::kBusy &&
             refused.message().find("open in another process") != std::string_view::npos;
    });
  }
  /// As every version does that locks by RocksDB's Env, without the list of this process's locks
  /// that the Env keeps and a child inherits.
  bool OldWayLocksElsewhere() {
    return Elsewhere([&] {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      return fcntl(open((Path() + "/LOCK").c_str(), O_RDWR), F_SETLK, &lock) == 0;
    });
  }
};

TEST_F(FolderLockTest, AnotherSpellingFindsItOpenInThisProcess) {
  Open();
  Play("u", {"first"});
  fs::create_directory_symlink(Path(), dir_ + "/link");
  fs::create_directory_symlink(dir_, dir_ + "/up");
  for (const std::string& path : {Path(), dir_ + "/./db", Path() + "/", dir_ + "/db/../db",
                                  dir_ + "/link", dir_ + "/up/db", Path() + "/shard-0000/.."}) {
    const Status refused = TryOpenAt(path);
    EXPECT_EQ(refused.code(), StatusCode::kBusy) << path;
    EXPECT_NE(refused.message().find("already open in this process"), std::string_view::npos)
        << path << ": " << refused.ToString();
    EXPECT_TRUE(BusyElsewhere()) << "after the refusal of " << path;
    EXPECT_FALSE(OldWayLocksElsewhere()) << "after the refusal of " << path;
  }
  Play("u", {"second"});
  Reopen();
  EXPECT_EQ(Unseen("u", {"first", "second", "third"}), Items{"third"});
}

TEST_F(FolderLockTest, ClosingAnotherDescriptorKeepsTheLock) {
  Open();
  const int file = open((Path() + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  close(file);
  EXPECT_FALSE(OldWayLocksElsewhere());
  EXPECT_TRUE(BusyElsewhere());
  ASSERT_TRUE(engine_->Close().ok());
  EXPECT_TRUE(OldWayLocksElsewhere());
  EXPECT_TRUE(Elsewhere([&] { return TryOpenAt(Path()).ok(); }));
}

TEST_F(FolderLockTest, ALockTakenByTheEnvElsewhereIsRespected) {
  Open();
  engine_.reset();
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    rocksdb::FileLock* lock = nullptr;
    const char locked = rocksdb::Env::Default()->LockFile(Path() + "/LOCK", &lock).ok() ? 1 : 0;
    char byte = 0;
    if (write(ready[1], &locked, 1) != 1 || read(done[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  char locked = 0;
  ASSERT_EQ(read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 1);
  const Status refused = TryOpenAt(Path());
  EXPECT_EQ(refused.code(), StatusCode::kBusy);
  EXPECT_NE(refused.message().find("open in another process"), std::string_view::npos)
      << refused.ToString();
  close(done[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(TryOpenAt(Path()).ok());
}

TEST_F(FolderLockTest, AForkedChildThatEndsKeepsTheParentsLock) {
  Open();
  EXPECT_TRUE(Elsewhere([&] {
    engine_.reset();
    return true;
  }));
  EXPECT_TRUE(BusyElsewhere());
  EXPECT_FALSE(OldWayLocksElsewhere());
}

TEST_F(FolderLockTest, ARelativePathOutlivesAChangeOfTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  Seams seams;
  seams.clock = &clock_;
  auto opened = Engine::Open("db", options_, seams);
  fs::current_path("/");
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  engine_ = std::move(opened).value();
  Play("u", {"i"});
  Drain();
  EXPECT_TRUE(engine_->Compact().ok());
  EXPECT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
  ASSERT_TRUE(engine_->Close().ok());
  Reopen();
  EXPECT_EQ(Unseen("u", {"i", "j"}), Items{"j"});
  EXPECT_FALSE(fs::exists("/db"));
  fs::current_path(before);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
