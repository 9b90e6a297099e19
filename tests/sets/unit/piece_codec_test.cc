#include "sets/piece_codec.h"

#include <sstream>
#include <string>
#include <vector>

#include "format/bytes.h"
#include "format/unit/format_testing.h"

namespace seendb::sets::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNoon = 1'773'144'000'000;  // 2026-03-10 12:00 UTC

Piece SomePiece() {
  return {.name = "blocked",
          .version = {kNoon, 0x0123'4567'89ab'cdef},
          .number = 0,
          .pieces = 1,
          .ids = {"a", "b"}};
}

bool SoundPiece(std::string_view value) {
  Piece piece;
  return ParsePiece(value, &piece);
}

TEST(SetPieceCodec, RoundTrip) {
  const Piece written = SomePiece();
  const std::string value = EncodePiece(written);
  Piece read;
  ASSERT_TRUE(ParsePiece(value, &read));
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.version.begun_ms, kNoon);
  EXPECT_EQ(read.version.nonce, written.version.nonce);
  EXPECT_EQ(read.pieces, 1u);
  EXPECT_EQ(read.ids, written.ids);
  test::ExpectCutsRefused(value, SoundPiece);
  test::ExpectFlipsRefused(value, SoundPiece);
}

TEST(SetPieceCodec, ThePageOfTheDesignHasTheBytes) {
  const std::string page = test::ReadProjectFile("engine/doc/facts.md");
  const size_t section = page.find("### Shared sets");
  ASSERT_NE(section, std::string::npos);
  const size_t begin = page.find("```hex\n", section) + 7;
  std::string hex;
  std::istringstream lines(page.substr(begin, page.find("```", begin) - begin));
  for (std::string line; std::getline(lines, line);) hex += line.substr(0, line.find(';'));
  EXPECT_EQ(test::FromHex(hex.c_str()), EncodePiece(SomePiece()));
}

TEST(SetPieceCodec, HostileBodiesAreRefused) {
  const auto sound = [](const Piece& piece) { return SoundPiece(EncodePiece(piece)); };
  Piece piece = SomePiece();
  piece.ids = {"b", "a"};
  EXPECT_FALSE(sound(piece)) << "out of order";
  piece.ids = {"a", "a"};
  EXPECT_FALSE(sound(piece)) << "twice";
  piece.ids = {""};
  EXPECT_FALSE(sound(piece)) << "no id";
  const std::string longer(256, 'x');
  piece.ids = {longer};
  EXPECT_FALSE(sound(piece)) << "longer than an id";
  piece = SomePiece();
  piece.number = 1;
  EXPECT_FALSE(sound(piece)) << "behind the last";
  piece = SomePiece();
  piece.pieces = 1'000;
  EXPECT_FALSE(sound(piece)) << "more than a set may have";
  piece = SomePiece();
  piece.name = "";
  EXPECT_FALSE(sound(piece)) << "of no set";
  piece.name = longer;
  EXPECT_FALSE(sound(piece)) << "of a name that is too long";
}

TEST(SetPieceCodec, KeysOfOneSetLieTogetherInOrder) {
  Piece piece = SomePiece();
  const std::string first = KeyOf(piece);
  EXPECT_EQ(NameInKey(first), "blocked");
  piece.number = 256;
  const std::string later = KeyOf(piece);
  EXPECT_LT(first, later);
  piece.version.begun_ms += 1;
  piece.number = 0;
  EXPECT_LT(later, KeyOf(piece));
  // A name that goes on with what may be another's version is another name.
  piece.name = "blocked/";
  EXPECT_FALSE(KeyOf(piece).starts_with(KeyPrefix("blocked")));
  EXPECT_EQ(NameInKey("set/"), "");
  EXPECT_EQ(NameInKey(first.substr(0, first.size() - 1)), "");
  EXPECT_EQ(NameInKey("format"), "");
}

}  // namespace
}  // namespace seendb::sets::SEENDB_TEST_FILE
