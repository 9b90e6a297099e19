#include "ops/problem_log.h"

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using Texts = std::vector<std::string>;

TEST(ProblemLogTest, TellsEachProblemsBeginningAndEndOnce) {
  ProblemLog log;
  EXPECT_TRUE(log.Look({}).begun.empty());
  EXPECT_EQ(log.Look({"b", "a", "a"}).begun, (Texts{"a", "b"}));
  ProblemLog::Changes changes = log.Look({"a", "b"});
  EXPECT_TRUE(changes.begun.empty());
  EXPECT_TRUE(changes.over.empty());
  changes = log.Look({"c", "b"});
  EXPECT_EQ(changes.begun, Texts{"c"});
  EXPECT_EQ(changes.over, Texts{"a"});
  EXPECT_EQ(log.Look({}).over, (Texts{"b", "c"}));
  EXPECT_EQ(log.Look({"a"}).begun, Texts{"a"}) << "again";
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
