// Ids that a client makes so that an unkeyed hash puts them all into one place of a table. Each
// look-up would walk over all of them: 60,000 such items cost seconds of CPU.

#include <bit>
#include <cstring>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "format/bytes.h"
#include "ring/history_staging.h"
#include "ring/staging.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kIds = 1000;
constexpr uint64_t kLowBits = 0xFFFFF;

uint64_t UndoShift(uint64_t value, int bits) {
  for (int done = bits; done < 64; done *= 2) value ^= value >> done;
  return value;
}

uint64_t InverseOf(uint64_t odd) {
  uint64_t inverse = odd;  // right in three bits; each step doubles them
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

// The eight bytes whose XXH3-64, without a key, is `hash`: for this length the hash is a chain of
// steps each of which can be undone.
std::string IdWithHash(uint64_t hash) {
  constexpr uint64_t kFactor = 0x9FB2'1C65'1E98'DF25ULL;
  constexpr uint64_t kFlip = 0x1CAD'21F7'2C81'017CULL ^ 0xDB97'9083'E96D'D4DEULL;
  constexpr uint64_t kLength = 8;
  uint64_t value = UndoShift(hash, 28) * InverseOf(kFactor);
  value ^= (value >> 35) + kLength;
  value *= InverseOf(kFactor);
  for (int power = 1; power < 64; power *= 2) {  // 1 + r^24 + r^49 is undone by its 63rd power
    value ^= std::rotl(value, 24 * power % 64) ^ std::rotl(value, 49 * power % 64);
  }
  value = std::rotl(value ^ kFlip, 32);
  std::string id(sizeof(value), '\0');
  std::memcpy(id.data(), &value, sizeof(value));
  return id;
}

std::string CraftedId(int number) {
  const auto high = static_cast<uint64_t>(number) << 20;
  const std::string id = IdWithHash(high | 0x54321);
  EXPECT_EQ(HashBytes(id) & kLowBits, 0x54321U);
  return id;
}

// Of random numbers of 20 bits nearly all differ.
void ExpectSpread(const std::set<uint64_t>& places) { EXPECT_GT(places.size(), kIds * 0.95); }

TEST(CraftedIds, ItemsOfHistoryLieApart) {
  HistoryStaging staging;
  for (int i = 0; i < kIds; ++i) staging.Add(0, {"user", CraftedId(i), 1, {}});
  std::set<uint64_t> places;
  for (const HistoryStaging::Entry* entry : staging.Entries()) {
    places.insert(entry->hash & kLowBits);
  }
  ExpectSpread(places);
}

TEST(CraftedIds, UsersOfHistoryLieApart) {
  HistoryStaging staging;
  for (int i = 0; i < kIds; ++i) staging.Add(0, {CraftedId(i), "item", 1, {}});
  std::set<uint64_t> places;
  for (const HistoryStaging::Entry* entry : staging.Entries()) {
    places.insert(entry->user->hash & kLowBits);
  }
  ExpectSpread(places);
}

TEST(CraftedIds, UsersOfPlaysLieApart) {
  Staging staging;
  for (int i = 0; i < kIds; ++i) staging.Add(0, {CraftedId(i), 1, 1});
  std::set<uint64_t> places;
  for (const Staging::Entry* entry : staging.Entries()) places.insert(entry->hash & kLowBits);
  ExpectSpread(places);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
