// A process that is killed while it replaces a set: the store has the one that was acknowledged
// last, or the one under way, whole.

#include <csignal>
#include <cstdint>

#include <sys/wait.h>
#include <unistd.h>

#include "sets/piece_codec.h"
#include "sets/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using SetKillTest = SetStoreTest;

constexpr size_t kIds = 2 * sets::kPieceItems + 1;

/// The ids of a version all begin with its number.
std::vector<std::string> IdsOfVersion(uint64_t version) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < kIds; ++i)
    ids.push_back(std::to_string(version) + "-" + std::to_string(i));
  return ids;
}

/// Puts version after version, and writes each that was acknowledged to `out`, until it is killed.
[[noreturn]] void PutUntilKilled(const std::string& path, uint64_t version, int out) {
  auto store = SetStore::Open(path, {});
  if (!store.ok()) _exit(1);
  for (;; ++version) {
    const std::vector<std::string> ids = IdsOfVersion(version);
    if (!(*store)->Put("a", std::vector<IdRef>(ids.begin(), ids.end())).ok()) _exit(2);
    if (write(out, &version, sizeof(version)) != sizeof(version)) _exit(3);
  }
}

TEST_F(SetKillTest, KeepsTheFormerSetOrTheNewOneWhole) {
  uint64_t acknowledged = 0;
  for (int round = 0; round < 4; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      PutUntilKilled(Path(), acknowledged + 1, ends[1]);
    }
    close(ends[1]);
    uint64_t version = 0;
    const uint64_t until = acknowledged + 5 + static_cast<uint64_t>(round) * 3;
    while (read(ends[0], &version, sizeof(version)) == sizeof(version)) {
      acknowledged = version;
      if (version == until) kill(child, SIGKILL);
    }
    int ended = 0;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    ASSERT_TRUE(WIFSIGNALED(ended)) << "the child ended by itself: " << ended;
    close(ends[0]);
    Open();
    auto page = store_->Read("a", "", kMaxSetPage);
    ASSERT_TRUE(page.ok()) << page.status().ToString();
    EXPECT_FALSE(page->info.damaged);
    ASSERT_EQ(page->items.size(), kIds);
    const uint64_t found = std::stoull(page->items.front());
    EXPECT_TRUE(found == acknowledged || found == acknowledged + 1) << found;
    const std::string prefix = std::to_string(found) + "-";
    for (const std::string& id : page->items) ASSERT_TRUE(id.starts_with(prefix)) << id;
    acknowledged = found;
    store_.reset();
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
