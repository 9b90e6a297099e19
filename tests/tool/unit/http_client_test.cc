#include "http_client.h"

#include <gtest/gtest.h>

#include "exit_code.h"

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(ParseServerUrl, Forms) {
  auto plain = ParseServerUrl("http://127.0.0.1:7373");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host, "127.0.0.1");
  EXPECT_EQ(plain->port, "7373");
  EXPECT_EQ(plain->prefix, "");
  auto prefixed = ParseServerUrl("http://seen.example/a/b//");
  ASSERT_TRUE(prefixed.ok());
  EXPECT_EQ(prefixed->host, "seen.example");
  EXPECT_EQ(prefixed->port, "7373") << "the server's default";
  EXPECT_EQ(prefixed->prefix, "/a/b");
  auto ipv6 = ParseServerUrl("http://[::1]:80");
  ASSERT_TRUE(ipv6.ok());
  EXPECT_EQ(ipv6->host, "::1");
  EXPECT_EQ(ipv6->port, "80");
  EXPECT_EQ(ParseServerUrl("http://[::1]")->port, "7373");
}

TEST(ParseServerUrl, TlsAndSocketsOfTheFileSystem) {
  const auto secure = ParseServerUrl("https://seen.example:443/a");
  ASSERT_TRUE(secure.ok());
  EXPECT_TRUE(secure->secure);
  EXPECT_EQ(secure->ToUrl(), "https://seen.example:443");
  EXPECT_EQ(secure->prefix, "/a");
  const auto socket = ParseServerUrl("unix:/run/seendb.sock");
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(socket->unix_path, "/run/seendb.sock");
  EXPECT_EQ(socket->ToUrl(), "unix:/run/seendb.sock");
  EXPECT_EQ(socket->Authority(), "localhost");
}

TEST(ParseServerUrl, Refusals) {
  for (const char* url : {"", "127.0.0.1:7373", "https://", "unix:", "http://", "http://:1",
                          "http://a:", "http://a:0", "http://a:65536", "http://a:x", "http://[::1",
                          "http://[::1]x", "ftp://a"}) {
    const auto parsed = ParseServerUrl(url);
    EXPECT_FALSE(parsed.ok()) << url;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << url;
  }
}

TEST(PercentEncode, KeepsUnreservedOnly) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a/b?c d%\xC3\xA9"), "a%2Fb%3Fc%20d%25%C3%A9");
}

TEST(StatusOfAnswer, ByCodeThenByHttpStatus) {
  const Status coded = StatusOfAnswer(
      {400, 0, R"({"error":{"code":"invalid_argument","message":"no","field":"/items/3"}})"});
  EXPECT_EQ(coded.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(coded.message(), "no");
  EXPECT_EQ(coded.field(), "/items/3");
  EXPECT_EQ(StatusOfAnswer({503, 0, R"({"error":{"code":"busy","message":"full"}})"}).code(),
            StatusCode::kBusy);
  EXPECT_EQ(StatusOfAnswer({404, 0, R"({"error":{"code":"unheard_of"}})"}).code(),
            StatusCode::kNotFound);
  EXPECT_EQ(StatusOfAnswer({401, 0, R"({"error":{"code":"unauthorized"}})"}).code(),
            StatusCode::kForbidden);
  EXPECT_EQ(StatusOfAnswer({403, 0, ""}).code(), StatusCode::kForbidden);
  EXPECT_EQ(StatusOfAnswer({409, 0, "not json"}).code(), StatusCode::kIncompatible);
  EXPECT_EQ(StatusOfAnswer({503, 0, "[]"}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(StatusOfAnswer({413, 0, ""}).code(), StatusCode::kInvalidArgument);
}

TEST(HttpClient, NobodyThereIsUnavailable) {
  // Port 1 of the loopback: nothing listens there.
  HttpClient client({.host = "127.0.0.1", .port = "1"}, 2'000);
  EXPECT_EQ(client.Send({.target = "/healthz"}).status().code(), StatusCode::kUnavailable);
}

TEST(ExitCodes, OneForEachKindOfFailure) {
  EXPECT_EQ(ExitCodeOf(StatusCode::kOk), 0);
  EXPECT_EQ(ExitCodeOf(StatusCode::kIOError), 1);
  EXPECT_EQ(ExitCodeOf(StatusCode::kInvalidArgument), 2);
  EXPECT_EQ(ExitCodeOf(StatusCode::kIncompatible), 3);
  EXPECT_EQ(ExitCodeOf(StatusCode::kCorruption), 4);
  EXPECT_EQ(ExitCodeOf(StatusCode::kBusy), 5);
  EXPECT_EQ(ExitCodeOf(StatusCode::kNotFound), 6);
  EXPECT_EQ(ExitCodeOf(StatusCode::kUnavailable), 7);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
