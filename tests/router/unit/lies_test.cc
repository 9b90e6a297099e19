// A node that lies to the router of another: about a filter that was passed on to it, and about
// plays that it was to append. Each of the lies of tests/lies/table.py; the lint asks for them by
// name.

#include <chrono>
#include <limits>

#include "router/unit/small_cluster.h"
#include "support/answer_lies.h"
#include "wire/appended.h"
#include "wire/failure_json.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;
using Kind = peers::PeerAnswer::Kind;

constexpr uint32_t kItsPartition = 1;  // n2 leads it, n3 has it too

/// An honest answer to an append, with a change.
std::string AppendedWith(const std::function<void(Json*)>& change) {
  wire::Appended appended;
  appended.applied = true;
  appended.recorded.accepted = 1;
  Json json = Json::parse(wire::AppendedToJson(appended));
  change(&json);
  return json.dump();
}

std::vector<LieRow> Rows() {
  std::vector<LieRow> rows = AnswerLies(65 * kMegabyte, milliseconds(500));
  const auto add = [&rows](const char* lie, const std::string& name, const std::string& text) {
    rows.push_back({lie, name, {{text}}});
  };
  add("too_deep", "an error",
      Answered(R"({"error":)" + Nested(kMegabyte) + "}", "400 Bad Request"));
  add("too_long", "a message",
      Answered(R"({"error":{"code":"busy","message":")" + std::string(kMegabyte, 'x') + R"("}})",
               "429 Too Many Requests"));
  for (const char* body : {"", "7", "null", "[]", "{}", "<html>", R"({"unseen":7})", "a\nb\nc"}) {
    add("wrong_type", body, Answered(body));
    add("wrong_type", std::string(body) + " of 503", Answered(body, "503 X"));
    add("wrong_type", std::string(body) + " of 400", Answered(body, "400 X"));
  }
  for (const char* status :
       {"100 X", "101 X", "103 X", "204 X", "304 X", "421 X", "600 X", "999 X"}) {
    add("wrong_type", status, Answered("{}", status));
  }
  add("wrong_type", "no HTTP", "220 mail ESMTP\r\n");
  for (const char* name : {"accepted", "refused", "outside_window", "beyond_cap"}) {
    add("negative_length", name,
        Answered(AppendedWith([&](Json* json) { (*json)["recorded"][name] = -1; })));
    add("huge_length", name,
        Answered(AppendedWith([&](Json* json) { (*json)["recorded"][name] = 1e300; })));
  }
  add("negative_length", "an offset",
      Answered(AppendedWith([](Json* json) { (*json)["offset"] = -5; })));
  add("huge_length", "an offset", Answered(AppendedWith([](Json* json) {
        (*json)["offset"] = std::numeric_limits<int64_t>::max();
      })));
  add("huge_length", "positions of plays", Answered(AppendedWith([](Json* json) {
        (*json)["recorded"]["first_today"] = {4'000'000'000u, 7u, 18'446'744'073'709'551'615u};
      })));
  add("huge_length", "a position that was refused", Answered(AppendedWith([](Json* json) {
        (*json)["recorded"]["refusals"] = {{{"index", 4'000'000'000u},
                                            {"reason", 99},
                                            {"error", {{"code", "x"}, {"message", "y"}}}}};
      })));
  add("huge_length", "a day", Answered(AppendedWith([](Json* json) {
        (*json)["recorded"]["day"] = std::string(kMegabyte, '9');
      })));
  add("huge_length", "a body", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}");
  add("huge_length", "a pause", Answered("{}", "503 X", "Retry-After: 9223372036854775807\r\n"));
  add("twice", "a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}");
  return rows;
}

class RouterLiesTest : public SmallCluster {
 protected:
  void SetUp() override {
    SmallCluster::SetUp();
    const cluster::MemberRecord record{.node = "n2", .url = liar_.url(), .zone = "n2"};
    ASSERT_TRUE(meta.Apply(meta.next_offset(), cluster::EncodeMeta(record)).ok());
  }
  void Tell(const Lie& told) {
    lie_ = told;
    cluster::NodeHealth& health = nodes[0]->nodes["n2"].health;
    health = {};
    health.Answered();
    nodes[0]->RenewTable();
  }
  /// A client's question ends in time, with an answer of HTTP.
  void ExpectAnswer(const std::string& target, const std::string& body,
                    peers::Headers headers = {}) {
    const int before = liar_.asked();
    const auto began = std::chrono::steady_clock::now();
    const peers::PeerAnswer answer = Ask(*nodes[0], "POST", target, body, std::move(headers));
    EXPECT_EQ(answer.kind, Kind::kAnswered) << answer.why;
    EXPECT_GE(answer.status, 200u);
    EXPECT_LE(answer.status, 599u);
    EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(15'000));
    EXPECT_GT(liar_.asked(), before) << "nobody was lied to";
    said_ = answer;
  }

  Lie lie_;
  peers::PeerAnswer said_;
  Liar liar_{[this](const std::string&) { return lie_; }};
};

TEST_F(RouterLiesTest, ANodeThatLiesEndsNoOther) {
  const std::string user = UserOf(kItsPartition);
  const std::string plays = R"({"events":[{"user":")" + user + R"(","item":"i"}]})";
  for (const LieRow& row : Rows()) {
    SCOPED_TRACE(std::string(row.lie) + ": " + row.name.substr(0, 40));
    Tell(row.told);
    ExpectAnswer("/filter", FilterOf(user));
    Tell(row.told);
    ExpectAnswer("/plays", plays);
    const Json said = Body(said_);
    EXPECT_TRUE(said.is_object()) << said_.body.substr(0, 200);
    EXPECT_LT(said_.body.size(), 10'000u);
    // Users of others are served as before.
    EXPECT_EQ(Ask(*nodes[0], "POST", "/filter", FilterOf(UserOf(0))).status, 200u);
  }
}

TEST_F(RouterLiesTest, LinesOfOthersKeepTheirAnswers) {
  const std::string lines = FilterOf(UserOf(kItsPartition)) + "\n" + FilterOf(UserOf(0)) + "\n";
  for (const char* body : {"", "a\nb\nc", "{}\n{}", "\r"}) {
    Tell({{Answered(body)}});
    ExpectAnswer("/filter", lines, {{"Content-Type", "application/x-ndjson"}});
    EXPECT_EQ(said_.status, 200u);
    const size_t end = said_.body.find('\n');
    ASSERT_NE(end, std::string::npos);
    EXPECT_TRUE(Json::parse(said_.body.substr(0, end)).contains("error")) << said_.body;
    EXPECT_EQ(Json::parse(said_.body.substr(end + 1))["unseen"], Json({"a", "b"})) << said_.body;
  }
}

TEST(AppendedJsonLiesTest, ANumberThatIsNoneIsNoAnswer) {
  EXPECT_TRUE(wire::AppendedFromJson(AppendedWith([](Json*) {})).ok());
  const std::vector<Json> none = {-1, 1.5, 1e300, "7", nullptr, Json::array()};
  for (const Json& value : none) {
    EXPECT_FALSE(
        wire::AppendedFromJson(AppendedWith([&](Json* json) { (*json)["offset"] = value; })).ok())
        << value;
    EXPECT_FALSE(wire::AppendedFromJson(AppendedWith([&](Json* json) {
                   (*json)["recorded"]["accepted"] = value;
                 })).ok())
        << value;
    EXPECT_FALSE(wire::AppendedFromJson(AppendedWith([&](Json* json) {
                   (*json)["recorded"]["first_today"] = Json::array();
                   (*json)["recorded"]["first_today"].push_back(
                       value);  // Clang copies a list for {value}
                 })).ok())
        << value;
  }
  const Status told =
      wire::FailureOf(R"({"error":{"code":"busy","message":")" + std::string(5'000, 'x') + "\"}}",
                      StatusCode::kUnavailable);
  EXPECT_EQ(told.code(), StatusCode::kBusy);
  EXPECT_EQ(told.message(), "");
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
