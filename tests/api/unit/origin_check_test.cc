// Which Host and Origin headers are taken: those of this server, and those the settings name.

#include "api/origin_check.h"

#include <string>
#include <vector>

#include "api/unit/service_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using api::OriginCheck;
using Names = std::vector<std::string>;

// The code of the refusal; empty: taken.
std::string Refused(const OriginCheck& check, const std::string& host,
                    const std::string& origin = "", const std::string& site = "",
                    const std::string& target = "/filter", bool page = false) {
  http::RequestHead head;
  head.host = host;
  head.origin = origin;
  head.fetch_site = site;
  head.target = target;
  const auto refused = check.Refuse(head, page);
  if (!refused) return "";
  EXPECT_EQ(refused->status, 403U);
  return std::string(refused->code);
}

TEST(OriginCheckTest, NamesThatNobodyCanRegisterAreOurs) {
  const OriginCheck check({}, {}, "Node-7.example.net");
  for (const char* const host :
       {"", "127.0.0.1", "127.0.0.1:7373", "10.1.2.3:80", "[::1]:7373", "[::ffff:10.0.0.1]",
        "localhost", "LOCALHOST:7373", "localhost.", "seendb", "seendb:7373", "a.localhost",
        "printer.local", "db.internal", "seendb.prod.svc.cluster.local:7373",
        "node-7.example.net:7373"}) {
    EXPECT_EQ(Refused(check, host), "") << host;
  }
}

TEST(OriginCheckTest, NamesThatSomebodyMayOwnAreNot) {
  const OriginCheck check({}, {}, "node-7");
  for (const char* const host :
       {"evil.example", "evil.example:7373", "EVIL.example.", "127.0.0.1.evil.example", "1.2.3",
        "1.2.3.4.5", "local.example", "xlocalhost.com", "[evil.example]", "[::1", "evil.local.com",
        "192.168.0.1.nip.io:7373"}) {
    EXPECT_EQ(Refused(check, host), "unknown_host") << host;
  }
}

TEST(OriginCheckTest, TheSettingNamesMore) {
  const OriginCheck named({"Seen.Example.com"}, {}, "");
  EXPECT_EQ(Refused(named, "seen.example.com:7373"), "");
  EXPECT_EQ(Refused(named, "other.example.com"), "unknown_host");
  const OriginCheck any({"*"}, {}, "");
  EXPECT_EQ(Refused(any, "evil.example"), "");
}

TEST(OriginCheckTest, LinksOfOtherSitesLeadToPagesAlone) {
  const OriginCheck check({}, {}, "");
  const std::string host = "localhost", path = "/console";
  EXPECT_EQ(Refused(check, host, "", "cross-site", path, true), "");
  EXPECT_EQ(Refused(check, host, "", "cross-site", path, false), "foreign_origin");
  EXPECT_EQ(Refused(check, host, "https://evil.example", "cross-site", path, true),
            "foreign_origin");
  EXPECT_EQ(Refused(check, "evil.example", "", "cross-site", path, true), "unknown_host");
}

TEST(OriginCheckTest, AnAbsoluteTargetCountsBeforeTheHost) {
  const OriginCheck check({}, {}, "");
  EXPECT_EQ(Refused(check, "localhost", "", "", "http://evil.example/filter"), "unknown_host");
  EXPECT_EQ(Refused(check, "evil.example", "", "", "http://localhost:7373/filter"), "");
  EXPECT_EQ(Refused(check, "localhost", "", "", "/filter?next=http://evil.example/"), "");
}

TEST(OriginCheckTest, APageOfAnotherOriginIsForeign) {
  const OriginCheck check({}, {"https://Console.example"}, "");
  const std::string host = "10.0.0.7:7373";
  EXPECT_EQ(Refused(check, host, "http://10.0.0.7:7373", "same-origin"), "");
  EXPECT_EQ(Refused(check, host, "https://console.example", "cross-site"), "") << "it is named";
  EXPECT_EQ(Refused(check, "localhost:80", "http://localhost"), "");
  for (const char* const origin :
       {"null", "https://10.0.0.7:7373", "http://10.0.0.7", "http://10.0.0.7:7374",
        "http://evil.example", "https://console.example.evil.example",
        "http://10.0.0.7:7373, http://evil.example"}) {
    EXPECT_EQ(Refused(check, host, origin), "foreign_origin") << origin;
  }
}

TEST(OriginCheckTest, ABrowserThatSaysItCameFromElsewhereIsForeign) {
  const OriginCheck check({}, {}, "");
  EXPECT_EQ(Refused(check, "localhost", "", "cross-site"), "foreign_origin");
  EXPECT_EQ(Refused(check, "localhost", "", "same-site"), "foreign_origin");
  EXPECT_EQ(Refused(check, "localhost", "", "none"), "") << "typed by a person";
  EXPECT_EQ(Refused(check, "localhost", "", "same-origin"), "");
}

class ForeignRequestTest : public test::ServiceTest {
 protected:
  test::Answer Post(const std::string& target, const std::string& type, const std::string& origin,
                    const std::string& body = "") {
    http::RequestHead head;
    head.method = http::Method::kPost;
    head.target = target;
    head.host = "localhost";
    head.content_type = type;
    head.origin = origin;
    head.content_length = body.size();
    return Ask(head, body);
  }
};

TEST_F(ForeignRequestTest, AFormOfAnotherSiteDrainsNothing) {
  const test::Answer form =
      Post("/admin/drain", "application/x-www-form-urlencoded", "http://evil.example");
  EXPECT_EQ(form.status, 403U);
  EXPECT_EQ(form.code(), "foreign_origin");
  EXPECT_EQ(Post("/users/u/history/clear", "", "null").status, 403U);
  EXPECT_EQ(Post("/admin/drain", "", "").status, 200U) << "as curl -X POST sends it";
}

TEST_F(ForeignRequestTest, AContentTypeMustBeTheRoutesWithoutABodyToo) {
  for (const char* const type : {"application/x-www-form-urlencoded", "multipart/form-data; b=1",
                                 "text/plain", "application/octet-stream"}) {
    EXPECT_EQ(Post("/admin/drain", type, "").status, 415U) << type;
  }
  EXPECT_EQ(Post("/admin/drain", "application/json", "").status, 200U);
}

TEST_F(ForeignRequestTest, BesideAnOriginAContentTypeIsNeeded) {
  EXPECT_EQ(Post("/admin/drain", "", "http://localhost").status, 415U);
  EXPECT_EQ(Post("/admin/drain", "application/json", "http://localhost").status, 200U);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
