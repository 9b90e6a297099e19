#include "http/refusal.h"

#include <chrono>

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

using admission::Reason;
using admission::Verdict;

TEST(RefusalTest, SaysWhyAndWhenToComeAgain) {
  Response response;
  WriteRefusal(Verdict{Reason::kOverloaded, std::chrono::microseconds(1'200'300)}, &response);
  EXPECT_EQ(response.status, 503u);
  EXPECT_EQ(response.error_code, "overloaded");
  EXPECT_EQ(response.retry_after_s, 2);
  EXPECT_EQ(response.headers, "\r\nSeenDB-Retry-After-Ms: 1201");
  EXPECT_EQ(response.body,
            R"({"error":{"code":"overloaded","message":"the server is overloaded","field":""}})");
}

TEST(RefusalTest, EveryReasonHasAnAnswer) {
  for (size_t i = 1; i < admission::kReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    Response response;
    WriteRefusal(Verdict{reason, {}}, &response);
    EXPECT_EQ(response.status, reason >= Reason::kRate ? 429u : 503u);
    EXPECT_FALSE(response.error_code.empty());
    EXPECT_GE(response.retry_after_s, 1) << "never at once";
  }
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
