#include "api/access.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::test {
namespace {

// The SHA-256 of "abc" and of the empty text.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

class AccessTest : public ServiceTest {
 protected:
  void UseTokens(const std::string& tokens, bool once) {
    const auto read = ops::ReadTokens(tokens);
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

TEST_F(AccessTest, AServerThatEverybodyReachesIsAProblemButNotDegraded) {
  context_->exposed = "whoever reaches it may do everything";
  const Answer ready = ServiceTest::Ask(Method::kGet, "/readyz");
  EXPECT_EQ(ready.json().at("problems"), Json({"whoever reaches it may do everything"}));
  EXPECT_EQ(ready.json().at("degraded"), false);
}

TEST_F(AccessTest, ACallerIsTheSameAtTheNextNode) {
  EXPECT_EQ(api::CallerToHeader(nullptr), "");
  EXPECT_EQ(api::CallerFromHeader(""), nullptr);
  ops::Token token;
  token.name = "p\xC3\xA4ge \"1\"";
  token.role = ops::Role::kWrite;
  token.collections = {"video", "article"};
  const std::string header = api::CallerToHeader(&token);
  EXPECT_EQ(header.find_first_of("\r\n"), std::string::npos);
  const api::Caller read = api::CallerFromHeader(header);
  EXPECT_EQ(read->name, token.name);
  EXPECT_EQ(read->role, token.role);
  EXPECT_TRUE(read->Reaches("video"));
  EXPECT_FALSE(read->Reaches("default"));
  for (const char* const wrong : {"x", "{}", "[]", R"({"name":"a","role":"admin"})",
                                  R"({"name":1,"role":"admin","collections":[]})"}) {
    EXPECT_FALSE(api::CallerFromHeader(wrong)->Reaches("default")) << wrong;
  }
}

}  // namespace
}  // namespace seendb::test
