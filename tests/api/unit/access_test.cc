#include "api/access.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

// The SHA-256 of "abc" and of the empty text.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

class AccessTest : public ServiceTest {
 protected:
  void UseTokens(const std::string& tokens, bool once) {
    const auto read = files::ReadTokens(tokens);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    context_->access.Set(*read, once);
  }
  /// The status of GET /collections with this header.
  unsigned StatusWith(const std::string& authorization) {
    http::RequestHead head;
    head.method = Method::kGet;
    head.target = "/collections";
    head.authorization = authorization;
    head.connection = &connection_;
    return ServiceTest::Ask(head, "").status;
  }
  static std::string Entry(const char* digest) {
    return std::string(R"([{"name":"page","role":"read","sha256":")") + digest + "\"}]";
  }

  http::Connection connection_;
};

TEST_F(AccessTest, WithoutAFileEverybodyMayDoEverything) {
  EXPECT_EQ(StatusWith(""), 200u);
  EXPECT_EQ(StatusWith("Bearer whatever"), 200u);
}

TEST_F(AccessTest, TheSchemeIsBearerInAnyCase) {
  UseTokens(Entry(kAbc), false);
  EXPECT_EQ(StatusWith("Bearer abc"), 200u);
  EXPECT_EQ(StatusWith("bEARER  abc"), 200u);
  for (const char* const wrong : {"", "abc", "Bearerabc", "Basic abc", "Bearer abc d", "Bearer "}) {
    EXPECT_EQ(StatusWith(wrong), 401u) << wrong;
  }
}

TEST_F(AccessTest, AnEmptyTokenIsOneLikeAnyOther) {
  UseTokens(Entry(kEmpty), false);
  EXPECT_EQ(StatusWith(""), 401u) << "no header is no token";
  EXPECT_EQ(StatusWith("Bearer "), 200u);
}

TEST_F(AccessTest, WhatAConnectionHasShownHoldsUntilTheFileChanges) {
  UseTokens(Entry(kAbc), true);
  EXPECT_EQ(StatusWith(""), 401u);
  EXPECT_EQ(StatusWith("Bearer abc"), 200u);
  EXPECT_EQ(StatusWith(""), 200u);
  EXPECT_EQ(StatusWith("Bearer wrong"), 401u);
  UseTokens(Entry(kAbc), true);
  EXPECT_EQ(StatusWith(""), 401u);
}

TEST_F(AccessTest, ACertificateStandsForItsNameOnlyWhereConnectionsAreAskedOnce) {
  connection_.certificate_name = "page";
  UseTokens(Entry(kAbc), false);
  EXPECT_EQ(StatusWith(""), 401u);
  UseTokens(Entry(kAbc), true);
  EXPECT_EQ(StatusWith(""), 200u);
  connection_.certificate_name = "somebody";
  EXPECT_EQ(StatusWith(""), 401u);
}

// A stream under way, in pieces.
class WatchedStreamTest : public AccessTest {
 protected:
  void Begin(const std::string& target, const std::string& authorization) {
    head_.method = target.ends_with("/export") ? Method::kGet : Method::kPost;
    head_.target = target;
    head_.content_type = "application/x-ndjson";
    head_.authorization = authorization;
    head_.connection = &connection_;
    plan_ = service_->Begin(head_);
    ASSERT_FALSE(plan_.refused) << plan_.refusal.message;
    ASSERT_NE(plan_.stream, nullptr);
  }
  void Take(const std::string& piece, bool last = false) {
    const Padded padded(piece);
    EXPECT_EQ(plan_.stream->Take(padded.view(), last, &out_), piece.size());
  }
  // The status and the code of its end.
  std::string End() {
    EXPECT_TRUE(plan_.stream->Failed());
    EXPECT_FALSE(plan_.stream->HasMore());
    http::Response response;
    plan_.stream->Finish(&response);
    return std::to_string(response.status) + " " + std::string(response.error_code);
  }
  static std::string Token(const char* digest, const std::string& role,
                           const std::string& more = "") {
    return R"([{"name":"page","role":")" + role + R"(","sha256":")" + digest + "\"" + more + "}]";
  }

  http::RequestHead head_;
  http::Plan plan_;
  std::string out_;
};

constexpr const char* kPlay = "{\"user\":\"u\",\"item\":\"i\"}\n";

TEST_F(WatchedStreamTest, PlaysEndWithTheirToken) {
  UseTokens(Token(kAbc, "write"), false);
  Begin("/plays", "Bearer abc");
  Take(kPlay);
  EXPECT_FALSE(plan_.stream->Failed());
  UseTokens(Token(kEmpty, "write"), false);
  Take("{\"user\":\"u\",\"item\":\"late\"}\n", /*last=*/true);
  EXPECT_EQ(End(), "401 unauthorized");
  const std::string filter = R"({"user":"u","items":["late"]})";
  http::RequestHead asks;
  asks.method = Method::kPost;
  asks.target = "/filter";
  asks.content_type = "application/json";
  asks.content_length = filter.size();
  asks.authorization = "Bearer ";
  EXPECT_EQ(ServiceTest::Ask(asks, filter).json().at("seen"), 0) << "it was not recorded";
}

TEST_F(WatchedStreamTest, ARenewedFileWithTheSameTokenEndsNothing) {
  UseTokens(Token(kAbc, "write", R"(,"collections":["default"])"), false);
  Begin("/plays", "Bearer abc");
  Take(kPlay);
  UseTokens(Token(kAbc, "admin"), false);
  Take(kPlay, /*last=*/true);
  EXPECT_FALSE(plan_.stream->Failed());
}

TEST_F(WatchedStreamTest, RightsThatShrankEndIt) {
  const std::string all = Token(kAbc, "write", R"(,"collections":["default","video"])");
  for (const std::string& less : {Token(kAbc, "read", R"(,"collections":["default","video"])"),
                                  Token(kAbc, "admin", R"(,"collections":["video"])")}) {
    UseTokens(all, false);
    Begin("/plays", "Bearer abc");
    Take(kPlay);
    UseTokens(less, false);
    Take(kPlay, /*last=*/true);
    EXPECT_EQ(End(), "403 forbidden") << less;
  }
}

TEST_F(WatchedStreamTest, FiltersAndExportsEndLikewise) {
  for (const char* const target : {"/filter", "/users/u/export"}) {
    UseTokens(Token(kAbc, "admin"), false);
    Begin(target, "Bearer abc");
    Take("");
    EXPECT_FALSE(plan_.stream->Failed()) << target;
    UseTokens("[]", false);
    out_.clear();
    Take("{\"user\":\"u\",\"items\":[\"i\"]}\n", /*last=*/true);
    EXPECT_EQ(End(), "401 unauthorized") << target;
    EXPECT_EQ(out_, "") << target;
  }
}

TEST_F(WatchedStreamTest, ACertificateIsWatchedByItsName) {
  connection_.certificate_name = "page";
  UseTokens(Token(kAbc, "write"), true);
  Begin("/plays", "");
  Take(kPlay);
  UseTokens(Token(kEmpty, "write"), true);  // its token was changed, which it never showed
  Take(kPlay);
  EXPECT_FALSE(plan_.stream->Failed());
  UseTokens("[]", true);
  Take(kPlay, /*last=*/true);
  EXPECT_EQ(End(), "401 unauthorized");
}

TEST_F(AccessTest, AnAddressThatShowsWrongTokensHasToWait) {
  limits_.failed_tokens_per_minute = 2;
  Open();
  UseTokens(Entry(kAbc), false);
  connection_.peer = "10.0.0.1";
  for (int i = 0; i < 9; ++i) EXPECT_EQ(StatusWith(""), 401u) << "no token is no wrong one";
  EXPECT_EQ(StatusWith("Bearer x"), 401u);
  EXPECT_EQ(StatusWith("Bearer y"), 401u);
  EXPECT_EQ(StatusWith("Bearer z"), 429u);
  EXPECT_EQ(StatusWith("Bearer abc"), 200u) << "many clients may have one address";
  EXPECT_EQ(StatusWith(""), 401u);
  http::RequestHead head;
  head.method = Method::kGet;
  head.target = "/collections";
  head.authorization = "Bearer x";
  head.connection = &connection_;
  const Answer limited = ServiceTest::Ask(head, "");
  EXPECT_EQ(limited.code(), "rate_limited");
  EXPECT_GE(limited.retry_after_s, 1);
  EXPECT_LE(limited.retry_after_s, 60);
  connection_.peer = "10.0.0.2";
  EXPECT_EQ(StatusWith("Bearer x"), 401u);
}

TEST_F(AccessTest, AnExpiredTokenIsNone) {
  Open(/*manual_clock=*/true);
  std::string entry = Entry(kAbc);
  entry.insert(entry.size() - 2, R"(,"expires":2000)");
  UseTokens(entry, true);
  EXPECT_EQ(StatusWith("Bearer abc"), 200u);
  ASSERT_TRUE(clock_->MoveTo(1'999));
  EXPECT_EQ(StatusWith(""), 200u) << "the connection has shown it";
  ASSERT_TRUE(clock_->MoveTo(2'000));
  EXPECT_EQ(StatusWith("Bearer abc"), 401u);
  EXPECT_EQ(StatusWith(""), 401u);
}

TEST_F(WatchedStreamTest, AStreamEndsWhenItsTokenExpires) {
  Open(/*manual_clock=*/true);
  const std::string token = Token(kAbc, "write", R"(,"expires":2000)");
  UseTokens(token, false);
  Begin("/plays", "Bearer abc");
  Take(kPlay);
  UseTokens(token, false);  // a newer file, of which the caller is not
  Take(kPlay);
  EXPECT_FALSE(plan_.stream->Failed());
  ASSERT_TRUE(clock_->MoveTo(2'000));
  Take(kPlay, /*last=*/true);
  EXPECT_EQ(End(), "401 unauthorized");
}

TEST_F(WatchedStreamTest, AStreamGoesOnWhereItsTokenWasProlonged) {
  Open(/*manual_clock=*/true);
  UseTokens(Token(kAbc, "write", R"(,"expires":2000)"), false);
  Begin("/plays", "Bearer abc");
  UseTokens(Token(kAbc, "write", R"(,"expires":3000)"), false);
  ASSERT_TRUE(clock_->MoveTo(2'500));
  Take(kPlay);
  EXPECT_FALSE(plan_.stream->Failed());
  ASSERT_TRUE(clock_->MoveTo(3'000));
  Take(kPlay, /*last=*/true);
  EXPECT_EQ(End(), "401 unauthorized");
}

TEST_F(AccessTest, AServerThatEverybodyReachesIsAProblemButNotDegraded) {
  context_->exposed = "whoever reaches it may do everything";
  const Answer ready = ServiceTest::Ask(Method::kGet, "/readyz");
  EXPECT_EQ(ready.json().at("problems"), Json({"whoever reaches it may do everything"}));
  EXPECT_EQ(ready.json().at("degraded"), false);
}

TEST_F(AccessTest, ACallerIsTheSameAtTheNextNode) {
  EXPECT_EQ(api::CallerToHeader(nullptr), "anybody");
  EXPECT_EQ(api::CallerFromHeader("anybody"), nullptr);
  files::Token token;
  token.name = "p\xC3\xA4ge \"1\"";
  token.role = files::Role::kWrite;
  token.collections = {"video", "article"};
  const std::string header = api::CallerToHeader(&token);
  EXPECT_EQ(header.find_first_of("\r\n"), std::string::npos);
  const api::Caller read = api::CallerFromHeader(header);
  EXPECT_EQ(read->name, token.name);
  EXPECT_EQ(read->role, token.role);
  EXPECT_TRUE(read->Reaches("video"));
  EXPECT_FALSE(read->Reaches("default"));
  for (const char* const wrong : {"", "x", "{}", "[]", R"({"name":"a","role":"admin"})",
                                  R"({"name":1,"role":"admin","collections":[]})"}) {
    EXPECT_FALSE(api::CallerFromHeader(wrong)->Reaches("default")) << wrong;
  }
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
