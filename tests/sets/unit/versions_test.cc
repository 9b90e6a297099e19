// Which version of a set counts: whole ones alone, of these the one begun last, in whatever order
// the pieces of several come, and whatever of them is lost.

#include "sets/versions.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::sets::SEENDB_TEST_FILE {
namespace {

using State = LogVersion::State;
using Taken = Versions::Taken;

Piece PieceOf(uint64_t nonce, uint32_t number, uint32_t pieces, bool deletion = false) {
  return {
      .name = "s", .version = {7, nonce}, .number = number, .pieces = pieces, .deletion = deletion};
}

class VersionsTest : public ::testing::Test {
 protected:
  /// Takes a piece, and has its version count where it is whole.
  Taken Take(const Piece& piece) {
    const Taken taken = versions_.TakePiece(piece, offset_++, 1, 10);
    if (taken == Taken::kWhole) versions_.Count(piece.name, IdOf(piece), 2);
    return taken;
  }
  /// The nonce of the version that counts; 0: none does.
  uint64_t Counts() const {
    uint64_t nonce = 0;
    versions_.ForEach([&](const std::string&, const VersionId& id, const LogVersion& version) {
      if (version.state == State::kCounts) nonce = id.nonce;
    });
    return nonce;
  }
  State StateOf(uint64_t nonce) const { return versions_.Find("s", {7, nonce})->state; }

  Versions versions_;
  int64_t offset_ = 100;
};

TEST_F(VersionsTest, OneCountsOnceAllItsPiecesCame) {
  EXPECT_EQ(Take(PieceOf(1, 0, 3)), Taken::kKept);
  EXPECT_EQ(Take(PieceOf(1, 2, 3)), Taken::kKept);
  EXPECT_EQ(Take(PieceOf(1, 2, 3)), Taken::kPassed) << "it came before";
  EXPECT_EQ(Take(PieceOf(1, 1, 4)), Taken::kPassed) << "another number of pieces";
  EXPECT_EQ(Counts(), 0u);
  EXPECT_EQ(versions_.unfinished_bytes(), 20u);
  EXPECT_EQ(Take(PieceOf(1, 1, 3)), Taken::kWhole);
  EXPECT_EQ(Counts(), 1u);
  EXPECT_EQ(versions_.unfinished_bytes(), 0u);
}

TEST_F(VersionsTest, TheFormerOneCountsUntilTheNextIsWhole) {
  Take(PieceOf(1, 0, 1));
  Take(PieceOf(2, 0, 2));
  EXPECT_EQ(Counts(), 1u);
  Take(PieceOf(2, 1, 2));
  EXPECT_EQ(Counts(), 2u);
  EXPECT_EQ(StateOf(1), State::kDead);
}

// Two writers, with every interleaving of their pieces: the one that began later counts in the end.
TEST_F(VersionsTest, OfTwoWritersTheOneThatBeganLaterCounts) {
  constexpr int kPieces = 3;
  std::vector<int> who(2 * kPieces);
  std::fill(who.begin() + kPieces, who.end(), 1);
  do {
    versions_ = {};
    uint32_t next[2] = {0, 0};
    int began_last = 0;
    for (const int writer : who) {
      if (next[writer] == 0) began_last = writer;
      Take(PieceOf(static_cast<uint64_t>(writer) + 1, next[writer]++, kPieces));
    }
    EXPECT_EQ(Counts(), static_cast<uint64_t>(began_last) + 1);
    EXPECT_EQ(versions_.unfinished_bytes(), 0u);
  } while (std::next_permutation(who.begin(), who.end()));
}

// The former one stays, whichever piece of the later version is lost.
TEST_F(VersionsTest, ALostPieceLeavesTheFormerOne) {
  for (uint32_t lost = 0; lost < 3; ++lost) {
    versions_ = {};
    Take(PieceOf(1, 0, 1));
    for (uint32_t number = 0; number < 3; ++number) {
      if (number != lost) Take(PieceOf(2, number, 3));
    }
    EXPECT_EQ(Counts(), 1u) << lost;
    Take(PieceOf(3, 0, 1));
    EXPECT_EQ(Counts(), 3u);
    EXPECT_EQ(StateOf(2), State::kDead) << "what was begun before never counts any more";
    EXPECT_EQ(Take(PieceOf(2, lost, 3)), Taken::kPassed);
    EXPECT_EQ(Counts(), 3u);
  }
}

TEST_F(VersionsTest, ADeletionKeepsALateOlderVersionAway) {
  Take(PieceOf(1, 0, 1));
  Take(PieceOf(2, 0, 2));
  Take(PieceOf(3, 0, 1, /*deletion=*/true));
  EXPECT_EQ(Counts(), 3u);
  EXPECT_TRUE(versions_.Counting("s")->deletion);
  EXPECT_EQ(Take(PieceOf(2, 1, 2)), Taken::kPassed);
  EXPECT_EQ(Counts(), 3u);
}

TEST_F(VersionsTest, ALaterVersionThatIsBegunOutlivesADeletionBeforeIt) {
  Take(PieceOf(1, 0, 1, /*deletion=*/true));
  Take(PieceOf(2, 0, 2));
  EXPECT_EQ(Counts(), 1u);
  Take(PieceOf(2, 1, 2));
  EXPECT_EQ(Counts(), 2u);
}

TEST_F(VersionsTest, WhatIsTakenAwayIsForgottenWithItsLastPiece) {
  Take(PieceOf(1, 0, 2));
  Take(PieceOf(1, 1, 2));
  Take(PieceOf(2, 0, 1));
  EXPECT_TRUE(versions_.HasEnded("s"));
  EXPECT_TRUE(versions_.TakeNone(PieceOf(1, 0, 2), 3).empty());
  EXPECT_EQ(versions_.TakeNone(PieceOf(1, 1, 2), 3).size(), 1u);
  EXPECT_FALSE(versions_.HasEnded("s"));
  EXPECT_EQ(versions_.Find("s", {7, 1}), nullptr);
  EXPECT_TRUE(versions_.TakeNone(PieceOf(1, 1, 2), 3).empty()) << "it is not known any more";
  EXPECT_EQ(Counts(), 2u);
}

// A piece that comes behind its version's end is of one that never counts.
TEST_F(VersionsTest, APieceOfAForgottenVersionDoesNotCount) {
  Take(PieceOf(1, 0, 2));
  Take(PieceOf(2, 0, 1));
  for (uint32_t number = 0; number < 2; ++number) versions_.TakeNone(PieceOf(1, number, 2), 3);
  EXPECT_EQ(Take(PieceOf(1, 1, 2)), Taken::kKept);
  EXPECT_EQ(Counts(), 2u);
  EXPECT_EQ(StateOf(1), State::kUnfinished);
  Take(PieceOf(3, 0, 1));
  EXPECT_EQ(StateOf(1), State::kDead);
}

TEST_F(VersionsTest, OneThatLosesAPieceCountsNoMore) {
  Take(PieceOf(1, 0, 2));
  Take(PieceOf(1, 1, 2));
  const auto ended = versions_.TakeNone(PieceOf(1, 0, 2), 3);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].before, State::kCounts);
  EXPECT_EQ(Counts(), 0u);
  Take(PieceOf(2, 0, 2));
  EXPECT_EQ(versions_.TakeNone(PieceOf(2, 0, 2), 3)[0].before, State::kUnfinished);
  EXPECT_EQ(Take(PieceOf(2, 1, 2)), Taken::kPassed);
  EXPECT_EQ(versions_.unfinished_bytes(), 0u);
}

TEST_F(VersionsTest, WhatWasOnDiskGoesOn) {
  versions_.Restore("s", {7, 1}, {.state = State::kUnfinished, .order = 5, .pieces = 2});
  EXPECT_TRUE(versions_.RestorePiece(PieceOf(1, 0, 2), 10));
  EXPECT_FALSE(versions_.RestorePiece(PieceOf(1, 0, 2), 10)) << "twice";
  EXPECT_FALSE(versions_.RestorePiece(PieceOf(2, 0, 2), 10)) << "of no version";
  EXPECT_FALSE(versions_.RestorePiece(PieceOf(1, 5, 2), 10)) << "behind the last";
  EXPECT_EQ(Take(PieceOf(1, 1, 2)), Taken::kWhole);
  EXPECT_EQ(Counts(), 1u);
}

}  // namespace
}  // namespace seendb::sets::SEENDB_TEST_FILE
