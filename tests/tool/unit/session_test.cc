// Which server a command asks, and what is said of one that is not there.

#include "session.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

using testing::HasSubstr;

/// Sets SEENDB_URL, or takes it away for null, and puts it back at the end.
class Variable {
 public:
  explicit Variable(const char* value) {
    if (const char* const before = std::getenv("SEENDB_URL")) before_ = before;
    Set(value);
  }
  ~Variable() { Set(before_.empty() ? nullptr : before_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  static void Set(const char* value) {
    if (value == nullptr) {
      unsetenv("SEENDB_URL");
    } else {
      setenv("SEENDB_URL", value, 1);
    }
  }
  std::string before_;
};

TEST(SessionServerTest, TheFlagWinsOverTheVariableAndThatOverTheDefault) {
  Session session;
  {
    const Variable none(nullptr);
    EXPECT_EQ(ServerUrlOf(session).url, "http://127.0.0.1:7373");
    EXPECT_EQ(ServerUrlOf(session).named_by, "");
  }
  {
    const Variable empty("");
    EXPECT_EQ(ServerUrlOf(session).url, "http://127.0.0.1:7373");
  }
  const Variable named("http://somewhere:1");
  EXPECT_EQ(ServerUrlOf(session).url, "http://somewhere:1");
  EXPECT_EQ(ServerUrlOf(session).named_by, "SEENDB_URL");
  session.url = "http://elsewhere:2";
  EXPECT_EQ(ServerUrlOf(session).url, "http://elsewhere:2");
  EXPECT_EQ(ServerUrlOf(session).named_by, "--url");
}

TEST(SessionServerTest, AServerThatIsNotThereIsToldWithWhereItsNameIsFrom) {
  Session session;
  const Variable named("http://127.0.0.1:1");
  auto server = OpenServer(session);
  ASSERT_TRUE(server.ok());
  EXPECT_THAT((*server)->Call({}).status().ToString(), HasSubstr("(named by SEENDB_URL)"));
  session.url = "http://127.0.0.1:1";
  server = OpenServer(session);
  ASSERT_TRUE(server.ok());
  EXPECT_THAT((*server)->Call({}).status().ToString(), Not(HasSubstr("(")));
}

TEST(SessionServerTest, AUrlThatCannotBeReadIsToldWithWhereItIsFrom) {
  const Variable named("nowhere");
  EXPECT_THAT(OpenServer({}).status().ToString(), HasSubstr("SEENDB_URL nowhere"));
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
