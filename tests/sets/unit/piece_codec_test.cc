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

TEST(SetPieceCodec, ADeletionHasNoIdsAndOnePiece) {
  const auto sound = [](const Piece& piece) { return SoundPiece(EncodePiece(piece)); };
  Piece piece = SomePiece();
  piece.deletion = true;
  EXPECT_FALSE(sound(piece)) << "with ids";
  piece.ids.clear();
  EXPECT_TRUE(sound(piece));
  piece.pieces = 2;
  EXPECT_FALSE(sound(piece)) << "of two pieces";
}

TEST(SetPieceCodec, AVersionIsCutByItsIdsAndByTheirBytes) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < 2 * kPieceItems + 1; ++i) texts.push_back(std::to_string(i));
  std::vector<std::string_view> ids(texts.begin(), texts.end());
  const auto joined = [](const std::vector<Piece>& pieces) {
    std::vector<std::string_view> all;
    for (const Piece& piece : pieces) all.insert(all.end(), piece.ids.begin(), piece.ids.end());
    return all;
  };
  std::vector<Piece> pieces = CutPieces("s", {kNoon, 1}, ids);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(joined(pieces), ids);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pieces[i].number, i);
    EXPECT_EQ(pieces[i].pieces, 3u);
  }
  for (std::string& text : texts) text.resize(255, 'x');
  ids.assign(texts.begin(), texts.end());
  pieces = CutPieces("s", {kNoon, 1}, ids);
  EXPECT_EQ(joined(pieces), ids);
  EXPECT_EQ(pieces.size(), 4u + (255 * ids.size() > 4 * kPieceBytes ? 1 : 0));
  for (const Piece& piece : pieces) {
    EXPECT_LE(EncodePiece(piece).size(), kPieceBytes + 3 * kPieceItems + 128);
  }
  pieces = CutPieces("s", {kNoon, 1}, {});
  ASSERT_EQ(pieces.size(), 1u) << "an empty set is one";
  EXPECT_TRUE(pieces[0].ids.empty());
}

TEST(SetPieceCodec, AKeyIsReadAsItWasWritten) {
  Piece piece = SomePiece(), read;
  piece.number = 300;
  const std::string key = KeyOf(piece);
  ASSERT_TRUE(ParsePieceKey(key, &read));
  EXPECT_EQ(KeyOf(read), key);
  EXPECT_FALSE(ParsePieceKey(key.substr(1), &read));
  EXPECT_FALSE(ParsePieceKey(key + "x", &read));
  EXPECT_FALSE(ParsePieceKey("", &read));
  piece.number = 1'000'000;
  EXPECT_FALSE(ParsePieceKey(KeyOf(piece), &read)) << "more than a set may have";
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
