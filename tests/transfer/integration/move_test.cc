// A shard moves from one node to another, over a real listener; what may go wrong on the way.

#include <algorithm>
#include <atomic>
#include <future>

#include "base/clock.h"
#include "transfer/integration/node_fixture.h"
#include "transfer/integration/proxy.h"
#include "transfer/peer.h"

namespace seendb::transfer::SEENDB_TEST_FILE {
namespace {

class MoveTest : public TransferTest {
 protected:
  void SetUp() override {
    OpenBoth();
    if (HasFatalFailure()) return;
    snapshot_settings_.db = source_db_;
    fetch_settings_.db = target_db_;
    fetch_settings_.node = "n2";
    fetch_settings_.proofs = ProofsOf("n2");
    fetch_settings_.pause = milliseconds(10);
    fetch_settings_.reserve_bytes = 1'000'000;
    Serve();
  }
  void TearDown() override { server_.reset(); }

  void Serve(uint16_t port = 0) {
    server_ = std::make_unique<SourceServer>(source_.get(), snapshot_settings_, port);
  }
  Result<Fetched> Fetch() {
    return Fetcher(fetch_settings_).Fetch(kShard, server_->giver(), Never);
  }
  /// The copy that the node is to get, as files.
  std::map<std::string, std::string> MakeCopy() {
    const Result<Manifest> copy = server_->snapshots().Make(kShard, RequestOf("n2"));
    EXPECT_TRUE(copy.ok()) << copy.status().ToString();
    copy_ = *copy;
    return Files(CopyFolder());
  }
  int PiecesOfCopy() const {
    uint64_t pieces = 0;
    for (const CopyEntry& entry : copy_.files) {
      pieces += (entry.size + Snapshots::kPieceBytes - 1) / Snapshots::kPieceBytes;
    }
    return static_cast<int>(pieces);
  }
  std::string CopyFolder() const { return source_db_ + "/tmp/snapshot-" + copy_.id; }
  const CopyEntry& Largest() const {
    return *std::max_element(copy_.files.begin(), copy_.files.end(),
                             [](const auto& a, const auto& b) { return a.size < b.size; });
  }
  /// The copy's file alone: the shard's own, to which it may be a link, stays.
  void Replace(const std::string& name, const std::string& bytes) const {
    fs::remove(CopyFolder() + "/" + name);
    std::ofstream(CopyFolder() + "/" + name, std::ios::binary) << bytes;
  }
  void ExpectArrived(const Result<Fetched>& fetched) {
    ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
    const Status attached = target_->AttachShard(kShard, fetched->folder);
    ASSERT_TRUE(attached.ok()) << attached.ToString();
    EXPECT_TRUE(InTransit(target_db_).empty());
    for (const uint32_t user : {0u, 4u, 19u}) {
      EXPECT_EQ(Unseen(target_.get(), UserOf(user), 2'000),
                Unseen(source_.get(), UserOf(user), 2'000))
          << user;
    }
    EXPECT_EQ(Unseen(target_.get(), UserOf(0), 1'500), 0u);
    Play(target_.get(), UserOf(0), 1'500, 1);
    EXPECT_EQ(Unseen(target_.get(), UserOf(0), 1'501), 0u);
  }

  SnapshotSettings snapshot_settings_;
  FetchSettings fetch_settings_;
  std::unique_ptr<SourceServer> server_;
  Manifest copy_;
};

TEST_F(MoveTest, TheShardArrivesByteForByte) {
  const std::map<std::string, std::string> sent = MakeCopy();
  ASSERT_GT(Largest().size, 2 * Snapshots::kPieceBytes);
  const Result<Fetched> fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  EXPECT_EQ(fetched->bytes, copy_.Bytes());
  EXPECT_EQ(fetched->kept, 0u);
  EXPECT_EQ(Files(fetched->folder), sent);
  EXPECT_TRUE(InTransit(source_db_).empty());  // the copy was ended
  ExpectArrived(fetched);
}

TEST_F(MoveTest, OffsetsComeAlong) {
  const std::string user = UserOf(0);
  const seendb::Play play{IdRef(user), IdRef("from the log"), {}};
  const SourceStep step{.topic = "feed.log", .partition = kShard, .next_offset = 12};
  const Origin origin{.source = 0, .offset = 11};
  IngestBatch batch;
  batch.plays = {&play, 1};
  batch.origins = {&origin, 1};
  batch.sources = {&step, 1};
  batch.partition_is_shard = true;
  const Result<IngestResult> ingested = source_->Ingest(batch);
  ASSERT_TRUE(ingested.ok()) << ingested.status().ToString();
  const Result<Fetched> fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  ASSERT_EQ(fetched->next_offsets.size(), 1u);
  EXPECT_EQ(fetched->next_offsets[0].topic, "feed.log");
  EXPECT_EQ(fetched->next_offsets[0].next_offset, 12);
  ExpectArrived(fetched);
  ASSERT_EQ(target_->Sources().size(), 1u);
  EXPECT_EQ(target_->Sources()[0].next_of_shard, 12);
}

TEST_F(MoveTest, ABrokenConnectionIsTakenUpWhereItBroke) {
  const std::map<std::string, std::string> sent = MakeCopy();
  std::atomic<size_t> connections{0};
  const Proxy proxy(server_->port(), [&](size_t connection, uint64_t passed, std::string*) {
    connections = std::max<size_t>(connections, connection + 1);
    return connection >= 4 || passed < 1'500'000;  // in the middle of a piece
  });
  const Result<Fetched> fetched =
      Fetcher(fetch_settings_).Fetch(kShard, {"n1", proxy.url()}, Never);
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  EXPECT_GE(connections, 3u);
  EXPECT_EQ(fetched->bytes, copy_.Bytes());  // no piece came twice
  EXPECT_EQ(Files(fetched->folder), sent);
  ExpectArrived(fetched);
}

TEST_F(MoveTest, ASourceThatIsKilledAndComesBackGivesTheRest) {
  MakeCopy();
  const int most = PiecesOfCopy() - 2;
  server_->Allow(most);
  const std::string url = server_->url();
  const uint16_t port = server_->port();
  auto fetching = std::async(std::launch::async, [&] {
    return Fetcher(fetch_settings_).Fetch(kShard, {"n1", url}, Never);
  });
  server_->WaitForPieces(most + 1);
  server_.reset();
  source_.reset();
  EXPECT_TRUE(InTransit(source_db_).empty());
  source_ = Open(source_db_, options_);
  ASSERT_NE(source_, nullptr);
  Serve(port);
  const Result<Fetched> fetched = fetching.get();
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  EXPECT_GT(fetched->kept, 0u);  // tables that were whole stayed
  ExpectArrived(fetched);
}

TEST_F(MoveTest, ATargetThatWasStoppedFetchesTheRest) {
  const std::map<std::string, std::string> sent = MakeCopy();
  const int most = PiecesOfCopy() - 2;
  const auto cancelled = [&] { return server_->pieces() >= most; };
  const Status stopped =
      Fetcher(fetch_settings_).Fetch(kShard, server_->giver(), cancelled).status();
  EXPECT_EQ(stopped.code(), StatusCode::kUnavailable);
  EXPECT_EQ(InTransit(target_db_), std::vector<std::string>{"fetch-0001.part"});
  // What the system had not written yet when the power went away is made up for.
  const std::string torn = target_db_ + "/tmp/fetch-0001.part/" + copy_.files.front().name;
  ASSERT_EQ(fs::file_size(torn), copy_.files.front().size);
  std::ofstream(torn, std::ios::binary) << std::string(copy_.files.front().size, '\0');
  std::ofstream(target_db_ + "/tmp/fetch-0001.part/999999.sst") << "of another copy";
  const Result<Fetched> fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  EXPECT_GT(fetched->kept, 0u);
  EXPECT_EQ(fetched->kept + fetched->bytes, copy_.Bytes());
  EXPECT_EQ(Files(fetched->folder), sent);
  // Once more, as after a crash before it was attached: all of it is there.
  const Result<Fetched> again = Fetch();
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  ExpectArrived(again);
}

TEST_F(MoveTest, AFlippedByteIsRefusedByName) {
  for (const bool on_the_way : {false, true}) {
    MakeCopy();
    const CopyEntry entry = Largest();
    if (!on_the_way) {
      std::string bytes = Contents(CopyFolder() + "/" + entry.name);
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
      Replace(entry.name, bytes);
    }
    const Proxy proxy(server_->port(), [&](size_t, uint64_t, std::string* bytes) {
      // No head and no manifest is that long without a space.
      if (on_the_way && bytes->size() > 8'000) bytes->back() = static_cast<char>(bytes->back() ^ 1);
      return true;
    });
    const Result<Fetched> fetched =
        Fetcher(fetch_settings_).Fetch(kShard, {"n1", proxy.url()}, Never);
    EXPECT_EQ(fetched.status().code(), StatusCode::kCorruption);
    EXPECT_NE(fetched.status().message().find("of shard 1 came damaged"), std::string_view::npos)
        << fetched.status().ToString();
    EXPECT_FALSE(fs::exists(target_db_ + "/tmp/fetch-0001"));
    EXPECT_TRUE(InTransit(source_db_).empty());  // the bad copy is not given again
  }
  ExpectArrived(Fetch());
}

TEST_F(MoveTest, ATruncatedFileIsRefusedByName) {
  MakeCopy();
  Replace(Largest().name, "short");
  const Status refused = Fetch().status();
  EXPECT_EQ(refused.code(), StatusCode::kCorruption);
  EXPECT_NE(refused.message().find(Largest().name), std::string_view::npos) << refused.ToString();
  ExpectArrived(Fetch());
}

TEST_F(MoveTest, AnotherFormatOrDatabaseIsRefusedBeforeAByte) {
  const std::string identity = Contents(target_db_ + "/SEENDB");
  const auto with = [&](const std::string& text, const std::string& other) {
    std::string changed = identity;
    changed.replace(changed.find(text), text.size(), other);
    std::ofstream(target_db_ + "/SEENDB") << changed;
    return Fetch().status();
  };
  const Status format = with("\"format\": 2", "\"format\": 3");
  EXPECT_EQ(format.code(), StatusCode::kIncompatible);
  EXPECT_NE(format.message().find("format is 2 here and 3 there"), std::string_view::npos)
      << format.ToString();
  EXPECT_EQ(with("\"shards\": 3", "\"shards\": 4").code(), StatusCode::kIncompatible);
  EXPECT_EQ(with("\"id\": \"", "\"id\": \"x").code(), StatusCode::kIncompatible);
  EXPECT_EQ(server_->pieces(), 0);
  EXPECT_TRUE(InTransit(source_db_).empty());
  std::ofstream(target_db_ + "/SEENDB") << identity;
  ExpectArrived(Fetch());
}

TEST_F(MoveTest, ADiskThatIsAlmostFullIsLeftAlone) {
  uint64_t free = 3'000'000;
  fetch_settings_.free_space = [&free](const std::string&) { return Result<uint64_t>(free); };
  const Status refused = Fetch().status();
  EXPECT_EQ(refused.code(), StatusCode::kIOError);
  EXPECT_NE(refused.message().find("shard 1 needs"), std::string_view::npos) << refused.ToString();
  EXPECT_EQ(server_->pieces(), 0);
  EXPECT_TRUE(InTransit(source_db_).empty());
  free = 100'000'000;
  ExpectArrived(Fetch());
}

TEST_F(MoveTest, TheSecretIsAskedFor) {
  fetch_settings_.proofs = ProofsOf("n2", "another secret of 16");
  EXPECT_EQ(Fetch().status().code(), StatusCode::kForbidden);
  MakeCopy();
  const Result<net::StreamTarget> target = net::TargetOf(server_->url());
  ASSERT_TRUE(target.ok());
  Peer stranger({"n1", *target, {}, fetch_settings_.proofs}, milliseconds(5'000));
  const auto piece = stranger.Read(kShard, copy_.id, copy_.files.front().name, 0, 10);
  EXPECT_EQ(piece.status().code(), StatusCode::kForbidden);
  EXPECT_EQ(stranger.End(kShard, copy_.id).code(), StatusCode::kForbidden);
  EXPECT_EQ(server_->pieces(), 0);
}

TEST_F(MoveTest, UnderTlsNobodyIsAskedInClear) {
  fetch_settings_.tls_alone = true;
  const Status refused = Fetch().status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.field(), "/url");
  EXPECT_TRUE(InTransit(source_db_).empty());
}

TEST_F(MoveTest, AClockThatIsApartIsLearned) {
  constexpr int64_t kDayMs = 86'400'000;
  fetch_settings_.proofs =
      std::make_shared<proof::Proofs>("n2", [] { return SystemClock()->NowMs() - kDayMs; });
  fetch_settings_.proofs->SetSecrets({kSecret});
  ExpectArrived(Fetch());
}

TEST_F(MoveTest, TheRoutesGiveNothingElse) {
  MakeCopy();
  const Result<net::StreamTarget> target = net::TargetOf(server_->url());
  ASSERT_TRUE(target.ok());
  Peer peer({"n1", *target, {}, ProofsOf("n2")}, milliseconds(5'000));
  const CopyEntry& entry = copy_.files.front();
  const Result<FetchedPiece> piece = peer.Read(kShard, copy_.id, entry.name, 1, 10);
  ASSERT_TRUE(piece.ok()) << piece.status().ToString();
  EXPECT_EQ(piece->bytes, Contents(CopyFolder() + "/" + entry.name).substr(1, 10));
  EXPECT_EQ(piece->file_size, entry.size);
  for (const char* name :
       {"..%2F..%2FSEENDB", "%2e%2e", "../../SEENDB", "%2Fetc%2Fpasswd", "%00"}) {
    EXPECT_EQ(peer.Read(kShard, copy_.id, name, 0, 10).status().code(), StatusCode::kNotFound)
        << name;
  }
  EXPECT_EQ(peer.Read(kShard, copy_.id, entry.name, entry.size, 10).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(peer.Read(kShard, "x", entry.name, 0, 10).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(peer.Make(2, RequestOf("n2")).status().code(), StatusCode::kOk);
  EXPECT_EQ(peer.Make(0, RequestOf("n2")).status().code(), StatusCode::kBusy);
  EXPECT_TRUE(peer.End(kShard, copy_.id).ok());
  EXPECT_EQ(peer.End(kShard, copy_.id).code(), StatusCode::kNotFound);
}

TEST_F(MoveTest, WhoCannotBeReachedOrIsNoUrlIsSaid) {
  fetch_settings_.silent_most = milliseconds(50);
  const std::string url = server_->url();
  server_->Stop();
  EXPECT_EQ(Fetcher(fetch_settings_).Fetch(kShard, {"n1", url}, Never).status().code(),
            StatusCode::kUnavailable);
  for (const char* wrong : {"", "10.0.0.1:7373", "http://", "http://host", "http://host:x",
                            "http://host:0", "http://:1", "ftp://host:1", "http://host:70000"}) {
    const Status status = Fetcher(fetch_settings_).Fetch(kShard, {"n1", wrong}, Never).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_EQ(status.field(), "/url") << wrong;
  }
  EXPECT_TRUE(net::TargetOf("https://[::1]:7373/")->secure);
  EXPECT_EQ(net::TargetOf("https://[::1]:7373/")->host, "::1");
}

TEST_F(MoveTest, TheFirstNodeThatCanGiveItIsAsked) {
  fetch_settings_.silent_most = milliseconds(50);
  Fetcher fetcher(fetch_settings_);
  EXPECT_EQ(fetcher.FetchFromOne(kShard, {}, Never).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(server_->snapshots().Make(0, RequestOf("n4")).ok());
  ASSERT_TRUE(server_->snapshots().Make(2, RequestOf("n5")).ok());
  const Giver full = server_->giver();
  EXPECT_EQ(fetcher.FetchFromOne(kShard, {full}, Never).status().code(), StatusCode::kBusy);
  // Another door to a node with room: the same shards, and a folder for copies of its own.
  const std::string other_db = dir_ + "/other";
  ASSERT_TRUE(source_->Checkpoint(other_db).ok());
  const std::unique_ptr<Engine> other = Open(other_db, options_);
  ASSERT_NE(other, nullptr);
  SourceServer with_room(other.get(), {.db = other_db});
  const Giver nobody{"n7", "http://127.0.0.1:1"};
  ExpectArrived(fetcher.FetchFromOne(kShard, {nobody, full, with_room.giver(), full}, Never));
  EXPECT_EQ(server_->pieces(), 0);
}

TEST_F(MoveTest, TwoAreFetchedAtOnceAndAShardOnce) {
  snapshot_settings_.bytes_per_s = 1'000;  // for ever
  server_->Stop();
  Serve();
  Fetcher fetcher(fetch_settings_);
  std::atomic<bool> stop{false};
  const auto stopped = [&] { return stop.load(); };
  const auto fetch = [&](uint32_t shard) {
    return std::async(std::launch::async,
                      [&, shard] { return fetcher.Fetch(shard, server_->giver(), stopped); });
  };
  auto one = fetch(kShard);
  while (fetcher.Progress()[kShard].bytes == 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_GT(fetcher.Progress()[kShard].total, 2 * Snapshots::kPieceBytes);
  EXPECT_EQ(fetcher.Fetch(kShard, server_->giver(), Never).status().code(), StatusCode::kBusy);
  EXPECT_EQ(fetcher.Discard(kShard).code(), StatusCode::kBusy);
  auto two = fetch(0);
  while (fetcher.Progress().size() < 2) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(fetcher.Fetch(2, server_->giver(), Never).status().code(), StatusCode::kBusy);
  stop = true;
  server_->Stop();
  EXPECT_EQ(one.get().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(two.get().status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(fetcher.Progress().empty());
  EXPECT_FALSE(InTransit(target_db_).empty());
  EXPECT_TRUE(fetcher.Discard(kShard).ok());
  EXPECT_TRUE(fetcher.Discard(0).ok());
  EXPECT_TRUE(InTransit(target_db_).empty());
}

}  // namespace
}  // namespace seendb::transfer::SEENDB_TEST_FILE
