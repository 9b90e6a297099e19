// A Consul agent that lies. Each of the lies of tests/lies/table.py; the lint asks for them by
// name.

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "discovery/consul_agent.h"
#include "support/answer_lies.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using discovery::ConsulAgent;
using std::chrono::milliseconds;
using test::Answered;
using test::kMegabyte;
using test::Liar;
using test::LieRow;

std::vector<LieRow> Rows() {
  std::vector<LieRow> rows = test::AnswerLies(3 * kMegabyte, milliseconds(700));
  const auto add = [&rows](const char* lie, const char* name, const std::string& text) {
    rows.push_back({lie, name, {{text}}});
  };
  for (const char* status : {"100 X", "204 X", "301 X", "403 X", "500 X", "999 X"}) {
    add("wrong_type", status, Answered("<html>", status));
  }
  add("too_long", "an error", Answered(std::string(kMegabyte / 2, 'x'), "500 X"));
  add("huge_length", "a body", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}");
  return rows;
}

TEST(ConsulAgentLies, EndInTimeAndTellLittle) {
  for (const LieRow& row : Rows()) {
    SCOPED_TRACE(std::string(row.lie) + ": " + row.name);
    const Liar liar([&](const std::string&) { return row.told; });
    ops::ConsulConfig config;
    config.url = liar.url();
    ConsulAgent agent(config);
    const auto began = std::chrono::steady_clock::now();
    const Status made = agent.Register({.id = "one", .json = "{}"});
    const Result<bool> has = agent.Has("one");
    const Status gone = agent.Deregister("one");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
    EXPECT_GT(liar.asked(), 0);
    for (const Status& status : {made, has.status(), gone}) {
      EXPECT_LT(status.message().size(), 500u);
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnavailable) << status.ToString();
    }
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
