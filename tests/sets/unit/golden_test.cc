// The bytes of sets are those of tests/golden/sets, on disk and in a log, and engine/doc/facts.md
// shows them.

#include <set>
#include <sstream>

#include "format/unit/format_testing.h"
#include "sets/log_rows.h"
#include "sets/piece_codec.h"

namespace seendb::sets::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNoon = 1'773'144'000'000;  // 2026-03-10 12:00 UTC
constexpr Version kVersion{kNoon, 0x0123'4567'89ab'cdef};

std::string Golden(const std::string& name) {
  return test::FromHex(test::ReadProjectFile("tests/golden/sets/" + name + ".hex"));
}

Piece Blocked() { return {.name = "blocked", .version = kVersion, .ids = {"a", "b"}}; }
Piece Deletion() { return {.name = "blocked", .version = kVersion, .deletion = true}; }

TEST(SetGolden, TheCodecWritesThem) {
  EXPECT_EQ(test::ToHex(EncodePiece(Blocked())), test::ToHex(Golden("piece")));
  EXPECT_EQ(test::ToHex(KeyOf(Blocked())), test::ToHex(Golden("piece_key")));
  EXPECT_EQ(test::ToHex(EncodePiece(Deletion())), test::ToHex(Golden("deletion")));
  EXPECT_EQ(EncodePlace({.log = "u-1 feed.sets", .next_offset = 258}), Golden("place"));
  const LogVersion version{
      .state = LogVersion::State::kCounts, .order = 17, .pieces = 3, .since_ms = kNoon};
  EXPECT_EQ(EncodeLogVersion(version), Golden("version"));
}

TEST(SetGolden, TheCodecReadsThem) {
  Piece piece;
  const std::string value = Golden("piece"), deletion = Golden("deletion");
  ASSERT_TRUE(ParsePiece(value, &piece));
  EXPECT_EQ(piece.ids, Blocked().ids);
  EXPECT_FALSE(piece.deletion);
  ASSERT_TRUE(ParsePiece(deletion, &piece));
  EXPECT_TRUE(piece.deletion);
  EXPECT_EQ(piece.name, "blocked");
  const std::string key = Golden("piece_key");
  ASSERT_TRUE(ParsePieceKey(key, &piece));
  EXPECT_EQ(piece.name, "blocked");
  EXPECT_EQ(piece.version.begun_ms, kNoon);
  EXPECT_EQ(piece.version.nonce, kVersion.nonce);
  LogPlace place;
  ASSERT_TRUE(ParsePlace(Golden("place"), &place));
  EXPECT_EQ(place.log, "u-1 feed.sets");
  EXPECT_EQ(place.next_offset, 258);
  LogVersion version;
  ASSERT_TRUE(ParseLogVersion(Golden("version"), &version));
  EXPECT_EQ(version.order, 17);
  EXPECT_EQ(version.missing, 3u);
}

TEST(SetGolden, WhatIsNewerIsToldFromDamage) {
  Piece piece;
  const std::string newer = Golden("newer_flags");
  EXPECT_FALSE(ParsePiece(newer, &piece));
  EXPECT_NE(NewerPieceText(newer).find("flags"), std::string::npos);
  EXPECT_EQ(NewerPieceText(Golden("piece")), "");
  EXPECT_EQ(NewerPieceText(newer.substr(1)), "");
  EXPECT_EQ(NewerPieceText(""), "");
}

TEST(SetGolden, ThePageShowsThem) {
  std::istringstream lines(test::ReadProjectFile("engine/doc/facts.md"));
  std::string line, name, block;
  std::set<std::string> shown;
  while (std::getline(lines, line)) {
    if (line.starts_with("```hex sets/")) {
      name = line.substr(12);
      block.clear();
    } else if (line == "```" && !name.empty()) {
      EXPECT_EQ(test::ToHex(test::FromHex(block)), test::ToHex(Golden(name))) << name;
      shown.insert(name);
      name.clear();
    } else {
      block += line + "\n";
    }
  }
  EXPECT_EQ(shown, (std::set<std::string>{"piece_key", "deletion", "place", "version"}));
}

}  // namespace
}  // namespace seendb::sets::SEENDB_TEST_FILE
