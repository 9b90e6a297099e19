// A process that is killed while it applies updates: the store has all that was acknowledged, and
// opens again, several times over.

#include <csignal>
#include <cstdint>

#include <sys/wait.h>
#include <unistd.h>

#include "items/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ItemKillTest = StoreTest;

constexpr uint64_t kIds = 50;

/// Applies version after version, of many items each, and writes each that was acknowledged to
/// `out`, until it is killed.
[[noreturn]] void ApplyUntilKilled(const std::string& path, uint64_t version, int out) {
  ItemStoreOptions options;
  options.bytes = uint64_t{64} << 20;
  auto store = ItemStore::Open(path, options);
  if (!store.ok()) _exit(1);
  for (;; ++version) {
    std::vector<std::string> names;
    for (uint64_t i = 0; i < kIds; ++i) names.push_back("v" + std::to_string(i));
    std::vector<ItemUpdate> updates;
    for (const std::string& name : names) {
      updates.push_back(
          SetFields(name.c_str(), version, {{"published_at", static_cast<int64_t>(version)}}));
    }
    const ItemSource source{"items", 3, static_cast<int64_t>(version), -1};
    if (!(*store)->ApplyFrom(updates, {&source, 1}).ok()) _exit(2);
    if (write(out, &version, sizeof(version)) != sizeof(version)) _exit(3);
  }
}

TEST_F(ItemKillTest, KeepsWhatWasAcknowledged) {
  OpenWithSchema();
  store_.reset();
  uint64_t acknowledged = 0;
  for (int round = 0; round < 4; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      ApplyUntilKilled(Path(), acknowledged + 1, ends[1]);
    }
    close(ends[1]);
    uint64_t version = 0;
    const uint64_t until = acknowledged + 20 + static_cast<uint64_t>(round) * 7;
    while (read(ends[0], &version, sizeof(version)) == sizeof(version)) {
      acknowledged = version;
      if (version == until) kill(child, SIGKILL);
    }
    int ended = 0;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    ASSERT_TRUE(WIFSIGNALED(ended)) << WEXITSTATUS(ended);
    close(ends[0]);
    Open();
    uint64_t first = 0;
    for (uint64_t i = 0; i < kIds; ++i) {
      const Item item = Get(("v" + std::to_string(i)).c_str());
      if (i == 0) first = item.version;
      ASSERT_GE(item.version, acknowledged);
      ASSERT_EQ(item.version, first);  // a call is written whole
      ASSERT_EQ(item.fields.at(0).value, ItemValue(static_cast<int64_t>(item.version)));
    }
    // Offsets and items are of one call: neither is ahead of the other.
    EXPECT_EQ(*store_->Sources(),
              (std::vector<ItemSource>{{"items", 3, static_cast<int64_t>(first), -1}}));
    acknowledged = first;
    store_.reset();
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
