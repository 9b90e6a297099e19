// FILES: read as it was written, and refused whole where a line of it makes no sense, even under a
// checksum that holds.

#include "store/inventory.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "format/bytes.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::optional<Inventory> Read(std::string text) {
  char sum[32];
  std::snprintf(sum, sizeof(sum), "sum %016llx\n",
                static_cast<unsigned long long>(HashBytes(text)));
  return Inventory::FromText(text + sum);
}

constexpr char kHead[] = "seendb files 1\nmanifest MANIFEST-000005 100\n";

TEST(InventoryTest, RoundTrip) {
  Inventory inventory;
  inventory.manifest = "MANIFEST-000005";
  inventory.manifest_bytes = 100;
  inventory.logs = {7, 9, 12};
  inventory.log_bytes = {{7, 0}, {9, 5000}};
  inventory.sums = {{"IDENTITY", 1}, {"OPTIONS-000008", ~uint64_t{0}}};
  inventory.families = {{0, "default"}, {3, "seen/default/2026-03"}};
  inventory.policies = {{"default", R"({"bucket":"month", "window":4})"}};
  EXPECT_EQ(Inventory::FromText(inventory.ToText()), inventory);
}

TEST(InventoryTest, LinesWithoutSenseAreRefused) {
  const std::string head = kHead;
  ASSERT_TRUE(Read(head + "log 7\nlog 9 100\n"));
  EXPECT_EQ(Read(head + "log 7\n")->log_bytes.size(), 0u);
  for (const std::string line :
       {"log", "log ", "log x", "log -", "log 7 x", "log 99999999999999999999", "manifest",
        "manifest MANIFEST-000005", "file", "file xyz name", "family", "family x default",
        "family 3", "policy"}) {
    EXPECT_FALSE(Read(head + line + "\n")) << line;
  }
  EXPECT_FALSE(Read("seendb files 1\nlog 7\n")) << "no MANIFEST";
  EXPECT_FALSE(Read("seendb files 12\nmanifest MANIFEST-000005 100\n")) << "another version";
  EXPECT_FALSE(Inventory::FromText(head)) << "no checksum";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
