#include "format/bytes.h"

#include <limits>
#include <vector>

#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using test::FromHex;
using test::ToHex;

TEST(Bytes, IntegersAreLittleEndian) {
  std::string out;
  PutU32(&out, 0x01020304);
  PutU64(&out, 0x1122334455667788);
  EXPECT_EQ(ToHex(out), "04 03 02 01 88 77 66 55 44 33 22 11");
  PutFingerprint(&out, 0x0000'A1A2'A3A4'A5A6);
  EXPECT_EQ(ToHex(std::string_view(out).substr(12)), "a6 a5 a4 a3 a2 a1");
  Reader in(std::string_view(out).substr(4));
  EXPECT_EQ(in.U64(), 0x1122334455667788u);
  EXPECT_EQ(in.Packed(), 0xA1A2'A3A4'A5A6u);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(Bytes, VarintsRoundTripAtEveryLength) {
  std::vector<uint64_t> values{0, std::numeric_limits<uint64_t>::max()};
  for (unsigned shift = 0; shift < 64; ++shift) {
    for (const int64_t delta : {-1, 0, 1}) {
      values.push_back((uint64_t{1} << shift) + static_cast<uint64_t>(delta));
    }
  }
  for (const uint64_t value : values) {
    std::string out;
    PutVarint(&out, value);
    EXPECT_LE(out.size(), 10u);
    Reader in(out);
    EXPECT_EQ(in.Varint(), value);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0u);
    for (size_t cut = 0; cut < out.size(); ++cut) {
      Reader short_in(std::string_view(out).substr(0, cut));
      EXPECT_EQ(short_in.Varint(), 0u);
      EXPECT_FALSE(short_in.ok());
    }
  }
}

TEST(Bytes, ZigzagRoundTripsTheEnds) {
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{-64}, int64_t{64},
        std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    std::string out;
    PutZigzag(&out, value);
    Reader in(out);
    EXPECT_EQ(in.Zigzag(), value);
    EXPECT_TRUE(in.ok());
  }
  std::string small;
  PutZigzag(&small, -1);
  EXPECT_EQ(ToHex(small), "01");
}

TEST(Bytes, VarintsTooLongOrTooLargeAreRefused) {
  const std::string eleven_bytes = FromHex("80 80 80 80 80 80 80 80 80 80 00");
  Reader eleven(eleven_bytes);
  EXPECT_EQ(eleven.Varint(), 0u);
  EXPECT_FALSE(eleven.ok());
  const std::string too_large_bytes = FromHex("ff ff ff ff ff ff ff ff ff 02");
  Reader too_large(too_large_bytes);
  EXPECT_EQ(too_large.Varint(), 0u);
  EXPECT_FALSE(too_large.ok());
  const std::string over_32 = FromHex("80 80 80 80 10");  // 2^32
  EXPECT_EQ(Reader(over_32).Varint(), uint64_t{1} << 32);
  Reader narrow(over_32);
  EXPECT_EQ(narrow.Varint32(), 0u);
  EXPECT_FALSE(narrow.ok());
}

TEST(Bytes, AReaderThatFailedGivesNothingMore) {
  const std::string bytes = FromHex("05 06 07");
  Reader in(bytes);
  EXPECT_EQ(in.U8(), 5u);
  EXPECT_TRUE(in.Bytes(std::numeric_limits<uint64_t>::max()).empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.U8(), 0u);
  EXPECT_EQ(in.U64(), 0u);
  EXPECT_EQ(in.Packed(), 0u);
  EXPECT_EQ(in.Zigzag(), 0);
  EXPECT_FALSE(in.ok());
}

TEST(Bytes, AnEmptyReadAtTheEndIsFine) {
  Reader in(std::string_view{});
  EXPECT_TRUE(in.Bytes(0).empty());
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.U8(), 0u);
  EXPECT_FALSE(in.ok());
}

TEST(Bytes, TheChecksumIsPinned) {  // a change here is a new format version
  EXPECT_EQ(HashBytes(""), 0x2D06'8005'38D3'94C2u);
  std::string value(1, static_cast<char>(Tag::kUser));
  Seal32(&value);
  EXPECT_EQ(value.size(), 5u);
  std::string_view body = "unset";
  EXPECT_TRUE(Open32(value, Tag::kUser, &body));
  EXPECT_TRUE(body.empty());
  EXPECT_FALSE(Open32(value, Tag::kFilter, &body)) << "another tag";
  EXPECT_FALSE(Open32("", Tag::kUser, &body));
  EXPECT_FALSE(Open32(std::string_view(value).substr(1), Tag::kUser, &body));
}

TEST(Bytes, ValuesOfNewerVersionsAreToldByName) {
  const auto value = [](int tag) {
    std::string bytes(1, static_cast<char>(tag));
    bytes += "body";
    Seal32(&bytes);
    return bytes;
  };
  EXPECT_EQ(NewerText(value(0x12)), "seen filter version 2 is newer than this software (1)");
  EXPECT_EQ(NewerText(value(0x2f)), "impressions version 15 is newer than this software (3)");
  EXPECT_EQ(NewerText(value(0x33)), "journal record version 3 is newer than this software (1)");
  EXPECT_EQ(NewerText(value(0x44)), "user record version 4 is newer than this software (1)");
  EXPECT_EQ(NewerText(value(0x53)), "history entry version 3 is newer than this software (2)");
  EXPECT_EQ(NewerText(value(0x63)),
            "history journal record version 3 is newer than this software (2)");
  EXPECT_EQ(NewerText(value(0x82)), "set of a user version 2 is newer than this software (1)");
  for (const int known :
       {0x11, 0x21, 0x22, 0x23, 0x31, 0x41, 0x51, 0x52, 0x61, 0x62, 0x71, 0x81, 0x91})
    EXPECT_EQ(NewerText(value(known)), "") << known;
  for (const int none : {0x00, 0x02, 0x10, 0xb2, 0xf2})
    EXPECT_EQ(NewerText(value(none)), "") << none;
  const std::string newer = value(0x12);
  EXPECT_EQ(NewerText(""), "");
  for (size_t size = 0; size < newer.size(); ++size) {
    EXPECT_EQ(NewerText(std::string_view(newer).substr(0, size)), "") << "cut to " << size;
  }
  for (size_t at = 1; at < newer.size(); ++at) {
    std::string damaged = newer;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_EQ(NewerText(damaged), "") << "byte " << at;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
