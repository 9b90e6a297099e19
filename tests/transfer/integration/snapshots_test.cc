// Copies of shards that are kept for other nodes, without a network.

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "api/routes.h"
#include "support/run_here.h"
#include "transfer/files.h"
#include "transfer/integration/node_fixture.h"

namespace seendb::transfer::SEENDB_TEST_FILE {
namespace {

class SnapshotsTest : public TransferTest {
 protected:
  void SetUp() override {
    source_ = Open(source_db_, options_);
    ASSERT_NE(source_, nullptr);
    Fill(source_.get());
    settings_.db = source_db_;
  }
  std::unique_ptr<Snapshots> Start() {
    auto snapshots = std::make_unique<Snapshots>(settings_);
    const Status started = snapshots->Start(source_.get());
    EXPECT_TRUE(started.ok()) << started.ToString();
    return snapshots;
  }
  static Result<Piece> Read(Snapshots& snapshots, const std::string& id, const std::string& name,
                            PieceRange range, const CopyPart& part = kShard) {
    std::promise<Result<Piece>> read;
    snapshots.Read(part, id, name, range,
                   [&](Result<Piece> piece) { read.set_value(std::move(piece)); });
    return read.get_future().get();
  }
  static StatusCode CodeOf(Snapshots& snapshots, const std::string& id, const std::string& name,
                           PieceRange range = {0, 1}, const CopyPart& part = kShard) {
    return Read(snapshots, id, name, range, part).status().code();
  }

  SnapshotSettings settings_;
};

TEST_F(SnapshotsTest, AFileIsReadPieceByPiece) {
  const auto snapshots = Start();
  const Result<Manifest> copy = snapshots->Make(kShard, RequestOf("n2"));
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ(copy->part.shard, kShard);
  const std::string folder = source_db_ + "/tmp/snapshot-" + copy->id;
  const std::map<std::string, std::string> files = Files(folder);
  ASSERT_EQ(files.size(), copy->files.size());
  uint64_t largest = 0;
  for (const CopyEntry& entry : copy->files) {
    const std::string& whole = files.at(entry.name);
    EXPECT_EQ(entry.size, whole.size()) << entry.name;
    Crc32c sum;
    sum.Add(whole);
    EXPECT_EQ(entry.crc32c, sum.value()) << entry.name;
    std::string read;
    while (read.size() < entry.size) {
      const Result<Piece> piece = Read(*snapshots, copy->id, entry.name, {read.size(), UINT64_MAX});
      ASSERT_TRUE(piece.ok()) << piece.status().ToString();
      ASSERT_LE(piece->bytes.size(), Snapshots::kPieceBytes);
      EXPECT_EQ(piece->file_size, entry.size);
      read += piece->bytes;
    }
    EXPECT_EQ(read, whole) << entry.name;
    largest = std::max(largest, entry.size);
  }
  EXPECT_GT(largest, 2 * Snapshots::kPieceBytes);
}

TEST_F(SnapshotsTest, TheChecksumIsCastagnolis) {  // RFC 3720, B.4, and the usual check value
  Crc32c sum;
  sum.Add("123456789");
  EXPECT_EQ(sum.value(), 0xE3069283u);
  Crc32c zeros;
  zeros.Add(std::string(16, '\0'));
  zeros.Add(std::string(16, '\0'));
  EXPECT_EQ(zeros.value(), 0x8A9136AAu);
}

TEST_F(SnapshotsTest, WhatIsNotOnTheListIsNotGiven) {
  const auto snapshots = Start();
  const Result<Manifest> copy = snapshots->Make(kShard, RequestOf("n2"));
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  const CopyEntry& entry = copy->files.front();
  EXPECT_EQ(CodeOf(*snapshots, copy->id, entry.name), StatusCode::kOk);
  for (const char* name : {"../../SEENDB", "..", ".", "", "LOCK", "/etc/passwd"}) {
    EXPECT_EQ(CodeOf(*snapshots, copy->id, name), StatusCode::kNotFound) << name;
  }
  EXPECT_EQ(CodeOf(*snapshots, copy->id, entry.name, {0, 1}, 0), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(*snapshots, "other", entry.name), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(*snapshots, "../" + copy->id, entry.name), StatusCode::kNotFound);
  const auto last = Read(*snapshots, copy->id, entry.name, {entry.size - 1, 100});
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->bytes.size(), 1u);
  for (const PieceRange range : {PieceRange{entry.size, 1}, PieceRange{UINT64_MAX, 1},
                                 PieceRange{0, 0}, PieceRange{UINT64_MAX, UINT64_MAX}}) {
    EXPECT_EQ(CodeOf(*snapshots, copy->id, entry.name, range), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(snapshots->End(0, copy->id).code(), StatusCode::kNotFound);
  EXPECT_TRUE(snapshots->End(kShard, copy->id).ok());
  EXPECT_EQ(snapshots->End(kShard, copy->id).code(), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(*snapshots, copy->id, entry.name), StatusCode::kNotFound);
  EXPECT_TRUE(InTransit(source_db_).empty());
}

TEST_F(SnapshotsTest, AStoreBesideTheShardsIsCopiedAsAShardIs) {
  const CopyPart items = CopyPart::Store("items");
  std::filesystem::create_directory(source_db_ + "/items");
  settings_.stores["items"] = [](const std::string& folder) -> Result<bool> {
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/CURRENT") << "rows";
    return true;
  };
  const auto snapshots = Start();
  const Result<Manifest> copy = snapshots->Make(items, RequestOf("n2"));
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ(copy->part, items);
  EXPECT_TRUE(copy->next_offsets.empty());
  ASSERT_EQ(copy->files.size(), 1u);
  EXPECT_EQ(Read(*snapshots, copy->id, "CURRENT", {0, 100}, items)->bytes, "rows");
  EXPECT_EQ(CodeOf(*snapshots, copy->id, "CURRENT", {0, 1}, kShard), StatusCode::kNotFound);
  const std::string told = ManifestToJson(*copy);
  EXPECT_NE(told.find(R"("store":"items")"), std::string::npos) << told;
  EXPECT_FALSE(ManifestFromJson(told).ok()) << "a node would take it for a shard";
  const CopyPart sets = CopyPart::Store("sets");
  EXPECT_EQ(snapshots->Make(sets, RequestOf("n3")).status().code(), StatusCode::kNotFound);
  std::filesystem::create_directory(source_db_ + "/sets");
  EXPECT_EQ(snapshots->Make(sets, RequestOf("n3")).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(snapshots->End(items, copy->id).ok());
  EXPECT_TRUE(InTransit(source_db_).empty());
}

TEST_F(SnapshotsTest, TwoAreKeptAndEachNodeHasItsOwn) {
  const auto snapshots = Start();
  const Result<Manifest> first = snapshots->Make(kShard, RequestOf("n2"));
  const Result<Manifest> second = snapshots->Make(0, RequestOf("n2"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(snapshots->Make(2, RequestOf("n2")).status().code(), StatusCode::kBusy);
  EXPECT_EQ(snapshots->Make(kShard, RequestOf("n3")).status().code(), StatusCode::kBusy);
  const Result<Manifest> again = snapshots->Make(kShard, RequestOf("n2"));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(ManifestToJson(*again), ManifestToJson(*first));
  EXPECT_EQ(InTransit(source_db_).size(), 2u);
  ASSERT_TRUE(snapshots->End(0, second->id).ok());
  EXPECT_TRUE(snapshots->Make(kShard, RequestOf("n3")).ok());
}

TEST_F(SnapshotsTest, AnotherRunOfABackupEndsTheCopiesOfTheOneBefore) {
  const auto snapshots = Start();
  CopyRequest request = RequestOf("backup-1");
  request.run = "r1";
  request.sha256 = true;
  const Result<Manifest> first = snapshots->Make(kShard, request);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  for (const CopyEntry& entry : first->files) EXPECT_EQ(entry.sha256.size(), 64u) << entry.name;
  EXPECT_EQ(snapshots->Make(kShard, request)->id, first->id);
  request.run = "r2";
  request.sha256 = false;
  const Result<Manifest> second = snapshots->Make(kShard, request);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_NE(second->id, first->id);
  EXPECT_TRUE(second->files[0].sha256.empty());
  EXPECT_EQ(CodeOf(*snapshots, first->id, "CURRENT"), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(source_db_ + "/tmp/snapshot-" + first->id));
  ASSERT_TRUE(snapshots->Make(kShard, RequestOf("n2")).ok());  // of a node: others' stay
  EXPECT_EQ(CodeOf(*snapshots, second->id, "CURRENT"), StatusCode::kOk);
}

TEST_F(SnapshotsTest, AnotherDatabaseAndAnAbsentShardAreRefusedBeforeAnythingIsDone) {
  const auto snapshots = Start();
  CopyRequest request = RequestOf("n2");
  request.kind.format += 1;
  EXPECT_EQ(snapshots->Make(kShard, request).status().code(), StatusCode::kIncompatible);
  request = RequestOf("n2");
  request.kind.uuid = "another";
  EXPECT_EQ(snapshots->Make(kShard, request).status().code(), StatusCode::kIncompatible);
  request = RequestOf("n2");
  request.kind.hash = "1/00000000";
  EXPECT_EQ(snapshots->Make(kShard, request).status().code(), StatusCode::kIncompatible);
  ASSERT_TRUE(source_->DetachShard(kShard, Detached::kRemoved).ok());
  EXPECT_EQ(snapshots->Make(kShard, RequestOf("n2")).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(snapshots->Make(kShards, RequestOf("n2")).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(InTransit(source_db_).empty());
  EXPECT_TRUE(snapshots->Make(0, RequestOf("n2")).ok());  // no place among the copies was lost
  EXPECT_TRUE(snapshots->Make(2, RequestOf("n2")).ok());
}

TEST_F(SnapshotsTest, ADiskThatIsAlmostFullIsLeftAlone) {
  uint64_t free = 1'000'000;
  settings_.reserve_bytes = 10'000'000;
  settings_.free_space = [&free](const std::string&) { return Result<uint64_t>(free); };
  const auto snapshots = Start();
  const Status refused = snapshots->Make(kShard, RequestOf("n2")).status();
  EXPECT_EQ(refused.code(), StatusCode::kIOError);
  EXPECT_NE(refused.message().find("MB are free"), std::string_view::npos) << refused.ToString();
  free = 10'000'000;  // the log has to be copied as well
  EXPECT_EQ(snapshots->Make(kShard, RequestOf("n2")).status().code(), StatusCode::kIOError);
  EXPECT_TRUE(InTransit(source_db_).empty());
  free = 100'000'000;
  EXPECT_TRUE(snapshots->Make(kShard, RequestOf("n2")).ok());
}

TEST_F(SnapshotsTest, WhatNobodyAsksForGoes) {
  settings_.keep = milliseconds(50);
  const auto snapshots = Start();
  const Result<Manifest> copy = snapshots->Make(kShard, RequestOf("n2"));
  ASSERT_TRUE(copy.ok());
  while (!InTransit(source_db_).empty()) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(CodeOf(*snapshots, copy->id, copy->files.front().name), StatusCode::kNotFound);
}

TEST_F(SnapshotsTest, AStartRemovesWhatAProcessLeft) {
  fs::create_directories(source_db_ + "/tmp/snapshot-left/sub");
  fs::create_directories(source_db_ + "/tmp/snapshot-half.tmp");
  fs::create_directories(source_db_ + "/tmp/fetch-0000.part");
  auto snapshots = Start();
  EXPECT_EQ(InTransit(source_db_), std::vector<std::string>{"fetch-0000.part"});
  ASSERT_TRUE(snapshots->Make(kShard, RequestOf("n2")).ok());
  snapshots->Stop();
  EXPECT_EQ(InTransit(source_db_), std::vector<std::string>{"fetch-0000.part"});
  EXPECT_EQ(snapshots->Make(kShard, RequestOf("n2")).status().code(), StatusCode::kUnavailable);
}

TEST_F(SnapshotsTest, PiecesThatWaitAreLimitedAndEndWithIt) {
  settings_.bytes_per_s = 1;  // the first goes at once, the second after a day
  const auto snapshots = Start();
  const Result<Manifest> copy = snapshots->Make(kShard, RequestOf("n2"));
  ASSERT_TRUE(copy.ok());
  const std::string& name = copy->files.front().name;
  ASSERT_TRUE(Read(*snapshots, copy->id, name, {0, 100'000}).ok());
  std::atomic<int> busy{0}, ended{0};
  constexpr int kAsked = 2 * static_cast<int>(Snapshots::kReadsMost);
  for (int i = 0; i < kAsked; ++i) {
    snapshots->Read(kShard, copy->id, name, {0, 1}, [&](Result<Piece> piece) {
      if (piece.status().code() == StatusCode::kBusy) ++busy;
      if (piece.status().code() == StatusCode::kUnavailable) ++ended;
    });
  }
  EXPECT_GE(busy, kAsked - static_cast<int>(Snapshots::kReadsMost) - 1);
  snapshots->Stop();
  EXPECT_EQ(busy + ended, kAsked);
}

TEST_F(SnapshotsTest, TheRoutesSayWhatIsWrongWithACall) {
  const auto snapshots = Start();
  http::Limits limits;
  ops::Health health;
  ops::Metrics metrics{api::RouteLabels()};
  api::Context context(limits, 100, &health, &metrics, nullptr);
  const auto ask = [&](http::Method method, const std::string& partition, const std::string& range,
                       const std::string& body) {
    http::RequestHead head;
    head.method = method;
    head.range = range;
    http::Plan plan;
    while (!api::Routes()[static_cast<size_t>(++plan.route)].path.ends_with("/snapshot")) continue;
    plan.arguments = {partition, "id", "CURRENT"};
    const http::Request request{.head = head, .body = body};
    http::Response response;
    api::Call call{context, plan, request, response};
    test::RunHere(AnswerSnapshotCall(snapshots.get(), call));
    return std::to_string(response.status) + " " + response.body;
  };
  for (const char* partition : {"x", "", "-1", "1x", " 1", "99999999999"}) {
    const std::string answer = ask(http::Method::kDelete, partition, "", "");
    EXPECT_TRUE(answer.starts_with("400 ")) << answer;
    EXPECT_NE(answer.find("\"/partition\""), std::string::npos) << answer;
  }
  for (const char* range : {"", "bytes=", "bytes=-5", "bytes=5", "bytes=9-5", "bytes=0-1,4-5",
                            "bytes=0-1x", "lines=0-1", "bytes=x-1", "bytes=-",
                            "bytes=99999999999999999999-", "bytes=0-99999999999999999999"}) {
    const std::string answer = ask(http::Method::kGet, "1", range, "");
    EXPECT_TRUE(answer.starts_with("400 ")) << range << ": " << answer;
    EXPECT_NE(answer.find("Range"), std::string::npos) << answer;
  }
  EXPECT_TRUE(ask(http::Method::kPost, "1", "", "{}").starts_with("400 "));
  EXPECT_TRUE(ask(http::Method::kDelete, "1", "", "").starts_with("404 "));
  const std::string body = CopyRequestToJson(RequestOf("n2"));
  EXPECT_TRUE(ask(http::Method::kPost, "1", "", body).starts_with("200 "));
  EXPECT_TRUE(ask(http::Method::kPost, "0", "", body).starts_with("200 "));
  EXPECT_TRUE(ask(http::Method::kPost, "2", "", body).starts_with("429 "));
  CopyRequest other = RequestOf("n2");
  other.kind.format = 9;
  EXPECT_TRUE(ask(http::Method::kPost, "2", "", CopyRequestToJson(other)).starts_with("409 "));
}

TEST_F(SnapshotsTest, AFileThatBecameShorterIsSaid) {
  const auto snapshots = Start();
  const Result<Manifest> copy = snapshots->Make(kShard, RequestOf("n2"));
  ASSERT_TRUE(copy.ok());
  const CopyEntry& entry = copy->files.front();
  const std::string path = source_db_ + "/tmp/snapshot-" + copy->id + "/" + entry.name;
  fs::remove(path);  // a link: the shard's own file stays
  std::ofstream(path) << "x";
  EXPECT_EQ(CodeOf(*snapshots, copy->id, entry.name, {0, 10}), StatusCode::kCorruption);
}

}  // namespace
}  // namespace seendb::transfer::SEENDB_TEST_FILE
