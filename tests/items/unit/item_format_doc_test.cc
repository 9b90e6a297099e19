// engine/doc/item-format.md says what the golden files say: every block that is marked ```hex NAME
// is the file of that name in tests/golden/items.

#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "format/unit/format_testing.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

TEST(ItemFormatDoc, ItsBlocksAreTheGoldenBytes) {
  std::istringstream lines(test::ReadProjectFile("engine/doc/item-format.md"));
  std::string line, name, block;
  std::set<std::string> shown;
  while (std::getline(lines, line)) {
    if (line.starts_with("```hex ")) {
      name = line.substr(7);
      block.clear();
    } else if (line == "```" && !name.empty()) {
      const std::string golden = test::ReadProjectFile("tests/golden/items/" + name + ".hex");
      EXPECT_EQ(test::ToHex(test::FromHex(block)), test::ToHex(test::FromHex(golden))) << name;
      shown.insert(name);
      name.clear();
    } else {
      block += line + "\n";
    }
  }
  EXPECT_EQ(shown, (std::set<std::string>{"item_update", "item_row", "item_record_shared",
                                          "item_deleted"}));
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
