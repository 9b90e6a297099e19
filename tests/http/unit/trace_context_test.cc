// Headers of W3C Trace Context: which are taken, and what a request that is caused is sent.

#include "http/trace_context.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00f067aa0ba902b7";
const std::string kWhole = "00-" + kTrace + "-" + kParent + "-01";

bool IsTaken(const std::string& text) {
  TraceContext trace;
  const bool taken = trace.Parse(text);
  EXPECT_EQ(taken, !trace.trace_id.empty()) << text;
  EXPECT_EQ(taken, !trace.span_id.empty()) << text;
  return taken;
}

std::string With(size_t at, const std::string& text) {
  std::string changed = kWhole;
  return changed.replace(at, text.size(), text);
}

TEST(TraceContextTest, ItsPartsAreTaken) {
  TraceContext trace;
  ASSERT_TRUE(trace.Parse(kWhole));
  EXPECT_EQ(trace.trace_id, kTrace);
  EXPECT_EQ(trace.parent_id, kParent);
  EXPECT_TRUE(trace.sampled);
}

TEST(TraceContextTest, ACausedRequestHasTheTraceAndAnotherParent) {
  TraceContext trace;
  ASSERT_TRUE(trace.Parse(kWhole));
  EXPECT_NE(trace.span_id, kParent);
  EXPECT_EQ(trace.ToHeader(), "00-" + kTrace + "-" + trace.span_id + "-01");
  TraceContext next;
  ASSERT_TRUE(next.Parse(trace.ToHeader()));
  EXPECT_EQ(next.trace_id, kTrace);
  EXPECT_EQ(next.parent_id, trace.span_id);
  EXPECT_NE(next.span_id, trace.span_id);
}

TEST(TraceContextTest, OfTheFlagsOneIsPassedOn) {
  for (const auto& [flags, sampled] : {std::pair("00", false), std::pair("01", true),
                                       std::pair("02", false), std::pair("ff", true)}) {
    TraceContext trace;
    ASSERT_TRUE(trace.Parse(With(53, flags))) << flags;
    EXPECT_EQ(trace.sampled, sampled) << flags;
    EXPECT_EQ(trace.ToHeader().substr(52), sampled ? "-01" : "-00") << flags;
  }
}

TEST(TraceContextTest, MalformedOnesAreIgnored) {
  EXPECT_TRUE(IsTaken(kWhole));
  for (size_t length = 0; length < kWhole.size(); ++length) {
    EXPECT_FALSE(IsTaken(kWhole.substr(0, length))) << length;
  }
  for (size_t at = 0; at < kWhole.size(); ++at) {
    for (const char* wrong : {"A", "F", "g", " ", ".", "\xC3", "\x7F"}) {
      EXPECT_FALSE(IsTaken(With(at, wrong))) << at << wrong;
    }
    if (kWhole[at] != '-') {
      EXPECT_FALSE(IsTaken(With(at, "-"))) << at;
    }
  }
  EXPECT_FALSE(IsTaken("00_" + kWhole.substr(3)));
  EXPECT_FALSE(IsTaken(With(3, std::string(32, '0')))) << "no trace";
  EXPECT_FALSE(IsTaken(With(36, std::string(16, '0')))) << "no parent";
  EXPECT_TRUE(IsTaken(With(3, std::string(31, '0') + "1")));
  EXPECT_FALSE(IsTaken(" " + kWhole));
  EXPECT_FALSE(IsTaken(std::string(100'000, '0')));
}

TEST(TraceContextTest, LaterVersionsMayHaveMore) {
  EXPECT_FALSE(IsTaken("ff" + kWhole.substr(2))) << "no version";
  EXPECT_FALSE(IsTaken("ff" + kWhole.substr(2) + "-more"));
  EXPECT_FALSE(IsTaken(kWhole + "-more")) << "version 00 has no more";
  EXPECT_FALSE(IsTaken(kWhole + "0"));
  for (const char* version : {"01", "cc", "fe"}) {
    const std::string later = version + kWhole.substr(2);
    EXPECT_TRUE(IsTaken(later));
    EXPECT_TRUE(IsTaken(later + "-"));
    EXPECT_TRUE(IsTaken(later + "-what the future will be like"));
    EXPECT_FALSE(IsTaken(later + "0"));
    EXPECT_FALSE(IsTaken(later + ".what"));
  }
  TraceContext trace;
  ASSERT_TRUE(trace.Parse("cc" + kWhole.substr(2) + "-more"));
  EXPECT_EQ(trace.ToHeader().substr(0, 3), "00-") << "what this one speaks";
}

TEST(TraceContextTest, StatesAreJoinedAndBounded) {
  TraceContext trace;
  trace.AddState("a=1");
  trace.AddState("");
  trace.AddState("b=2,c=3");
  EXPECT_EQ(trace.state, "a=1,b=2,c=3");
  trace.Clear();
  trace.AddState(std::string(kMaxTraceStateBytes, 'a'));
  EXPECT_EQ(trace.state.size(), kMaxTraceStateBytes);
  trace.AddState("b");
  trace.AddState("c");
  EXPECT_EQ(trace.state, "") << "all of it, or nothing";
  trace.Clear();
  trace.AddState(std::string(kMaxTraceStateBytes + 1, 'a'));
  EXPECT_EQ(trace.state, "");
  trace.Clear();
  trace.AddState("a=\xC3\xA9");
  EXPECT_EQ(trace.state, "");
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
