#include "api/status_http.h"

#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/unit/openapi_testing.h"
#include "http/status_text.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

TEST(StatusHttp, FailuresOfTheServerNameNoFolders) {
  const std::string_view path = "/var/lib/seendb/shard-0003/000032.log";
  const std::string told = "write " + std::string(path) + ": No space left on device";
  for (const Status& status : {Status::IOError(told), Status::Corruption(told)}) {
    const http::Error error = ToHttpError(status);
    EXPECT_GE(error.status, 500u);
    EXPECT_EQ(error.message, "write 000032.log: No space left on device");
  }
}

TEST(StatusHttp, ConflictsOfTheServerNameNoFolders) {
  const http::Error error = ToHttpError(
      Status::Incompatible("/var/lib/seendb/copies/monday.tmp is in the way: it is no folder"));
  EXPECT_EQ(error.status, 409u);
  EXPECT_EQ(error.message, "monday.tmp is in the way: it is no folder");
}

TEST(StatusHttp, EveryStatusThatIsAnsweredHasItsPhrase) {
  std::set<unsigned> statuses = {405};  // of no route
  const auto document = WholeOpenApi();
  for (const auto& [path, methods] : document.at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) {
      if (!operation.is_object() || !operation.contains("responses")) continue;
      for (const auto& [status, response] : operation.at("responses").items()) {
        statuses.insert(static_cast<unsigned>(std::stoul(status)));
      }
    }
  }
  EXPECT_GT(statuses.size(), 10u);
  for (const unsigned status : statuses) EXPECT_NE(http::StatusText(status), "Unknown") << status;
}

TEST(StatusHttp, RefusalsStayAsTheyAre) {
  const http::Error error = ToHttpError(Status::InvalidArgument("see /items/0", "/items/0"));
  EXPECT_EQ(error.status, 400u);
  EXPECT_EQ(error.message, "see /items/0");
  EXPECT_EQ(error.field, "/items/0");
}

TEST(StatusHttp, EveryPathLosesItsFolders) {
  EXPECT_EQ(WithoutFolders("/a/b"), "b");
  EXPECT_EQ(WithoutFolders("rename /a/b to \"/c/d e\""), "rename b to \"d e\"");
  EXPECT_EQ(WithoutFolders("(/a/b), in=/c/d; x:/e/f"), "(b), in=d; x:f");
  EXPECT_EQ(WithoutFolders("5/6 of a shard"), "5/6 of a shard");
  EXPECT_EQ(WithoutFolders("the folder /a/"), "the folder ");
  EXPECT_EQ(WithoutFolders(""), "");
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
