#include "items/arena.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

TEST(ItemArena, PiecesAreAsLargeAsAskedForAndLoseAtMostASeventhBeyond512Bytes) {
  size_t before = 0;
  for (size_t size = 1; size <= Arena::kLargestPiece; ++size) {
    const size_t piece = Arena::PieceBytes(size);
    ASSERT_GE(piece, size);
    ASSERT_GE(piece, before);
    ASSERT_EQ(piece % 8, 0u);
    if (size > 16 && size <= 512) {
      ASSERT_LT(piece, size + 8);
    } else if (size > 512) {
      ASSERT_LE(piece, size + size / 6 + 8);
    }
    before = piece;
  }
  EXPECT_EQ(Arena::PieceBytes(50'000), 50'000u);
}

TEST(ItemArena, CountsWhatIsInUseAndGivesFreedPiecesAgain) {
  Arena arena;
  std::vector<void*> pieces;
  for (int i = 0; i < 1000; ++i) pieces.push_back(arena.Allocate(200));
  pieces.push_back(arena.Allocate(50'000));
  EXPECT_EQ(arena.used_bytes(), 1000 * 200u + 50'000);
  const uint64_t reserved = arena.reserved_bytes();
  EXPECT_GE(reserved, arena.used_bytes());
  for (size_t i = 0; i < 1000; ++i) arena.Free(pieces[i], 200);
  arena.Free(pieces[1000], 50'000);
  EXPECT_EQ(arena.used_bytes(), 0u);
  for (int i = 0; i < 1000; ++i) arena.Allocate(24);  // empty slabs serve any class
  EXPECT_LE(arena.reserved_bytes(), reserved);
}

// Every piece is replaced ten times, in random order, by one of another size.
TEST(ItemArena, KeepsResidentOverLiveBelowAFifthAfterTenTurnovers) {
  std::mt19937_64 random(test::Seed());
  Arena arena;
  struct Piece {
    void* bytes;
    size_t size;
  };
  const auto size = [&] { return 120 + random() % 60 + random() % 60 + random() % 60; };
  std::vector<Piece> live(100'000);
  uint64_t asked = 0;
  for (Piece& piece : live) {
    piece = {nullptr, size()};
    piece.bytes = arena.Allocate(piece.size);
    std::memset(piece.bytes, 1, piece.size);
    asked += piece.size;
  }
  for (size_t turn = 0; turn < 10 * live.size(); ++turn) {
    Piece& piece = live[random() % live.size()];
    const Piece next = {nullptr, size()};
    asked += next.size - piece.size;
    arena.Free(piece.bytes, piece.size);
    piece = {arena.Allocate(next.size), next.size};
  }
  EXPECT_LE(static_cast<double>(arena.reserved_bytes()), 1.2 * static_cast<double>(asked));
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
