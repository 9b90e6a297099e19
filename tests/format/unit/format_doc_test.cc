// engine/doc/format.md says what the golden files say, and those what the codec makes
// (golden_test.cc, golden_words_test.cc): every block of the page that is marked ```hex NAME or
// ```json NAME is the file of that name in tests/golden/v1; a NAME with a slash names the folder
// too.

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// Marked blocks by "hex NAME" or "json NAME".
std::map<std::string, std::string> MarkedBlocks(const std::string& page) {
  std::map<std::string, std::string> blocks;
  std::istringstream lines(page);
  std::string line, mark;
  while (std::getline(lines, line)) {
    if (line.starts_with("```")) {
      const bool opens = mark.empty() && line.size() > 3;
      mark = opens ? line.substr(3) : "";
      if (opens) {
        EXPECT_EQ(blocks.count(mark), 0u) << "twice: " << mark;
        blocks[mark];
      }
    } else if (!mark.empty()) {
      blocks[mark] += line + "\n";
    }
  }
  return blocks;
}

TEST(FormatDoc, ItsBlocksAreTheGoldenBytes) {
  const auto blocks = MarkedBlocks(test::ReadProjectFile("engine/doc/format.md"));
  const auto file_of = [](const std::string& name) {
    const bool has_folder = name.find('/') != std::string::npos;
    return (has_folder ? "tests/golden/" : "tests/golden/v1/") + name;
  };
  std::set<std::string> shown;
  for (const auto& [mark, text] : blocks) {
    SCOPED_TRACE(mark);
    shown.insert(mark);
    if (mark.starts_with("hex ")) {
      const std::string golden = test::ReadProjectFile(file_of(mark.substr(4)) + ".hex");
      EXPECT_EQ(test::ToHex(test::FromHex(text)), test::ToHex(test::FromHex(golden)));
    } else {
      ASSERT_TRUE(mark.starts_with("json ")) << "unknown mark";
      const std::string golden = test::ReadProjectFile(file_of(mark.substr(5)) + ".json");
      EXPECT_EQ(nlohmann::ordered_json::parse(text), nlohmann::ordered_json::parse(golden));
    }
  }
  for (const char* needed : {"hex journal_key",
                             "hex journal_one_play",
                             "hex delta",
                             "hex filter_list",
                             "hex filter_sealed_list",
                             "hex filter_sealed",
                             "hex filter_damaged",
                             "hex impressions_one_call",
                             "hex user_erased",
                             "hex synced",
                             "json SEENDB",
                             "json policy",
                             "hex user_history",
                             "hex day_key",
                             "hex user_day",
                             "hex history_key",
                             "hex v3/history_entry",
                             "hex v3/history_joined",
                             "hex v3/history_deleted",
                             "hex timeline_key",
                             "hex v3/history_journal"}) {
    EXPECT_EQ(shown.count(needed), 1u) << "not on the page: " << needed;
  }
}

// Constants the page spells out.
TEST(FormatDoc, NamesTheHashesSeed) {
  const std::string page = test::ReadProjectFile("engine/doc/format.md");
  char seed[24];
  std::snprintf(seed, sizeof(seed), "`%016llX`", static_cast<unsigned long long>(kHashSeed));
  EXPECT_NE(page.find(seed), std::string::npos) << seed;
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
