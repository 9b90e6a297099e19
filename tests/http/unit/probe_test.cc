#include "http/probe.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST(ProbeTest, EveryProbeIsKnownByItsFirstBytesAndNoEarlier) {
  for (const std::string method : {"GET ", "HEAD "}) {
    for (const std::string path :
         {"/healthz", "/readyz", "/metrics", "/v1/healthz", "/v1/readyz", "/v1/metrics"}) {
      const std::string line = method + path;
      for (size_t length = 0; length <= line.size(); ++length) {
        EXPECT_EQ(JudgeFirstBytes(line.substr(0, length)), FirstBytes::kNeedsMore)
            << line << length;
      }
      EXPECT_EQ(JudgeFirstBytes(line + " HTTP/1.1\r\n"), FirstBytes::kProbe);
      EXPECT_EQ(JudgeFirstBytes(line + "?x=1 "), FirstBytes::kProbe);
      EXPECT_EQ(JudgeFirstBytes(line + "x "), FirstBytes::kOther);
      EXPECT_EQ(JudgeFirstBytes(line + "/"), FirstBytes::kOther);
      EXPECT_LT(line.size(), kProbeBytes);
    }
  }
}

TEST(ProbeTest, AnythingElseIsNone) {
  for (const char* other : {"POST /filter HTTP/1.1", "GET / HTTP/1.1", "GET /v2/healthz ",
                            "get /healthz ", "GET  /healthz ", "PUT /healthz ", "\r\nGET /healthz ",
                            "GET http://h/healthz ", "x", "HEADX", "GET /healthy"}) {
    EXPECT_EQ(JudgeFirstBytes(other), FirstBytes::kOther) << other;
  }
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
