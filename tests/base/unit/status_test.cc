#include "seendb/status.h"

#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(Status, SuccessHasNoCodeMessageOrField) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.field(), "");
  EXPECT_EQ(status.ToString(), "ok");
  EXPECT_EQ(sizeof(status), sizeof(void*));
}

TEST(Status, FailureSaysWhatAndWhere) {
  const Status status = Status::InvalidArgument("id is empty", "/items/3");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "id is empty");
  EXPECT_EQ(status.field(), "/items/3");
  EXPECT_EQ(status.ToString(), "invalid_argument: id is empty (at /items/3)");
  EXPECT_EQ(Status::Busy("ring is full").ToString(), "busy: ring is full");
}

TEST(Status, EachShortFormHasItsCode) {
  EXPECT_EQ(Status::NotFound("").code(), StatusCode::kNotFound);
  EXPECT_EQ(Status::Incompatible("").code(), StatusCode::kIncompatible);
  EXPECT_EQ(Status::Corruption("").code(), StatusCode::kCorruption);
  EXPECT_EQ(Status::Busy("").code(), StatusCode::kBusy);
  EXPECT_EQ(Status::IOError("").code(), StatusCode::kIOError);
  EXPECT_EQ(Status::Unavailable("").code(), StatusCode::kUnavailable);
  EXPECT_EQ(Status::Closed().code(), StatusCode::kClosed);
  EXPECT_EQ(Status::Closed().message(), "the engine is closed");
}

TEST(Status, CodeNamesAreStableAndDistinct) {
  EXPECT_EQ(StatusCodeName(StatusCode::kOk), "ok");
  EXPECT_EQ(StatusCodeName(StatusCode::kInvalidArgument), "invalid_argument");
  EXPECT_EQ(StatusCodeName(StatusCode::kNotFound), "not_found");
  EXPECT_EQ(StatusCodeName(StatusCode::kIncompatible), "incompatible");
  EXPECT_EQ(StatusCodeName(StatusCode::kCorruption), "corruption");
  EXPECT_EQ(StatusCodeName(StatusCode::kBusy), "busy");
  EXPECT_EQ(StatusCodeName(StatusCode::kIOError), "io_error");
  EXPECT_EQ(StatusCodeName(StatusCode::kUnavailable), "unavailable");
  EXPECT_EQ(StatusCodeName(StatusCode::kClosed), "closed");
  EXPECT_EQ(StatusCodeName(StatusCode::kIncomplete), "incomplete");
  EXPECT_EQ(StatusCodeName(StatusCode::kForbidden), "forbidden");
  EXPECT_EQ(StatusCodeName(static_cast<StatusCode>(200)), "unknown");
}

TEST(Status, CopiesShareNothing) {
  Status first = Status::NotFound("no bucket", "/bucket");
  Status copy(first);
  first = Status::Ok();
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(copy.message(), "no bucket");
  Status assigned;
  assigned = copy;
  copy = Status::Busy("later");
  EXPECT_EQ(assigned.code(), StatusCode::kNotFound);
  EXPECT_EQ(assigned.field(), "/bucket");
  const Status& itself = assigned;
  assigned = itself;
  EXPECT_EQ(assigned.message(), "no bucket");
  assigned = Status();
  EXPECT_TRUE(assigned.ok());
}

TEST(Status, MovedFromIsASuccess) {
  Status from = Status::IOError("disk");
  const Status to(std::move(from));
  EXPECT_TRUE(from.ok());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(to.code(), StatusCode::kIOError);
}

TEST(Status, FieldPrefixIsPutInFront) {
  const Status status = Status::InvalidArgument("id is empty", "/3/item");
  EXPECT_EQ(status.WithFieldPrefix("/events").field(), "/events/3/item");
  EXPECT_EQ(status.field(), "/3/item");
  EXPECT_EQ(Status::Busy("x").WithFieldPrefix("/a").field(), "/a");
  EXPECT_TRUE(Status::Ok().WithFieldPrefix("/a").ok());
}

TEST(Result, HoldsAValueOrAFailure) {
  Result<int> good(7);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(good.status().ok());
  EXPECT_EQ(*good, 7);
  *good = 8;
  EXPECT_EQ(good.value(), 8);
  const Result<int> bad(Status::NotFound("none"));
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), StatusCode::kNotFound);
}

TEST(ResultDeathTest, AFailureThatIsAskedForItsValueIsPrinted) {
  Result<int> bad(Status::NotFound("no such database", "/dir"));
  constexpr const char* kSaid = "value.. of a Result that failed: not_found: no such database";
  EXPECT_DEATH(static_cast<void>(bad.value()), kSaid);
  EXPECT_DEATH(static_cast<void>(std::move(bad).value()), kSaid);
  EXPECT_DEATH(static_cast<void>(*bad), kSaid);
  const Result<std::unique_ptr<int>> none(Status::Busy("taken"));
  EXPECT_DEATH(static_cast<void>(none->get()), "busy: taken");
}

TEST(Result, GivesUpMoveOnlyValues) {
  Result<std::unique_ptr<int>> made(std::make_unique<int>(5));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(**made, 5);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 5);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
