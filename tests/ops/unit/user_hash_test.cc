// The keyed hash of users in logs.

#include "ops/user_hash.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

constexpr std::string_view kKey = "000102030405060708090a0b0c0d0e0f";

// From the vectors of SipHash's authors: the inputs are the bytes 0, 1, 2, ...
TEST(UserHashTest, IsSipHash24) {
  const HashKey key = *ParseHashKey(kKey);
  std::string input;
  const auto hash_of = [&](size_t length) {
    while (input.size() < length) input.push_back(static_cast<char>(input.size()));
    return SipHash(key, std::string_view(input).substr(0, length));
  };
  EXPECT_EQ(hash_of(0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(hash_of(1), 0x74f839c593dc67fdu);
  EXPECT_EQ(hash_of(8), 0x93f5f5799a932462u);
  EXPECT_EQ(hash_of(15), 0xa129ca6149be45e5u);
}

TEST(UserHashTest, OneUserHasOneHash) {
  const HashKey key = RandomHashKey();
  EXPECT_EQ(HashUser(key, IdRef(uint64_t{42})), HashUser(key, IdRef("42")));
  EXPECT_EQ(HashUser(key, IdRef("anna")), SipHash(key, "anna"));
  EXPECT_NE(HashUser(key, IdRef("anna")), HashUser(key, IdRef("annb")));
  EXPECT_NE(HashUser(key, IdRef("anna")), HashUser(RandomHashKey(), IdRef("anna")));
  EXPECT_EQ(HashUser(key, IdRef(UINT64_MAX)), SipHash(key, "18446744073709551615"));
}

TEST(UserHashTest, TextHas16Digits) {
  EXPECT_EQ(HashText(0x726fdb47dd0e0e31u), "726fdb47dd0e0e31");
  EXPECT_EQ(HashText(1), "0000000000000001");
}

TEST(UserHashTest, AKeyIs32HexadecimalDigits) {
  const HashKey key = *ParseHashKey(kKey);
  EXPECT_EQ(key.low, 0x0706050403020100u);
  EXPECT_EQ(key.high, 0x0f0e0d0c0b0a0908u);
  EXPECT_TRUE(ParseHashKey("ABCDEFabcdef00000000000000000000"));
  for (const char* text :
       {"", "00", "g0000000000000000000000000000000", "0000000000000000000000000000000",
        "000000000000000000000000000000000"}) {
    EXPECT_FALSE(ParseHashKey(text)) << text;
  }
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
