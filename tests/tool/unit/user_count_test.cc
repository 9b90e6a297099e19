// Distinct users, and the scripts that complete command lines.

#include "user_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "completion_script.h"

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

using testing::HasSubstr;

TEST(DistinctCountTest, CountsEachTextOnce) {
  DistinctCount count;
  EXPECT_EQ(count.count(), 0u);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100'000; ++i) count.Add("user" + std::to_string(i));
  }
  EXPECT_EQ(count.count(), 100'000u);
  count.Add("user0");
  count.Add("another");
  EXPECT_EQ(count.count(), 100'001u);
}

CommandTree Sample() {
  const OptionInfo unit{{"--unit"}, "It's the unit", ValueKind::kWords, {"ms", "s"}};
  const OptionInfo json{{"--json", "-j"}, "Machine-readable", ValueKind::kNone, {}};
  const OptionInfo file{{}, "The log", ValueKind::kFile, {}};
  CommandTree load{"load", "Loads: a log", {unit, json}, {file}, {}};
  return {"tool", "", {json}, {}, {load}};
}

TEST(CompletionScriptTest, NamesWhatTheTreeHas) {
  const std::string bash = BashCompletion(Sample());
  EXPECT_THAT(bash, HasSubstr("complete -F _tool tool"));
  EXPECT_THAT(bash, HasSubstr("'/load --unit') kind='words ms s'"));
  EXPECT_THAT(bash, HasSubstr("options='--unit --json -j'"));
  EXPECT_THAT(bash, Not(HasSubstr("NAME")));
  const std::string zsh = ZshCompletion(Sample());
  EXPECT_TRUE(zsh.starts_with("#compdef tool\n"));
  EXPECT_THAT(zsh, HasSubstr(R"('--unit:It'\''s the unit')"));
  EXPECT_THAT(zsh, HasSubstr("'load:Loads: a log'"));
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
