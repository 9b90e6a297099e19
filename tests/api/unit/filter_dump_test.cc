// By which way dumps of filters and their key are given, and what an answer says of the dump.

#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "api/unit/service_fixture.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

// The SHA-256 of "abc".
constexpr const char* kTokens =
    R"([{"name":"page","role":"filters","sha256":)"
    R"("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}])";

class FilterDumpTest : public ServiceTest {
 protected:
  http::Response Get(const std::string& target, http::Connection* connection,
                     const std::string& if_none_match = "") {
    http::RequestHead head;
    head.method = Method::kGet;
    head.target = target;
    head.authorization = "Bearer abc";
    head.if_none_match = if_none_match;
    head.connection = connection;
    const http::Plan plan = service_->Begin(head);
    http::Response response;
    if (plan.refused) {
      http::WriteError(plan.refusal, &response);
    } else {
      test::RunHere(service_->Handle(plan, {head, ""}, &response));
    }
    return response;
  }
  static http::Connection From(int family, const std::string& peer, bool secure) {
    http::Connection connection;
    connection.family = family;
    connection.peer = peer;
    connection.secure = secure;
    return connection;
  }
  /// The same for both routes.
  void Expect(http::Connection connection, unsigned status) {
    for (const char* target : {"/users/u/filter", "/admin/item-hash-key"}) {
      EXPECT_EQ(Get(target, &connection).status, status)
          << target << " " << connection.peer << " " << connection.secure;
    }
  }
};

TEST_F(FilterDumpTest, WithoutTokensOnlyTheMachineItselfGetsThem) {
  Expect(From(AF_UNIX, "unix", false), 200);
  Expect(From(AF_INET, "127.0.0.1", false), 200);
  Expect(From(AF_INET, "127.8.0.1", true), 200);
  Expect(From(AF_INET6, "::1", false), 200);
  Expect(From(AF_INET6, "::ffff:127.0.0.1", false), 200);
  for (const char* peer : {"10.0.0.7", "128.0.0.1", "1.127.0.0", "::2", "::ffff:10.0.0.7", ""}) {
    Expect(From(AF_INET, peer, false), 403);
    Expect(From(AF_INET, peer, true), 403);
  }
  EXPECT_EQ(Get("/users/u/filter", nullptr).status, 403u);
}

TEST_F(FilterDumpTest, WithTokensTheyTravelUnderTls) {
  const auto tokens = files::ReadTokens(kTokens);
  ASSERT_TRUE(tokens.ok()) << tokens.status().ToString();
  context_->access.Set(*tokens, false);
  Expect(From(AF_INET, "10.0.0.7", true), 200);
  Expect(From(AF_INET, "10.0.0.7", false), 403);
  Expect(From(AF_INET, "127.0.0.1", false), 200);
}

TEST_F(FilterDumpTest, SaysThatItIsDegraded) {
  http::Connection local = From(AF_UNIX, "unix", false);
  const http::Response whole = Get("/users/u/filter", &local);
  EXPECT_EQ(whole.headers.find("SeenDB-Degraded"), std::string::npos);
  engine_.dump.degraded = true;
  engine_.dump.missing = {"2026-10"};
  const http::Response lacking = Get("/users/u/filter", &local, engine_.dump.Etag());
  EXPECT_EQ(lacking.status, 304u);
  EXPECT_NE(lacking.headers.find("SeenDB-Degraded: true"), std::string::npos);
  EXPECT_NE(whole.body, Get("/users/u/filter", &local).body);
}

TEST_F(FilterDumpTest, SaysWhyThereIsNone) {
  http::Connection local = From(AF_UNIX, "unix", false);
  engine_.dump_fail = Status::Unavailable("the shard is being opened anew");
  const http::Response answer = Get("/users/u/filter", &local);
  EXPECT_EQ(answer.status, 503u);
  EXPECT_EQ(answer.headers.find("ETag"), std::string::npos);
}

TEST_F(FilterDumpTest, TheKeyIsHexadecimal) {
  http::Connection local = From(AF_UNIX, "unix", false);
  engine_.item_key = {.version = 2, .secret = {0xAB, 0x01}, .id = 0x1F};
  const Json key = Json::parse(Get("/admin/item-hash-key", &local).body);
  EXPECT_EQ(key.at("version"), 2);
  EXPECT_EQ(key.at("id"), "000000000000001f");
  EXPECT_EQ(key.at("secret").get<std::string>().substr(0, 6), "ab0100");
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
