// Heads and chunked bodies, whole and byte by byte, and every shape two parsers could read
// differently.

#include "http/request_parser.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

using Progress = RequestParser::Progress;

constexpr size_t kHeaderBytes = 1'024;

/// What came of bytes.
struct Parsed {
  Progress progress = Progress::kNeedsMore;
  RequestHead head;
  std::string body, rest;
  unsigned status = 0;
  std::string message;
};

Parsed Parse(std::string_view bytes, size_t piece, size_t body_limit = 1'000) {
  MemoryBudget budget(std::numeric_limits<size_t>::max() / 2);
  Bytes in(&budget), body(&budget);
  Parsed parsed;
  RequestParser parser(kHeaderBytes, &parsed.head);
  bool in_body = false;
  while (!bytes.empty()) {
    const std::string_view next = bytes.substr(0, piece);
    EXPECT_TRUE(in.Append(next));
    bytes.remove_prefix(next.size());
    if (!in_body) parsed.progress = parser.PutHead(&in);
    if (parsed.progress == Progress::kHead && parsed.head.chunked) in_body = true;
    if (in_body) parsed.progress = parser.PutChunks(&in, &body, body_limit);
    if (parsed.progress == Progress::kBroken) {
      parsed.status = parser.error().status;
      parsed.message = parser.error().message;
      break;
    }
    if (parsed.progress != Progress::kNeedsMore) break;
  }
  parsed.body = body.view();
  parsed.rest = std::string(in.view()) + std::string(bytes);
  return parsed;
}

TEST(RequestParserTest, ReadsAHeadInAnyPieces) {
  const std::string bytes =
      "\r\nPOST /filter?x=1 HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nExpect: 100-Continue\r\nX-Other: y\r\n\r\n{}GET";
  for (const size_t piece : {size_t{1}, size_t{3}, bytes.size()}) {
    const Parsed parsed = Parse(bytes, piece);
    ASSERT_EQ(parsed.progress, Progress::kHead) << piece << parsed.message;
    EXPECT_EQ(parsed.head.method, Method::kPost);
    EXPECT_EQ(parsed.head.Path(), "/filter");
    EXPECT_EQ(parsed.head.Query(), "x=1");
    EXPECT_EQ(parsed.head.content_type, "application/json");
    EXPECT_EQ(parsed.head.content_length, 2u);
    EXPECT_TRUE(parsed.head.expects_continue);
    EXPECT_TRUE(parsed.head.keep_alive);
    EXPECT_EQ(parsed.rest, "{}GET");
  }
}

TEST(RequestParserTest, ReadsChunkedBodiesInAnyPieces) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3\r\nabc\r\n5;ext=1\r\ndefgh\r\n0\r\nTrailer: x\r\n\r\nNEXT";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Parsed parsed = Parse(bytes, piece);
    ASSERT_EQ(parsed.progress, Progress::kDone) << piece << parsed.message;
    EXPECT_EQ(parsed.body, "abcdefgh");
    EXPECT_EQ(parsed.rest, "NEXT");
  }
}

TEST(RequestParserTest, ReadsLastChunksInAnyPieces) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"0\r\n\r\n", "000;a=b\r\n\r\n", "0\r\nA: b\r\nC:\r\n\r\n"}) {
    const std::string bytes = head + body + "NEXT";
    for (size_t piece = 1; piece <= bytes.size(); ++piece) {
      const Parsed parsed = Parse(bytes, piece);
      ASSERT_EQ(parsed.progress, Progress::kDone) << piece << body << parsed.message;
      EXPECT_EQ(parsed.body, "");
      EXPECT_EQ(parsed.rest, "NEXT");
    }
  }
}

TEST(RequestParserTest, KnowsWhoKeepsTheConnection) {
  const auto keeps = [](const std::string& head) {
    const Parsed parsed = Parse(head + "Host: h\r\n\r\n", SIZE_MAX);
    EXPECT_EQ(parsed.progress, Progress::kHead) << head;
    return parsed.head.keep_alive;
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nConnection: close\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n"));
}

TEST(RequestParserTest, RefusesWhatIsAmbiguous) {
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  const std::string refused[] = {
      post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
      post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
      post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
      post + "Content-Length: 5, 5\r\n\r\n",
      post + "Content-Length: +5\r\n\r\n",
      post + "Content-Length: -1\r\n\r\n",
      post + "Content-Length: 5x\r\n\r\n",
      post + "Content-Length:\r\n\r\n",
      post + "Content-Length: 99999999999999999999\r\n\r\n",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n",
      post + "Transfer-Encoding: chunked, gzip\r\n\r\n",
      post + "Transfer-Encoding: xchunked\r\n\r\n",
      post + "Transfer-Encoding: identity\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      post + "Content-Length : 5\r\n\r\n",
      post + "Host: other\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: [::1].evil.example\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: 127.0.0.1:99@evil.example\r\n\r\n",
      "GET http://h@evil.example/ HTTP/1.1\r\nHost: h\r\n\r\n",
      post + "Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n",
      post + "X: a\r\n b\r\n\r\n",
      post + "X: a\r\n\tb\r\n\r\n",
      post + "X:\r\n \r\n\r\n",
      post + "Transfer-Encoding:\r\n chunked\r\n\r\n",
      post + "X: a\nY: b\r\n\r\n",
      post + "X: a\rY: b\r\n\r\n",
      post + " X: a\r\n\r\n",
      "POST / HTTP/1.1\r\n Host: h\r\n\r\n",
      "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\nHost: h\n\n",
      "GET /\r\nHost: h\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
      "G@T / HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nBad\x01Name: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nNoColon\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  for (const std::string& bytes : refused) {
    for (const size_t piece : {SIZE_MAX, size_t{1}}) {
      // The parser may want to see the end of the head before it judges.
      const Parsed parsed = Parse(bytes + "\r\n\r\n", piece);
      EXPECT_EQ(parsed.progress, Progress::kBroken) << testing::PrintToString(bytes);
      EXPECT_EQ(parsed.status, 400u) << testing::PrintToString(bytes);
    }
  }
}

TEST(RequestParserTest, RefusesBrokenChunks) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"x\r\n",
                           "-1\r\n",
                           "3\r\nabcd\r\n",
                           "3\nabc\n",
                           "\r\n",
                           "ffffffffffffffffff\r\nabc",
                           "0x3\r\nabc\r\n",
                           "3 \r\nabc\r\n",
                           " 3\r\nabc\r\n",
                           "+3\r\nabc\r\n",
                           "3\r\nabc\n",
                           "3\r\nabc\r3\r\n",
                           "3;a=\n\r\nabc\r\n",
                           "3\r\r\nabc\r\n",
                           "\t3\r\nabc\r\n",
                           ";\r\n",
                           "00000000000000003\r\nabc\r\n",
                           "0\r\nno colon\r\n",
                           "0\r\n: x\r\n",
                           "0\r\n folded: x\r\n",
                           "0\r\nA : x\r\n",
                           "0\r\nA: \x01\r\n"}) {
    for (const size_t piece : {SIZE_MAX, size_t{1}}) {
      const Parsed parsed = Parse(head + body + "0\r\n\r\n0\r\n\r\n", piece);
      EXPECT_EQ(parsed.progress, Progress::kBroken) << testing::PrintToString(body);
      EXPECT_EQ(parsed.status, 400u) << testing::PrintToString(body);
    }
  }
}

TEST(RequestParserTest, LimitsHeadsAndBodies) {
  const std::string wide = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(2'000, 'x');
  const std::string target = "GET /" + std::string(2'000, 'x');
  std::string tall = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 300; ++i) tall += "X: y\r\n";
  for (const std::string& head : {wide, target, tall}) {
    for (const size_t piece : {SIZE_MAX, size_t{1}}) {
      EXPECT_EQ(Parse(head, piece).status, 431u) << head.substr(0, 30) << piece;
    }
  }
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(Parse(chunked + "a\r\n0123456789\r\n", SIZE_MAX, 10).progress, Progress::kNeedsMore);
  EXPECT_EQ(Parse(chunked + "b\r\n0123456789x\r\n", SIZE_MAX, 10).status, 413u);
  EXPECT_EQ(Parse(chunked + "6\r\n012345\r\n6\r\n012345\r\n", SIZE_MAX, 10).status, 413u);
  const std::string x(2'000, 'x');
  for (const size_t piece : {SIZE_MAX, size_t{1}}) {
    EXPECT_EQ(Parse(chunked + "1;" + x, piece).status, 400u);
    EXPECT_EQ(Parse(chunked + "0\r\nA: " + x, piece).status, 400u);
    EXPECT_EQ(
        Parse(chunked + "0\r\nA: " + x.substr(0, 900) + "\r\nB: " + x.substr(0, 900), piece).status,
        400u);
  }
}

TEST(RequestParserTest, RequestIds) {
  const auto id = [](const std::string& lines) {
    return Parse("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n", SIZE_MAX).head.request_id;
  };
  EXPECT_EQ(id(""), "");
  EXPECT_EQ(id("X-Request-Id: a-1\r\n"), "a-1");
  EXPECT_EQ(id("x-rEQUEST-iD:  two words \r\n"), "two words");
  EXPECT_EQ(id("X-Request-Id: \xC3\xA9\r\n"), "");
  EXPECT_EQ(id("X-Request-Id: a\tb\r\n"), "");
  EXPECT_EQ(id("X-Request-Id: a\r\nX-Request-Id: b\r\n"), "");
  const std::string longest(kMaxRequestIdBytes, 'a');
  EXPECT_EQ(id("X-Request-Id: " + longest + "\r\n"), longest);
  EXPECT_EQ(id("X-Request-Id: " + longest + "a\r\n"), "");
}

TEST(RequestParserTest, TheTraceOfARequest) {
  const auto trace = [](const std::string& lines) {
    return Parse("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n", SIZE_MAX).head.trace;
  };
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  const std::string parent = "traceparent: 00-" + id + "-00f067aa0ba902b7-01\r\n";
  EXPECT_EQ(trace("").trace_id, "");
  EXPECT_EQ(trace(parent).trace_id, id);
  EXPECT_EQ(trace("TraceParent:   00-" + id + "-00f067aa0ba902b7-01  \r\n").trace_id, id);
  EXPECT_EQ(trace("tracestate: a=1\r\n" + parent + "TraceState: b=2\r\n").state, "a=1,b=2");
  for (const std::string& none :
       {parent + parent, parent + "traceparent: 00\r\n", "traceparent: 00\r\n" + parent,
        std::string("traceparent: 00\r\n")}) {
    const TraceContext ignored = trace(none + "tracestate: a=1\r\n");
    EXPECT_EQ(ignored.trace_id + ignored.parent_id + ignored.span_id + ignored.state, "") << none;
  }
}

TEST(RequestParserTest, WhatNodesOfAClusterSay) {
  const auto routing = [](const std::string& lines) {
    return Parse("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n", SIZE_MAX).head.routing;
  };
  const RoutingHead none = routing("SeenDB-Unknown: 1\r\nSeenDB-: 2\r\n");
  EXPECT_FALSE(none.hop || none.failover);
  EXPECT_EQ(none.all, "seendb-unknown:1\n");
  EXPECT_EQ(none.user + none.position + none.route + none.caller + none.tenant, "");
  const RoutingHead all = routing(
      "seendb-hop: 1\r\nSeenDB-Failover: 1\r\nSeenDB-User: u 1\r\nSeenDB-Position: 1:2\r\n"
      "SeenDB-Position: 3:4\r\nSeenDB-Route: direct\r\nSeenDB-Caller: {}\r\n"
      "SeenDB-Tenant: 7\r\nSeenDB-Age-Ms: 12\r\n");
  EXPECT_TRUE(all.hop && all.failover);
  EXPECT_EQ(all.user, "u 1");
  EXPECT_EQ(all.position, "1:2, 3:4");
  EXPECT_EQ(all.route, "direct");
  EXPECT_EQ(all.caller, "{}");
  EXPECT_EQ(all.tenant, "7");
  EXPECT_EQ(all.age_ms, 12);
  EXPECT_EQ(routing("SeenDB-Age-Ms: -5\r\n").age_ms, 0);
  // What a proof is of: all of them as they came, but for the proof itself.
  const RoutingHead proven = routing(
      "SeenDB-Timeout-Ms: 7 \r\nSeenDB-User: u 1\r\nX-Envoy-Attempt-Count: 2\r\n"
      "SeenDB-Peer-Proof: 1 a b\r\nSeenDB-User: u2\r\n");
  EXPECT_EQ(proven.all, "seendb-timeout-ms:7\nseendb-user:u 1\nseendb-user:u2\n");
  EXPECT_EQ(proven.proof, "1 a b");
  EXPECT_EQ(routing("SeenDB-Peer-Proof: a\r\nSeenDB-Peer-Proof: b\r\n").proof, "a, b");
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
