// Stores of sets that follow one log have the same sets, whatever is killed, lost or taken away.

#include <thread>

#include "format/bytes.h"
#include "sets/log_fixture.h"
#include "support/hold.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr size_t kPiece = sets::kPieceItems;
constexpr std::chrono::milliseconds kOld{10};

TEST_F(SetLogTest, WhatOnePutsTheOthersHave) {
  Current("a"), Current("b");
  Put("a", "blocked", {"b", "42", "a", "b"});
  EXPECT_EQ(Ids("a", "blocked"), (Texts{"42", "a", "b"})) << "whoever put it has it at once";
  EXPECT_EQ(Ids("b", "blocked"), std::nullopt);
  Follow("b");
  EXPECT_EQ(Ids("b", "blocked"), (Texts{"42", "a", "b"}));
  ASSERT_TRUE(Store("b").Delete("blocked").ok());
  EXPECT_EQ(Store("b").Delete("blocked").code(), StatusCode::kNotFound);
  Follow("a");
  EXPECT_EQ(Ids("a", "blocked"), std::nullopt);
  EXPECT_TRUE(Store("a").List().empty());
}

TEST_F(SetLogTest, AnOpeningGoesOnWhereItWas) {
  Current("a"), Current("b");
  Put("a", "s", Numbered(3 * kPiece, "v"));
  const int64_t end = log_.end();
  for (int64_t offset = 1; offset <= end; ++offset) {
    Follow("b", offset);
    SetLog& store = Open("b");
    EXPECT_EQ(store.next_offset(), offset);
    store.SetCurrent(true);
    EXPECT_EQ(Ids("b", "s").has_value(), offset == end) << offset;
  }
  EXPECT_EQ(Store("b").List()[0].count, 3 * kPiece);
  EXPECT_EQ(Store("b").List()[0].at_ms, now_ms_);
  EXPECT_TRUE(Store("b").Verify()->empty());
}

// kill -9 between two pieces of a PUT, at each place.
TEST_F(SetLogTest, AVersionThatIsCutLeavesTheFormerOne) {
  Current("a");
  Put("a", "s", {"former"});
  for (size_t pieces = 0; pieces < 3; ++pieces) {
    lost_behind_ = pieces;
    EXPECT_EQ(TryPut("a", "s", Numbered(3 * kPiece, "v")).status().code(),
              StatusCode::kUnavailable);
    Current("b");
    EXPECT_EQ(Ids("b", "s"), (Texts{"former"})) << pieces;
  }
  lost_behind_ = SIZE_MAX;
  Follow("a");
  // Nobody finishes them: once they are old they go, and the former one stays.
  EXPECT_EQ(Clean("a", kOld), 0u);
  now_ms_ += 1'000'000;
  EXPECT_EQ(Clean("a", kOld), 0u) << "the machine's time says nothing of their age";
  steady_ms_ += 10;
  EXPECT_EQ(Clean("a", kOld), 2u * 3u);
  Follow("a"), Follow("b");
  EXPECT_EQ(Clean("a", kOld), 0u);
  EXPECT_EQ(Ids("a", "s"), (Texts{"former"}));
  EXPECT_EQ(Ids("b", "s"), (Texts{"former"}));
}

// The store has read half of a set that the others have whole. It must not take that for a set
// which nobody finished.
TEST_F(SetLogTest, AStoreThatIsBehindTakesNothingAway) {
  Current("a"), Open("b");
  Put("a", "s", Numbered(3 * kPiece, "v"));
  Follow("b", 2);
  EXPECT_EQ(Clean("b", kOld), 0u);
  steady_ms_ += 10;
  EXPECT_EQ(Clean("b", kOld), 0u);
  Follow("a");
  EXPECT_TRUE(Ids("a", "s").has_value());
}

TEST_F(SetLogTest, AnAgeBeginsAnewWithTheProcess) {
  Current("a");
  lost_behind_ = 1;
  EXPECT_FALSE(TryPut("a", "s", Numbered(2 * kPiece, "v")).ok());
  Follow("a");
  EXPECT_EQ(Clean("a", kOld), 0u);
  steady_ms_ += 10;
  now_ms_ += 10;
  Current("a");
  EXPECT_EQ(Clean("a", kOld), 0u);
  steady_ms_ += 10;
  EXPECT_EQ(Clean("a", kOld), 2u);
}

// Another node takes for cut what is being written here.
TEST_F(SetLogTest, APutThatIsEndedWhileItIsWrittenIsNotAcknowledged) {
  Current("a"), Current("b");
  Put("a", "s", {"former"});
  amid_ = [this] {
    Follow("b");
    Clean("b", std::chrono::milliseconds(0));
  };
  EXPECT_EQ(TryPut("a", "s", Numbered(2 * kPiece, "v")).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Ids("a", "s"), (Texts{"former"}));
}

// Whoever puts the later one takes this one away before its last piece is written.
TEST_F(SetLogTest, APutThatALaterOneEndsIsAcknowledged) {
  Current("a"), Current("b");
  amid_ = [this] {
    amid_ = nullptr;
    std::thread other([this] {  // a thread puts one set at a time
      Follow("b");
      Put("b", "s", {"later"});
      EXPECT_GT(Clean("b"), 0u);
    });
    other.join();
  };
  Put("a", "s", Numbered(2 * kPiece, "v"));
  EXPECT_EQ(Ids("a", "s"), (Texts{"later"}));
}

TEST_F(SetLogTest, TheFormerOneIsTakenAwayBehindTheNext) {
  Current("a"), Current("b");
  Put("a", "s", Numbered(2 * kPiece, "v"));
  EXPECT_EQ(Clean("a"), 0u);
  Put("a", "s", {"new"});
  EXPECT_EQ(Clean("b"), 0u) << "another one's";
  const int64_t written = log_.end();
  EXPECT_EQ(Clean("a"), 2u);
  // A node that reads meanwhile has the one or the other, at each place.
  for (int64_t offset = 2; offset <= log_.end(); ++offset) {
    Follow("b", offset);
    Store("b").SetCurrent(true);
    ASSERT_TRUE(Ids("b", "s").has_value()) << offset;
    EXPECT_EQ(Ids("b", "s")->size() == 1, offset >= written) << offset;
  }
  Follow("a");
  EXPECT_EQ(Clean("a"), 0u);
  log_.Compact(log_.end(), [] { return true; });
  Current("c");
  EXPECT_EQ(Ids("c", "s"), (Texts{"new"}));
}

// Its first piece stands behind that of the deletion's former version and before the deletion.
TEST_F(SetLogTest, ALateOlderVersionDoesNotComeBack) {
  Current("a"), Current("b");
  Put("a", "s", {"former"});
  lost_behind_ = 1;
  const Texts ids = Numbered(2 * kPiece, "v");
  EXPECT_FALSE(TryPut("a", "s", ids).ok());
  lost_behind_ = SIZE_MAX;
  Follow("b");
  ASSERT_TRUE(Store("b").Delete("s").ok());
  // The rest of the version that was cut.
  const auto began = log_.From(1, 2);
  sets::Piece first;
  ASSERT_TRUE(sets::ParsePiece(*began[0].value, &first));
  std::vector<std::string_view> views(ids.begin(), ids.end());
  const auto whole = sets::CutPieces("s", first.version, views);
  ASSERT_EQ(whole.size(), 2u);
  log_.Append({sets::KeyOf(whole[1]), sets::EncodePiece(whole[1])});
  for (const char* const name : {"a", "b", "c"}) {
    if (*name == 'c') Open("c");
    Follow(name);
    EXPECT_EQ(Ids(name, "s"), std::nullopt) << name;
  }
  Put("c", "s", {"anew"});
  Follow("a");
  EXPECT_EQ(Ids("a", "s"), (Texts{"anew"}));
}

TEST_F(SetLogTest, BeforeTheLogsEndNobodyKnowsAllSets) {
  Current("a");
  Put("a", "s", {"x"});
  SetLog& store = Open("b");
  const IdRef ids[] = {IdRef("x"), IdRef("y")};
  uint8_t hits[2];
  for (const bool read : {false, true}) {
    if (read) Follow("b", log_.end());
    const auto set = store.Find("s");
    ASSERT_NE(set, nullptr);
    EXPECT_TRUE(set->damaged());
    set->Find(ids, hits);
    EXPECT_EQ(hits[0], read ? 1 : 0) << "what is known excludes";
    EXPECT_EQ(hits[1], 0);
    EXPECT_TRUE(store.Find("unknown")->damaged());
    EXPECT_EQ(store.Ready().code(), StatusCode::kUnavailable);
    EXPECT_EQ(store.Read("s", "", 1).status().code(), StatusCode::kUnavailable);
    EXPECT_EQ(TryPut("b", "s", {"z"}).status().code(), StatusCode::kUnavailable);
    EXPECT_EQ(store.Delete("s").code(), StatusCode::kUnavailable);
  }
  store.SetCurrent(true);
  EXPECT_FALSE(store.Find("s")->damaged());
  EXPECT_EQ(store.Find("unknown"), nullptr);
}

// The store comes to the log's end while somebody looks for a set.
TEST_F(SetLogTest, WhoeverLooksBeforeTheEndDoesNotKnowAllSets) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Current("a"), Current("b");
  Put("a", "s", {"former"});
  Follow("b");
  Put("a", "s", {"new"});
  SetLog& store = Store("b");
  store.SetCurrent(false);
  PausePoints::Set("sets: looked up", [this] { Follow("b"); });
  EXPECT_TRUE(store.Find("s")->damaged());
  store.SetCurrent(true);
  PausePoints::Set("sets: looked up", [&] { store.SetCurrent(false); });
  EXPECT_TRUE(store.Find("s")->damaged());
  PausePoints::Set("sets: looked up", std::function<void()>());
  store.SetCurrent(true);
  EXPECT_FALSE(store.Find("s")->damaged());
}

TEST_F(SetLogTest, WhatDoesNotFitIsNotAppended) {
  room_ = 1 << 20;
  Current("a");
  const int64_t end = log_.end();
  Texts large = Numbered(sets::kPieceItems, std::string(249, 'x'));
  EXPECT_EQ(TryPut("a", "large", large).status().code(), StatusCode::kBusy);
  EXPECT_EQ(TryPut("a", "", {"x"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(TryPut("a", "s", {""}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(log_.end(), end);
  large.resize(large.size() / 2);
  Put("a", "half", large);
  EXPECT_EQ(TryPut("a", "other", large).status().code(), StatusCode::kBusy);
  Put("a", "half", large);
  Current("b");
  EXPECT_EQ(Store("b").List()[0].count, large.size());
}

TEST_F(SetLogTest, WhatNobodyFinishedIsBounded) {
  Current("a");
  Texts large = Numbered(sets::kPieceItems * 32, std::string(249, 'x'));
  const std::vector<std::string_view> ids(large.begin(), large.end());
  lost_behind_ = sets::CutPieces("s", {1, 1}, ids).size() - 1;
  size_t tries = 0;
  Status refused;
  for (; tries < 20; ++tries) {
    const int64_t end = log_.end();
    refused = TryPut("a", "s", large).status();
    if (log_.end() == end) break;
    Follow("a");
  }
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_GT(tries, 2u);
  EXPECT_LT(tries, 8u);
  EXPECT_EQ(Clean("a", kOld), 0u);
  steady_ms_ += 10;
  EXPECT_GT(Clean("a", kOld), 0u);
  lost_behind_ = SIZE_MAX;
  Follow("a");
  Put("a", "s", {"x"});
}

TEST_F(SetLogTest, AnotherLogsSetsAreDropped) {
  Current("a");
  Put("a", "s", {"x"});
  SetLog& store = Open("a", "another");
  EXPECT_EQ(store.next_offset(), 0);
  EXPECT_EQ(store.dropped(), 1u);
  store.SetCurrent(true);
  EXPECT_EQ(Ids("a", "s"), std::nullopt);
  EXPECT_EQ(Open("a", "another").dropped(), 0u);
}

TEST_F(SetLogTest, ALogThatWasMadeAnewIsReadAnew) {
  Current("a");
  Put("a", "s", {"x"});
  Put("a", "t", Numbered(2 * kPiece, "v"));
  log_ = {};
  ASSERT_TRUE(Store("a").BeginAnew().ok());
  EXPECT_EQ(Store("a").next_offset(), 0);
  Follow("a");
  EXPECT_EQ(Ids("a", "s"), std::nullopt);
  Put("a", "s", {"y"});
  Open("a");
  Follow("a");
  EXPECT_EQ(Ids("a", "s"), (Texts{"y"}));
}

// A node's folder may be a server's by itself for a while.
TEST_F(SetLogTest, AChangeWithoutTheLogHasItReadAnew) {
  Current("a");
  Put("a", "s", {"x"});
  stores_["a"].reset();
  {
    auto alone = SetStore::Open(folder_ + "/a", {});
    ASSERT_TRUE(alone.ok()) << alone.status().ToString();
    EXPECT_EQ((*alone)->List().size(), 1u);
    const IdRef ids[] = {IdRef("y")};
    ASSERT_TRUE((*alone)->Put("s", ids).ok());
  }
  EXPECT_EQ(Open("a").next_offset(), 0);
  Follow("a");
  EXPECT_EQ(Ids("a", "s"), (Texts{"x"}));
}

TEST_F(SetLogTest, WhatIsNoPieceIsPassedOverAndWhatIsNewerIsNot) {
  Current("a");
  Put("a", "s", {"x"});
  const auto entries = log_.From(0, 1);
  std::string damaged(*entries[0].value);
  damaged.back() ^= 1;
  const std::string key(entries[0].key);
  log_.Append({"no key", "text"});
  log_.Append({key, damaged});
  log_.Append(
      {std::string("set/\x01z", 6) + std::string(20, '\0'), std::string(*entries[0].value)});
  log_.Append({"no key", {}});
  Follow("a");
  EXPECT_EQ(Store("a").passed_over(), 4u);
  EXPECT_EQ(Ids("a", "s"), (Texts{"x"}));
  std::string newer("\xa2\x00whatever", 10);
  Seal32(&newer);
  const int64_t at = log_.end();
  log_.Append({key, newer});
  log_.Append({"no key", {}});
  for (int i = 0; i < 2; ++i) {
    const Status stopped = Store("a").Apply(log_.From(at, log_.end()), log_.end());
    EXPECT_EQ(stopped.code(), StatusCode::kIncompatible);
    EXPECT_NE(stopped.message().find("offset " + std::to_string(at)), std::string::npos);
    EXPECT_EQ(Store("a").next_offset(), at) << "it is met again";
  }
  EXPECT_EQ(Ids("a", "s"), (Texts{"x"}));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
