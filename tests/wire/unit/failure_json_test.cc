// Failures of other processes, and which status stands for which.

#include "wire/failure_json.h"

#include <gtest/gtest.h>

#include "wire/status_codes.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

TEST(FailureJsonTest, IsReadByItsNameOrElseAsTheCallerSays) {
  const Status busy = FailureOf(R"({"error":{"code":"busy","message":"m","field":"/f"}})",
                                StatusCode::kUnavailable);
  EXPECT_EQ(busy.code(), StatusCode::kBusy);
  EXPECT_EQ(busy.message(), "m");
  EXPECT_EQ(busy.field(), "/f");
  for (const char* text :
       {"nothing", "[]", "{}", R"({"error":1})", R"({"error":{"code":7,"message":8}})",
        R"({"error":{"code":"ok"}})", R"({"error":{"code":"overloaded","message":"m"}})"}) {
    EXPECT_EQ(FailureOf(text, StatusCode::kUnavailable).code(), StatusCode::kUnavailable) << text;
  }
}

TEST(StatusCodesTest, EveryFailureHasANameThatIsFoundAgainAndAStatusThatMeansNoSuccess) {
  for (int i = 1; i <= static_cast<int>(StatusCode::kForbidden); ++i) {
    const auto code = static_cast<StatusCode>(i);
    EXPECT_EQ(StatusCodeOfName(StatusCodeName(code)), code) << i;
    EXPECT_GE(HttpStatusOf(code), 400u) << i;
    EXPECT_NE(CodeOfHttpStatus(HttpStatusOf(code)), StatusCode::kOk) << i;
  }
  EXPECT_FALSE(StatusCodeOfName("ok").has_value());
  EXPECT_FALSE(StatusCodeOfName("moonstruck").has_value());
}

// A caller that comes again after a while does no harm; one that never does gives up what would
// have passed.
TEST(StatusCodesTest, AStatusThatMayPassByItselfIsOneToComeAgainAfter) {
  for (const unsigned status : {408u, 500u, 502u, 503u, 504u, 599u}) {
    EXPECT_EQ(CodeOfHttpStatus(status), StatusCode::kUnavailable) << status;
  }
  EXPECT_EQ(CodeOfHttpStatus(429), StatusCode::kBusy);
  for (const unsigned status : {400u, 405u, 413u, 422u}) {
    EXPECT_EQ(CodeOfHttpStatus(status), StatusCode::kInvalidArgument) << status;
  }
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
