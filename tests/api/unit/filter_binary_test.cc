// POST /filter as application/octet-stream, through the service over an in-memory engine.

#include "api/filter_binary.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/routes.h"
#include "api/service.h"
#include "support/fake_engine.h"
#include "support/run_here.h"
#include "wire/unit/padded.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

constexpr char kTexts[] = "/filter?user=u&ids=string";
constexpr char kNumbers[] = "/filter?user=u&ids=u64";

template <typename Number>
std::string Bytes(Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string Texts(const std::vector<std::string>& ids) {
  std::string body;
  for (const std::string& id : ids) body += Bytes(static_cast<uint32_t>(id.size())) + id;
  return body;
}

std::string Numbers(const std::vector<uint64_t>& ids) {
  std::string body;
  for (const uint64_t id : ids) body += Bytes(id);
  return body;
}

class FilterBinaryTest : public testing::Test {
 protected:
  FilterBinaryTest() { service_.EngineOpened(&engine_); }

  void See(const std::vector<std::string>& items) {
    std::vector<Play> plays;
    for (const std::string& item : items) plays.push_back({IdRef("u"), IdRef(item)});
    ASSERT_TRUE(engine_.RecordPlays(plays, {}).ok());
  }
  http::Response Ask(const std::string& target, std::string_view body,
                     const std::string& accept = "") {
    http::RequestHead head;
    head.method = http::Method::kPost;
    head.target = target;
    head.content_type = "application/octet-stream";
    head.content_length = body.size();
    head.accept = accept;
    const http::Plan plan = service_.Begin(head);
    http::Response response;
    if (plan.refused) {
      http::WriteError(plan.refusal, &response);
      return response;
    }
    const test::Padded padded(body);
    test::RunHere(service_.Handle(plan, {head, padded.view()}, &response));
    return response;
  }
  // The request is refused with 400, its message containing `part`.
  void ExpectRefused(const std::string& target, std::string_view body, const std::string& part) {
    const http::Response response = Ask(target, body);
    EXPECT_EQ(response.status, 400u) << target;
    EXPECT_NE(response.body.find(part), std::string::npos) << response.body;
    EXPECT_EQ(response.headers, "");
  }

  ops::Health health_;
  ops::Metrics metrics_{RouteLabels()};
  test::FakeEngine engine_;
  Context context_{http::Limits(), 10, &health_, &metrics_, nullptr};
  ApiService service_{&context_};
};

TEST_F(FilterBinaryTest, BitmapsAreLeastSignificantBitFirst) {
  See({"b", "i"});
  const http::Response response =
      Ask(kTexts, Texts({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}));
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.content_type, "application/octet-stream");
  EXPECT_EQ(response.body, "\xFD\x02");
  EXPECT_EQ(response.headers, "\r\nSeenDB-Seen: 2\r\nSeenDB-Examined: 10\r\nSeenDB-Degraded: 0");
}

TEST_F(FilterBinaryTest, IndexesWhereTheyAreAskedFor) {
  See({"b"});
  const http::Response response =
      Ask(kTexts, Texts({"a", "b", "c"}), "application/vnd.seendb.indexes");
  EXPECT_EQ(response.content_type, "application/vnd.seendb.indexes");
  EXPECT_EQ(response.body, Bytes(uint32_t{0}) + Bytes(uint32_t{2}));
}

TEST_F(FilterBinaryTest, NumbersAndTheirTextAreOneId) {
  See({"7", "18446744073709551615", "07"});
  EXPECT_EQ(Ask(kNumbers, Numbers({7, 8, UINT64_MAX})).body, "\x02");
  EXPECT_EQ(Ask(kTexts, Texts({"7", "8", "07", "007"})).body, "\x0A");
}

TEST_F(FilterBinaryTest, NothingAskedNothingAnswered) {
  const http::Response response = Ask(kNumbers, "");
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(response.headers, "\r\nSeenDB-Seen: 0\r\nSeenDB-Examined: 0\r\nSeenDB-Degraded: 0");
}

TEST_F(FilterBinaryTest, LimitStopsAndWhatWasNotExaminedIsNotUnseen) {
  See({"a"});
  EXPECT_EQ(Ask(std::string(kTexts) + "&limit=2", Texts({"a", "b", "c", "d"})).body, "\x06");
}

TEST_F(FilterBinaryTest, WhatIsMissingIsSaid) {
  engine_.degraded = true;
  EXPECT_EQ(Ask(kTexts, Texts({"a"})).headers,
            "\r\nSeenDB-Seen: 0\r\nSeenDB-Examined: 1\r\nSeenDB-Degraded: 1"
            "\r\nSeenDB-Missing: 2023-11");
}

TEST_F(FilterBinaryTest, WhatWasRefutedIsCountedWhereVerifyingIsAskedFor) {
  engine_.refuted = 3;
  EXPECT_EQ(Ask(std::string(kTexts) + "&verify=true", Texts({"a"})).headers,
            "\r\nSeenDB-Seen: 0\r\nSeenDB-Examined: 1\r\nSeenDB-Degraded: 0\r\nSeenDB-Refuted: 3");
  const std::string believed = "\r\nSeenDB-Seen: 0\r\nSeenDB-Examined: 1\r\nSeenDB-Degraded: 0";
  EXPECT_EQ(Ask(std::string(kTexts) + "&verify=false", Texts({"a"})).headers, believed);
  EXPECT_EQ(Ask(kTexts, Texts({"a"})).headers, believed);
}

TEST_F(FilterBinaryTest, TheCountOfIdsIsCheckedWhereItIsGiven) {
  EXPECT_EQ(Ask(std::string(kNumbers) + "&count=2", Numbers({7, 8})).status, 200u);
  // Four numbers of 4 bytes are two of 8.
  ExpectRefused(std::string(kNumbers) + "&count=4", Numbers({7, 8}), "the body has 2 ids, not 4");
  ExpectRefused(std::string(kNumbers) + "&count=4", Numbers({7, 8}), "/count");
  ExpectRefused(std::string(kNumbers) + "&count=x", Numbers({7, 8}), "/count");
}

TEST_F(FilterBinaryTest, DuplicatesAreCountedWhereThereAreAny) {
  engine_.duplicates = 2;
  EXPECT_EQ(Ask(kTexts, Texts({"a"})).headers,
            "\r\nSeenDB-Seen: 0\r\nSeenDB-Examined: 1\r\nSeenDB-Degraded: 0"
            "\r\nSeenDB-Duplicates: 2");
}

TEST_F(FilterBinaryTest, TheLastIdsAreExcludedWhereThatIsAskedFor) {
  See({"2"});
  const std::string body = Numbers({1, 2, 3, 4, 3, 9});
  const http::Response response = Ask(std::string(kNumbers) + "&exclude=2&count=6", body);
  EXPECT_EQ(response.body, std::string(1, 0b1001));
  EXPECT_NE(response.headers.find("\r\nSeenDB-Excluded: 1"), std::string::npos) << response.headers;
  EXPECT_NE(response.headers.find("\r\nSeenDB-Examined: 4"), std::string::npos) << response.headers;
  ExpectRefused(std::string(kNumbers) + "&exclude=7", body, "/exclude");
  ExpectRefused(std::string(kNumbers) + "&exclude=-1", body, "/exclude");
  EXPECT_EQ(Ask(std::string(kNumbers) + "&exclude=6", body).body, "");
  // At most ten of each.
  const std::vector<uint64_t> twenty(20, 5), eleven(11, 5);
  EXPECT_EQ(Ask(std::string(kNumbers) + "&exclude=10", Numbers(twenty)).status, 200u);
  ExpectRefused(std::string(kNumbers) + "&exclude=9", Numbers(twenty), "more than 10 ids");
  ExpectRefused(std::string(kNumbers) + "&exclude=11", Numbers(eleven), "more than 10 ids");
  ExpectRefused(kNumbers, Numbers(eleven), "more than 10 ids");
}

TEST_F(FilterBinaryTest, WhatIsReturnedIsRecordedWhereThatIsAskedFor) {
  See({"2"});
  const std::string target = std::string(kNumbers) + "&record=true&limit=2";
  const http::Response first = Ask(target, Numbers({1, 2, 3, 4}));
  EXPECT_EQ(first.body, std::string(1, 0b101));
  EXPECT_NE(first.headers.find("\r\nSeenDB-Recorded: true"), std::string::npos) << first.headers;
  const http::Response second = Ask(target, Numbers({1, 2, 3, 4}));
  EXPECT_EQ(second.body, std::string(1, 0b1000)) << "1 and 3 are served";
  ExpectRefused(std::string(kNumbers) + "&record=1", Numbers({1}), "/record");
  EXPECT_EQ(Ask(kNumbers, Numbers({9})).headers.find("SeenDB-Recorded"), std::string::npos);
}

TEST_F(FilterBinaryTest, BodiesAreCheckedToTheByte) {
  ExpectRefused(kNumbers, "123456789", "cut off at byte 8");
  ExpectRefused(kTexts, Texts({"a"}) + "\1\0\0", "a length is cut off at byte 5");
  ExpectRefused(kTexts, Texts({"a"}) + Bytes(uint32_t{2}) + "b", "an id is cut off at byte 9");
  ExpectRefused(kTexts, Texts({"a", ""}), "an id is empty at byte 5");
  ExpectRefused(kTexts, Texts({std::string(256, 'a')}), "longer than 255 bytes at byte 0");
  ExpectRefused(kTexts, Bytes(UINT32_MAX) + "a", "longer than 255 bytes at byte 0");
  ExpectRefused(kTexts, Texts({"a", "\xFF"}), "not UTF-8 at byte 9");
  ExpectRefused(kNumbers, std::string(88, 'a'), "more than 10 ids");
  ExpectRefused(kTexts, Texts(std::vector<std::string>(11, "a")), "more than 10 ids");
  EXPECT_EQ(Ask(kNumbers, std::string(80, 'a')).status, 200u);
  EXPECT_EQ(Ask(kTexts, Texts({std::string(255, 'a')})).status, 200u);
}

TEST_F(FilterBinaryTest, ParametersAreCheckedByName) {
  ExpectRefused("/filter?ids=u64", "", "/user");
  ExpectRefused("/filter?user=u", "", "/ids");
  ExpectRefused("/filter?user=u&ids=u32", "", "/ids");
  ExpectRefused(std::string(kNumbers) + "&limit=0", "", "/limit");
  ExpectRefused(std::string(kNumbers) + "&limit=-1", "", "/limit");
  ExpectRefused(std::string(kNumbers) + "&deadline_ms=1x", "", "/deadline_ms");
  ExpectRefused(std::string(kNumbers) + "&on_error=never", "", "/on_error");
  ExpectRefused(std::string(kNumbers) + "&verify=1", "", "/verify");
  ExpectRefused(std::string(kNumbers) + "&verify=", "", "/verify");
  ExpectRefused(std::string(kNumbers) + "&explain=true", "", "/explain");
  EXPECT_EQ(Ask(std::string(kNumbers) + "&collection=nope", "").status, 404u);
}

TEST_F(FilterBinaryTest, JsonKnowsNoneOfTheParameters) {
  http::RequestHead head;
  head.method = http::Method::kPost;
  head.target = kNumbers;
  head.content_type = "application/json";
  head.content_length = 2;
  EXPECT_TRUE(service_.Begin(head).refused);
  head.target = "/users/u/history/lookup";
  head.content_type = "application/octet-stream";
  EXPECT_EQ(service_.Begin(head).refusal.status, 415u);
}

TEST_F(FilterBinaryTest, AcceptMayRefuseBothForms) {
  EXPECT_EQ(Ask(kNumbers, "", "text/html").status, 406u);
  EXPECT_EQ(ParseAccept(""), UnseenForm::kBitmap);
  EXPECT_EQ(ParseAccept("text/html, */*;q=0.8"), UnseenForm::kBitmap);
  EXPECT_EQ(ParseAccept(" application/vnd.seendb.indexes ; q=0.5"), UnseenForm::kIndexes);
  EXPECT_EQ(ParseAccept("application/octet-stream;q=0, application/vnd.seendb.indexes"),
            UnseenForm::kIndexes);
  EXPECT_EQ(ParseAccept("application/octet-stream;q=0.0"), std::nullopt);
  EXPECT_EQ(ParseAccept("text/html"), std::nullopt);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
