#include "api/status_http.h"

#include <gtest/gtest.h>

namespace seendb::api {
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
}  // namespace seendb::api
