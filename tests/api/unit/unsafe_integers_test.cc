// Ids that come as JSON numbers beyond 2^53: counted, told at a bounded rate, refused by setting.

#include "api/unsafe_integers.h"

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using test::Method;

constexpr const char* kLastSafe = "9007199254740991";
constexpr const char* kUnsafe = "9007199254740993";

class UnsafeIntegersTest : public test::ServiceTest {
 protected:
  uint64_t Counted() { return context_->unsafe_integers.total(); }
  void ExpectRefused(const test::Answer& answer, const char* field) {
    EXPECT_EQ(answer.status, 400u) << answer.body;
    EXPECT_EQ(answer.json().at("error").at("field"), field);
    EXPECT_NE(answer.body.find("2^53"), std::string::npos) << answer.body;
  }
  static std::string Filter(const std::string& user, const std::string& items,
                            const std::string& more = "") {
    return "{\"user\":" + user + ",\"items\":[" + items + "]" + more + "}";
  }
};

TEST_F(UnsafeIntegersTest, AreCountedAndTaken) {
  const std::string number = kUnsafe, text = "\"" + number + "\"";
  EXPECT_EQ(Ask(Method::kPost, "/filter", Filter("1", text + "," + kLastSafe)).status, 200u);
  EXPECT_EQ(Counted(), 0u) << "texts, and what a double holds";
  EXPECT_EQ(Ask(Method::kPost, "/plays", R"({"events":[{"user":1,"item":)" + number + "}]}").status,
            200u);
  EXPECT_EQ(Counted(), 1u);
  const test::Answer answer =
      Ask(Method::kPost, "/filter", Filter("1", text + ",2", ",\"exclude\":[" + number + "]"));
  EXPECT_EQ(answer.json().at("unseen"), test::Json::array({2}));
  EXPECT_EQ(Counted(), 2u);
  Ask(Method::kPost, "/plays", "{\"user\":" + number + ",\"item\":" + number + "}\n",
      "application/x-ndjson");
  EXPECT_EQ(Counted(), 4u);
  const std::string metrics = Ask(Method::kGet, "/metrics").body;
  EXPECT_NE(metrics.find("seendb_unsafe_integers_total 4\n"), std::string::npos);
}

TEST_F(UnsafeIntegersTest, AreRefusedBySetting) {
  context_->unsafe_integers.refuses = true;
  const std::string number = kUnsafe;
  ExpectRefused(Ask(Method::kPost, "/filter", Filter("1", "5," + number)), "/items/1");
  ExpectRefused(Ask(Method::kPost, "/filter", Filter(number, "5")), "/user");
  ExpectRefused(Ask(Method::kPost, "/filter", Filter("1", "5", ",\"exclude\":[" + number + "]")),
                "/exclude/0");
  ExpectRefused(Ask(Method::kPost, "/plays",
                    R"({"events":[{"user":1,"item":2},{"user":1,"item":)" + number + "}]}"),
                "/events/1/item");
  ExpectRefused(Ask(Method::kPost, "/impressions", Filter("1", number)), "/items/0");
  const test::Answer lines = Ask(Method::kPost, "/plays",
                                 "{\"user\":1,\"item\":" + number + "}\n{\"user\":1,\"item\":7}\n",
                                 "application/x-ndjson");
  EXPECT_EQ(lines.json().at("accepted"), 1);
  EXPECT_EQ(lines.json().at("refusals")[0].at("error").at("field"), "/item");
  EXPECT_EQ(Ask(Method::kPost, "/filter", Filter("1", kLastSafe)).status, 200u);
  EXPECT_EQ(Ask(Method::kPost, "/filter", Filter("1", "\"" + number + "\"")).status, 200u);
}

TEST_F(UnsafeIntegersTest, ARequestThatIsReadTwiceCountsOnce) {
  engine_.cold = true;
  const std::string number = kUnsafe;
  for (const auto& [target, body] :
       {std::pair("/plays", R"({"events":[{"user":1,"item":)" + number + "}]}"),
        std::pair("/impressions", Filter("1", number)),
        std::pair("/filter", Filter("1", number))}) {
    http::RequestHead head;
    head.method = Method::kPost;
    head.target = target;
    head.content_length = body.size();
    http::Plan plan = service_->Begin(head);
    const test::Padded padded(body);
    const uint64_t before = Counted();
    http::Response response;
    test::RunHere(service_->Handle(plan, {head, padded.view(), nullptr}, &response));
    EXPECT_EQ(response.status, 200u) << response.body;  // on a worker, at the second try
    EXPECT_EQ(Counted() - before, 1u) << target;
  }
}

TEST_F(UnsafeIntegersTest, OneLineAMinuteTellsOfThem) {
  UnsafeIntegers numbers;
  UnsafeIntegers::Time now{};
  now += std::chrono::hours(1);
  uint64_t since = 0;
  EXPECT_TRUE(numbers.Count(3, now, &since));
  EXPECT_EQ(since, 3u);
  EXPECT_FALSE(numbers.Count(5, now + std::chrono::seconds(59), &since));
  EXPECT_TRUE(numbers.Count(1, now + std::chrono::seconds(60), &since));
  EXPECT_EQ(since, 6u);
  EXPECT_EQ(numbers.total(), 9u);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
