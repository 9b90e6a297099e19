#include "base/return_if_failed.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

Status Counted(int* calls, Status status) {
  ++*calls;
  return status;
}

Status Twice(int* calls, const Status& first, const Status& second) {
  RETURN_IF_FAILED(Counted(calls, first));
  RETURN_IF_FAILED(Counted(calls, second));
  return Status::NotFound("the end");
}

TEST(ReturnIfFailedTest, AFailureIsReturnedWholeAndEndsTheFunction) {
  int calls = 0;
  const Status failed = Twice(&calls, Status::InvalidArgument("no", "/user"), {});
  EXPECT_EQ(failed.ToString(), Status::InvalidArgument("no", "/user").ToString());
  EXPECT_EQ(calls, 1);
}

TEST(ReturnIfFailedTest, ASuccessGoesOnAndEachExpressionIsEvaluatedOnce) {
  int calls = 0;
  EXPECT_EQ(Twice(&calls, {}, {}).message(), "the end");
  EXPECT_EQ(calls, 2);
}

Result<std::string> NamedIf(bool found) {
  if (found)
    RETURN_IF_FAILED(Status());
  else
    RETURN_IF_FAILED((std::map<int, Status>{{1, Status::Busy("wait")}}[1]));
  return std::string("name");
}

TEST(ReturnIfFailedTest, IsOneStatementAndServesAResult) {
  ASSERT_TRUE(NamedIf(true).ok());
  EXPECT_EQ(*NamedIf(true), "name");
  EXPECT_EQ(NamedIf(false).status().code(), StatusCode::kBusy);
}

TEST(ReturnIfFailedTest, TakesAnExpressionWithCommas) {
  const auto look = []() -> Status {
    RETURN_IF_FAILED(std::map<int, Status>{{1, Status::Closed()}, {2, Status()}}.at(1));
    return {};
  };
  EXPECT_EQ(look().code(), StatusCode::kClosed);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
