// POST /plays and POST /impressions as application/octet-stream.

#include "api/events_binary.h"

#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using test::Method;

std::string Bytes(uint64_t number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string Bytes(std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes.append(text);
}

class EventsBinaryTest : public test::ServiceTest {
 protected:
  test::Answer Post(const std::string& target, const std::string& body) {
    return Ask(Method::kPost, target, body, "application/octet-stream");
  }
  void ExpectRefused(const test::Answer& answer, const char* field, const char* says) {
    EXPECT_EQ(answer.status, 400u) << answer.body;
    EXPECT_EQ(answer.json().at("error").at("field"), field) << answer.body;
    EXPECT_NE(answer.body.find(says), std::string::npos) << answer.body;
    EXPECT_EQ(engine_.batches, 0u);
  }
  test::Json Unseen(const std::string& user, const std::string& items) {
    return Ask(Method::kPost, "/filter", "{\"user\":" + user + ",\"items\":" + items + "}")
        .json()
        .at("unseen");
  }
};

TEST_F(EventsBinaryTest, ItemsOfOneUser) {
  const test::Answer numbers = Post("/plays?user=u&ids=u64&count=2", Bytes(7) + Bytes(9));
  EXPECT_EQ(numbers.json().at("accepted"), 2) << numbers.body;
  EXPECT_EQ(Post("/plays?user=u&ids=string", Bytes("v1") + Bytes("8")).json().at("accepted"), 2);
  EXPECT_EQ(Unseen("\"u\"", R"([7,"8",9,10,"v1","v2"])"), test::Json::array({10, "v2"}));
  EXPECT_EQ(Post("/plays?user=u&ids=u64", "").json().at("accepted"), 0);
}

TEST_F(EventsBinaryTest, ImpressionsOfOneUser) {
  EXPECT_EQ(Post("/impressions?user=5&ids=u64", Bytes(7)).json().at("accepted"), 1);
  EXPECT_EQ(Unseen("5", "[7,8]"), test::Json::array({8}));
}

TEST_F(EventsBinaryTest, RowsOfManyUsersAndTimes) {
  const uint64_t at = 1'699'999'999'000, none = 0;
  EXPECT_EQ(Post("/plays?ids=u64&count=2",
                 Bytes(1) + Bytes(7) + Bytes(at) + Bytes(2) + Bytes(8) + Bytes(none))
                .json()
                .at("accepted"),
            2);
  EXPECT_EQ(Post("/plays?ids=string&collection=default", Bytes("u") + Bytes("v1") + Bytes(at))
                .json()
                .at("accepted"),
            1);
  EXPECT_EQ(Unseen("1", "[7,8]"), test::Json::array({8}));
  EXPECT_EQ(Unseen("2", "[7,8]"), test::Json::array({7}));
  EXPECT_EQ(Unseen("\"u\"", "[\"v1\"]"), test::Json::array());
}

TEST_F(EventsBinaryTest, TheTimeIsThatOfTheQueryOrTheRow) {
  const uint64_t ahead = 1'900'000'000'000;
  for (const test::Answer& answer : {Post("/plays?user=u&ids=u64&at=1900000000000", Bytes(7)),
                                     Post("/plays?ids=u64", Bytes(1) + Bytes(7) + Bytes(ahead))}) {
    EXPECT_EQ(answer.status, 422u) << answer.body;
    EXPECT_EQ(answer.json().at("refused_by").at("in_future"), 1);
  }
}

TEST_F(EventsBinaryTest, OfOneUserNoMoreThanCandidates) {
  std::string body;
  for (uint64_t item = 0; item < 101; ++item) body += Bytes(item);
  ExpectRefused(Post("/plays?user=u&ids=u64", body), "/body", "more than 100 ids");
  body.resize(100 * sizeof(uint64_t));
  EXPECT_EQ(Post("/plays?user=u&ids=u64", body).json().at("accepted"), 100);
}

TEST_F(EventsBinaryTest, WhatNeedsTheDiskLeavesTheIoThread) {
  engine_.cold = true;
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/plays?user=u&ids=u64";
  head.content_type = "application/octet-stream";
  head.content_length = sizeof(uint64_t);
  http::Plan plan = service_->Begin(head);
  const test::Padded padded(Bytes(7));
  for (const http::Executor executor : {http::Executor::kInline, http::Executor::kEngine}) {
    plan.executor = executor;
    http::Response response;
    test::RunHere(service_->Handle(plan, {head, padded.view(), nullptr}, &response));
    EXPECT_EQ(response.status, 200u) << response.body;
    EXPECT_EQ(std::exchange(engine_.batches, 0), 1u);
  }
}

TEST_F(EventsBinaryTest, BadOnesNameTheFieldAndChangeNothing) {
  const uint64_t negative = UINT64_MAX;
  ExpectRefused(Post("/plays?user=u", Bytes(7)), "/ids", "u64 or string");
  ExpectRefused(Post("/plays?user=u&ids=u64", Bytes(7) + "abcd"), "/body", "byte 8");
  ExpectRefused(Post("/plays?user=u&ids=u64&count=2", Bytes(7)), "/count", "has 1 events, not 2");
  ExpectRefused(Post("/plays?user=&ids=u64", Bytes(7)), "/user", "");
  ExpectRefused(Post("/plays?user=u&ids=u64&at=noon", Bytes(7)), "/at", "integer");
  ExpectRefused(Post("/plays?user=u&ids=u64&at=18446744073709551615", Bytes(7)), "/at", "1970");
  ExpectRefused(Post("/plays?ids=u64&at=5", Bytes(1) + Bytes(7) + Bytes(5)), "/at", "user");
  ExpectRefused(Post("/plays?ids=u64", Bytes(1) + Bytes(7)), "/body",
                "a time is cut off at byte 16");
  ExpectRefused(Post("/plays?ids=u64", Bytes(1) + Bytes(7) + Bytes(negative)), "/body", "negative");
  ExpectRefused(Post("/plays?ids=string", Bytes("u") + Bytes("v") + "abc"), "/body", "byte 10");
  ExpectRefused(Post("/plays?user=u&ids=string", Bytes("\xff")), "/body", "UTF-8");
  ExpectRefused(Post("/impressions?ids=u64", Bytes(7)), "/user", "missing");
  ExpectRefused(Post("/plays?user=u&ids=u64&limit=5", Bytes(7)), "/limit", "unknown");
  ExpectRefused(Ask(Method::kPost, "/plays?user=u", R"({"events":[]})"), "/user", "octet-stream");
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
