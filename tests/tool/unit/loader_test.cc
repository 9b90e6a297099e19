#include "loader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

RecordReader::ReadFn From(std::string text) {
  return [text = std::move(text), at = size_t{0}](char* to, size_t size) mutable -> Result<size_t> {
    const size_t n = std::min(size, text.size() - at);
    std::memcpy(to, text.data() + at, n);
    at += n;
    return n;
  };
}

std::unique_ptr<PlayReader> ReaderOf(const std::string& rows, const PlayColumns& columns = {}) {
  return PlayReader::Open(From("user,item,at\n" + rows), LogFormat::kCsv, columns).value();
}

/// Keeps what it is given; fails as often as told; refuses the item "old".
class FakeSink : public PlaySink {
 public:
  Result<SendResult> Send(const PlayBatch& batch) override {
    ++calls;
    if (!failures.empty()) {
      const Status status = failures.front();
      failures.pop_front();
      return status;
    }
    SendResult result;
    for (size_t i = 0; i < batch.size(); ++i) {
      const PlayRow row = batch.At(i);
      if (row.item == "old") {
        ++result.refused;
        result.refusals.emplace_back(i, "too old");
        continue;
      }
      ++result.accepted;
      plays.push_back(std::string(row.user) + " " + std::string(row.item) + " " +
                      std::to_string(row.at_ms.value()));
    }
    batches.push_back(batch.size());
    return result;
  }
  int64_t retry_after_s() const override { return retry_after; }

  int calls = 0;
  int64_t retry_after = 0;
  std::deque<Status> failures;
  std::vector<std::string> plays;
  std::vector<size_t> batches;
};

class TempFile {
 public:
  TempFile()
      : path_((std::filesystem::temp_directory_path() /
               ("seendb_loader_test_" + std::to_string(::getpid()) + ".json"))
                  .string()) {
    std::filesystem::remove(path_);
  }
  ~TempFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Plays = std::vector<std::string>;

TEST(Loader, StopsBetweenRowsAndSendsWhatItHas) {
  auto reader = ReaderOf("u,1,1\nu,2,2\nu,3,3\nu,4,4\n");
  FakeSink sink;
  Loader loader(*reader, sink, {.batch_plays = 2}, {});
  int asked = 0;
  loader.SetStop([&] { return ++asked > 3; });
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_TRUE(loader.stopped());
  EXPECT_EQ(sink.batches, (std::vector<size_t>{2, 1}));
  EXPECT_EQ(loader.state().rows, 3U);
  auto rest = ReaderOf("u,1,1\nu,2,2\nu,3,3\nu,4,4\n");
  Loader second(*rest, sink, {.skip_rows = 3}, {});
  ASSERT_TRUE(second.Run({}).ok());
  EXPECT_FALSE(second.stopped());
  EXPECT_EQ(sink.plays.size(), 4U);
  EXPECT_EQ(sink.plays.back(), "u 4 4000");
}

TEST(Loader, AStopEndsTheTries) {
  auto reader = ReaderOf("u,1,1\n");
  FakeSink sink;
  sink.failures.assign(100, Status::Unavailable("away"));
  Loader loader(*reader, sink, {}, {});
  int pauses = 0;
  loader.SetPause([&](int64_t) { ++pauses; });
  loader.SetStop([&] { return pauses == 2; });
  EXPECT_EQ(loader.Run({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(sink.calls, 2);
  EXPECT_EQ(loader.state().rows, 0U) << "what was not taken is not counted";
}

TEST(Loader, SendsBatchesAndKeepsTheBooks) {
  auto reader = ReaderOf("u,1,1\nbad\nu,2,2\nu,old,3\nu,4,x\nu,5,5\n");
  FakeSink sink;
  Loader loader(*reader, sink, {.batch_plays = 2, .shift_ms = 7}, {});
  std::vector<uint64_t> progress;
  ASSERT_TRUE(loader.Run([&](uint64_t rows) { progress.push_back(rows); }).ok());
  EXPECT_EQ(sink.plays, (Plays{"u 1 1007", "u 2 2007", "u 5 5007"}));
  EXPECT_EQ(sink.batches, (std::vector<size_t>{2, 2}));
  EXPECT_EQ(progress, (std::vector<uint64_t>{3, 6, 6}));
  EXPECT_EQ(loader.state().rows, 6U);
  EXPECT_EQ(loader.state().accepted, 3U);
  EXPECT_EQ(loader.state().refused, 1U);
  EXPECT_EQ(loader.state().bad, 2U);
  ASSERT_EQ(loader.bad_rows().size(), 2U);
  EXPECT_EQ(loader.bad_rows()[0].first, 2U);
  EXPECT_EQ(loader.bad_rows()[1].first, 5U);
  ASSERT_EQ(loader.refusals().size(), 1U);
  EXPECT_EQ(loader.refusals()[0], (RowError{4, "too old"}));
}

TEST(Loader, DescribesTheFirstTenBadRows) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += "bad\n";
  auto reader = ReaderOf(rows);
  FakeSink sink;
  Loader loader(*reader, sink, {}, {});
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(loader.state().bad, 30U);
  EXPECT_EQ(loader.bad_rows().size(), kRowErrorsMax);
  EXPECT_EQ(sink.calls, 0);
}

TEST(Loader, RetriesWithLongerPausesWhileBusy) {
  auto reader = ReaderOf("u,1,1\n");
  FakeSink sink;
  sink.failures = {Status::Busy("full"), Status::Unavailable("gone"), Status::Busy("full")};
  Loader loader(*reader, sink, {}, {});
  std::vector<int64_t> pauses;
  loader.SetPause([&](int64_t ms) { pauses.push_back(ms); });
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(pauses, (std::vector<int64_t>{100, 200, 400}));
  EXPECT_EQ(sink.plays.size(), 1U);
}

TEST(Loader, HonoursRetryAfterAndGivesUpInTime) {
  auto reader = ReaderOf("u,1,1\n");
  FakeSink sink;
  sink.retry_after = 2;
  for (int i = 0; i < 100; ++i) sink.failures.push_back(Status::Busy("full"));
  Loader loader(*reader, sink, {.retry_s = 5}, {});
  int64_t waited_ms = 0;
  loader.SetPause([&](int64_t ms) { waited_ms += ms; });
  const Status status = loader.Run({});
  EXPECT_EQ(status.code(), StatusCode::kBusy);
  EXPECT_EQ(waited_ms, 5'000);
  EXPECT_EQ(sink.calls, 4) << "at 0, 2, 4 and 5 s";
  EXPECT_EQ(loader.state().rows, 0U);
}

TEST(Loader, DoesNotRetryWhatCannotSucceed) {
  auto reader = ReaderOf("u,1,1\n");
  FakeSink sink;
  sink.failures = {Status::NotFound("no such collection")};
  Loader loader(*reader, sink, {}, {});
  loader.SetPause([](int64_t) { FAIL() << "no pause"; });
  EXPECT_EQ(loader.Run({}).code(), StatusCode::kNotFound);
  EXPECT_EQ(sink.calls, 1);
}

TEST(Loader, StrictStopsAtTheBadRowAndKeepsWhatCameBefore) {
  const TempFile state;
  auto reader = ReaderOf("u,1,1\nbad\nu,3,3\n");
  FakeSink sink;
  Loader loader(*reader, sink, {.resume_path = state.path(), .strict = true}, {"f", 0, "default"});
  const Status status = loader.Run({});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("row 2"), std::string::npos) << status.message();
  EXPECT_EQ(sink.plays, Plays{"u 1 1000"});
  EXPECT_EQ(ReadResumeState(state.path()).value().rows, 1U);
}

TEST(Loader, ResumesAfterTheLastAcknowledgedBatch) {
  const TempFile file;
  const std::string rows = "u,1,1\nu,2,2\nbad\nu,4,4\nu,5,5\n";
  FakeSink sink;
  {
    auto reader = ReaderOf(rows);
    Loader loader(*reader, sink, {.batch_plays = 2, .resume_path = file.path(), .retry_s = 0},
                  {"f", 0, "default"});
    // The second batch fails.
    int batches = 0;
    const Status status = loader.Run([&](uint64_t) {
      if (++batches == 1) sink.failures = {Status::Unavailable("gone")};
    });
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  }
  auto saved = ReadResumeState(file.path());
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->rows, 2U);
  EXPECT_EQ(saved->accepted, 2U);
  auto reader = ReaderOf(rows);
  Loader loader(*reader, sink, {.batch_plays = 2, .resume_path = file.path()}, *saved);
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(sink.plays, (Plays{"u 1 1000", "u 2 2000", "u 4 4000", "u 5 5000"}));
  EXPECT_EQ(loader.state().rows, 5U);
  EXPECT_EQ(loader.state().accepted, 4U);
  EXPECT_EQ(loader.state().bad, 1U);
  EXPECT_EQ(ReadResumeState(file.path()).value().rows, 5U);
}

TEST(Loader, RefusesAStateBeyondTheLog) {
  auto reader = ReaderOf("u,1,1\n");
  FakeSink sink;
  ResumeState state;
  state.rows = 2;
  Loader loader(*reader, sink, {}, state);
  EXPECT_EQ(loader.Run({}).code(), StatusCode::kInvalidArgument);
}

class ResumeTest : public ::testing::Test {
 protected:
  Status Load(const std::string& rows) {
    auto saved = ReadResumeState(file_.path());
    EXPECT_TRUE(saved.ok());
    saved->file = "log.csv";
    auto reader = ReaderOf(rows);
    Loader loader(*reader, sink_, {.batch_plays = 2, .resume_path = file_.path()}, *saved);
    const Status status = loader.Run({});
    waits_ = loader.last_row_waits();
    return status;
  }

  const TempFile file_;
  FakeSink sink_;
  bool waits_ = false;
};

TEST_F(ResumeTest, ALogThatGrewGoesOn) {
  ASSERT_TRUE(Load("u,a,1\nu,b,2\nu,c,3\n").ok());
  ASSERT_TRUE(Load("u,a,1\nu,b,2\nu,c,3\nu,d,4\n").ok());
  EXPECT_EQ(sink_.plays, (Plays{"u a 1000", "u b 2000", "u c 3000", "u d 4000"}));
}

TEST_F(ResumeTest, AnotherLogIsRefused) {
  ASSERT_TRUE(Load("u,a,1\nu,b,2\n").ok());
  // New rows on top; one byte is another one; a shorter one; a header of other names.
  for (const char* other : {"u,c,3\nu,a,1\nu,b,2\n", "u,a,1\nu,c,2\nu,d,3\n", "u,a,1\n", ""}) {
    const Status status = Load(other);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << other;
    EXPECT_NE(status.message().find("log.csv is not the log"), std::string::npos)
        << status.message();
  }
  EXPECT_EQ(sink_.plays.size(), 2U);
  EXPECT_EQ(ReadResumeState(file_.path())->rows, 2U);
  ASSERT_TRUE(Load("u,a,1\nu,b,2\n").ok());
}

TEST_F(ResumeTest, ARowWithoutALineEndWaits) {
  ASSERT_TRUE(Load("u,a,1\nu,video-2,2").ok());
  EXPECT_TRUE(waits_);
  EXPECT_EQ(sink_.plays, Plays{"u a 1000"});
  ASSERT_TRUE(Load("u,a,1\nu,video-2,2345").ok());
  ASSERT_TRUE(Load("u,a,1\nu,video-2,2345\n").ok());
  EXPECT_FALSE(waits_);
  EXPECT_EQ(sink_.plays, (Plays{"u a 1000", "u video-2 2345000"}));
}

TEST(Loader, WithoutAStateTheLastRowNeedsNoLineEnd) {
  auto reader = ReaderOf("u,a,1\nu,b,2");
  FakeSink sink;
  Loader loader(*reader, sink, {}, {});
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(sink.plays.size(), 2U);
}

TEST(Loader, AListOfItemsIsSplit) {
  PlayColumns columns;
  columns.item_separator = " ";
  auto reader = ReaderOf("u,a b  c,1\nu,d,2\n", columns);
  FakeSink sink;
  Loader loader(*reader, sink, {}, {});
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(sink.plays, (Plays{"u a 1000", "u b 1000", "u c 1000", "u d 2000"}));
  EXPECT_EQ(loader.odd_ids().ToText(), "");
}

TEST(Loader, TheMembersOfAListAreTheIds) {
  PlayColumns columns;
  columns.item_separator = ";";
  const std::string longest(255, 'v');  // a list may be longer than an id
  auto reader = ReaderOf(
      "u," + longest + "; b ;" + longest + ",1\nu,a;" + longest + "x,2\nu, ; ;,3\n", columns);
  FakeSink sink;
  Loader loader(*reader, sink, {}, {});
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(sink.plays, (Plays{"u " + longest + " 1000", "u b 1000", "u " + longest + " 1000"}));
  EXPECT_EQ(loader.bad_rows(), (std::vector<RowError>{{2, "item: id is longer than 255 bytes"},
                                                      {3, "item: id is empty"}}));
}

TEST(Loader, OddIdsAreLoadedAndTold) {
  auto reader = ReaderOf("u,a b,1\nu,12.0,2\n1.2E+11,d,3\nNULL,e,4\nu,f|g,5\n");
  FakeSink sink;
  Loader loader(*reader, sink, {}, {});
  ASSERT_TRUE(loader.Run({}).ok());
  EXPECT_EQ(sink.plays.size(), 5U);
  const Json odd = loader.odd_ids().ToJson();
  ASSERT_EQ(odd.size(), 4U);
  EXPECT_EQ(odd[0], (Json{{"kind", "list"}, {"count", 2}, {"row", 1}, {"example", "a b"}}));
  EXPECT_EQ(odd[3]["kind"], "nothing");
}

TEST(OddIds, WhatIsOdd) {
  for (const char* id :
       {"v1", "a-b_c.d:e/f", "123", "1e9", "12e3", "0xff", "nancy", "5.01", "nullable", "é"}) {
    EXPECT_EQ(OddnessOf(id), OddId::kNot) << id;
  }
  for (const char* id : {"1.2E+11", "1e+9", "-1.5e3", "3E-2"}) {
    EXPECT_EQ(OddnessOf(id), OddId::kScientific) << id;
  }
  for (const char* id : {"NULL", "NaN", "none", "N/A", "\\N", "undefined"}) {
    EXPECT_EQ(OddnessOf(id), OddId::kNothing) << id;
  }
  for (const char* id : {"\u00a0v1", "v1\u200b", "\ufeffv1"}) {
    EXPECT_EQ(OddnessOf(id), OddId::kInvisible) << id;
  }
  for (const char* id : {"a\\tb", "a\\\\b", "\\n1"}) {
    EXPECT_EQ(OddnessOf(id), OddId::kEscape) << id;
  }
  for (const char* id : {"a\\b", "v1\\", "a\u200db"}) EXPECT_EQ(OddnessOf(id), OddId::kNot) << id;
  EXPECT_EQ(OddnessOf("123.0"), OddId::kFloat);
  EXPECT_EQ(OddnessOf("[1]"), OddId::kList);
  EXPECT_EQ(OddnessOf("v\""), OddId::kQuote);
}

TEST(ResumeState, IsCheckedAgainstTheLog) {
  const ResumeState saved = {"log.csv", 100, "video", 5, 5, 0, 0};
  EXPECT_TRUE(CheckResumable(saved, {"log.csv", 100, "video"}).ok());
  EXPECT_TRUE(CheckResumable(saved, {"log.csv", 200, "video"}).ok()) << "it may have grown";
  EXPECT_FALSE(CheckResumable(saved, {"log.csv", 99, "video"}).ok());
  EXPECT_FALSE(CheckResumable(saved, {"other.csv", 100, "video"}).ok());
  EXPECT_FALSE(CheckResumable(saved, {"log.csv", 100, "comic"}).ok());
  EXPECT_TRUE(CheckResumable({}, {"log.csv", 100, "video"}).ok()) << "nothing loaded yet";
}

TEST(ResumeState, AnotherFileIsNoState) {
  const TempFile file;
  EXPECT_EQ(ReadResumeState(file.path()).value().rows, 0U) << "absent";
  std::ofstream(file.path()) << "user,item\n";
  EXPECT_EQ(ReadResumeState(file.path()).status().code(), StatusCode::kInvalidArgument);
}

TEST(AppendNdjson, EscapesIds) {
  std::string out;
  AppendNdjson({"a\"\\\n\x01\xC3\xA9", "7", 5}, &out);
  EXPECT_EQ(out, "{\"user\":\"a\\\"\\\\\\u000a\\u0001\xC3\xA9\",\"item\":\"7\",\"at\":5}\n");
  out.clear();
  AppendNdjson({"u", "v", std::nullopt}, &out);
  EXPECT_EQ(out, "{\"user\":\"u\",\"item\":\"v\"}\n");
}

TEST(PlayBatch, KeepsWhatItWasGiven) {
  PlayBatch batch;
  {
    const std::string device = "tv", fields = R"({"a":1})";
    batch.Add({"u", "v", 5, Watch{95, 240, device, fields}}, 1);
    batch.Add({"user", "item", 6}, 2);
    batch.Add({"u", "w", 7, Watch{}}, 3);
  }
  for (int i = 0; i < 1'000; ++i) batch.Add({"u", "v", 5}, 4);  // its memory moves
  const PlayRow first = batch.At(0);
  ASSERT_TRUE(first.watch);
  EXPECT_EQ(first.watch->progress_s, 95);
  EXPECT_EQ(first.watch->duration_s, 240);
  EXPECT_EQ(first.watch->device, "tv");
  EXPECT_EQ(first.watch->fields, R"({"a":1})");
  EXPECT_EQ(batch.At(1).item, "item");
  EXPECT_FALSE(batch.At(1).watch);
  ASSERT_TRUE(batch.At(2).watch);
  EXPECT_EQ(batch.At(2).watch->fields, "");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
