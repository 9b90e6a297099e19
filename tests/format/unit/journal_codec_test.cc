#include "format/journal_codec.h"

#include <limits>
#include <vector>

#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Row {
  std::string user;
  int64_t bucket = 0;
  Fingerprint item = 0;
  friend bool operator==(const Row&, const Row&) = default;
};

std::string Write(const std::string& collection, int64_t base, const std::vector<Row>& rows) {
  JournalEncoder encoder;
  encoder.Begin(collection, base);
  for (const Row& row : rows) encoder.Add(row.user, row.bucket, row.item);
  EXPECT_EQ(encoder.count(), rows.size());
  return std::string(encoder.Finish());
}

bool Read(std::string_view record, std::string* collection, std::vector<Row>* rows) {
  rows->clear();
  JournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  *collection = decoder.collection();
  std::string_view user;
  Row row;
  while (decoder.Next(&user, &row.bucket, &row.item)) {
    row.user = user;
    rows->push_back(row);
  }
  return decoder.ok();
}

bool Sound(std::string_view record) {
  std::string collection;
  std::vector<Row> rows;
  return Read(record, &collection, &rows);
}

// A record with a good checksum around any body.
std::string Sealed(std::string body) {
  body.insert(body.begin(), static_cast<char>(Tag::kJournal));
  Seal32(&body);
  return body;
}

const std::vector<Row> kRows = {
    {"u1", 24314, 0x1234'5678'9ABC},   {"u1", 24313, 0}, {"u2", 24315, kFingerprintMask},
    {std::string(255, 'x'), 24314, 7}, {"u2", 24314, 8}, {"\xC3\xA9", -5, 9}};

TEST(JournalCodec, RoundTrip) {
  std::string collection;
  std::vector<Row> rows;
  ASSERT_TRUE(Read(Write("video", 24314, kRows), &collection, &rows));
  EXPECT_EQ(collection, "video");
  EXPECT_EQ(rows, kRows);
  ASSERT_TRUE(Read(Write("video", 0, {}), &collection, &rows));
  EXPECT_TRUE(rows.empty());
}

TEST(JournalCodec, AnEncoderIsReusable) {
  JournalEncoder encoder;
  encoder.Begin("a", 1);
  encoder.Add("u1", 1, 1);
  const std::string first(encoder.Finish());
  encoder.Begin("a", 1);
  encoder.Add("u1", 1, 1);
  EXPECT_EQ(encoder.Finish(), first) << "the user is named again in a new record";
}

TEST(JournalCodec, ExtremeBucketsRoundTrip) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min() / 2;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 2;
  const std::vector<Row> rows{{"u", kMin, 1}, {"u", kMax, 2}};
  std::string collection;
  std::vector<Row> read;
  ASSERT_TRUE(Read(Write("c", kMax, rows), &collection, &read));
  EXPECT_EQ(read, rows);
}

TEST(JournalCodec, CutsAndFlipsAreRefused) {
  const std::string record = Write("video", 24314, kRows);
  test::ExpectCutsRefused(record, Sound);
  test::ExpectFlipsRefused(record, Sound);
}

TEST(JournalCodec, HostileBodiesAreRefused) {
  using test::FromHex;
  EXPECT_FALSE(Sound(Sealed("")));
  EXPECT_FALSE(Sound(Sealed(FromHex("01 01 63 00 00")))) << "unknown flags";
  EXPECT_TRUE(Sound(Sealed(FromHex("00 01 63 00 00"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 63 00 01")))) << "a play is missing";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 63 00 ff ff ff ff 0f")))) << "4 billion plays";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 63 00 ff ff ff ff 1f")))) << "more than 32 bits";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 ff ff ff ff ff ff ff ff ff 01 63 00 00"))))
      << "a collection longer than the record";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 63 00 01 00 00 010203040506"))))
      << "the first play names no user";
  EXPECT_TRUE(Sound(Sealed(FromHex("00 01 63 00 01 01 75 00 010203040506"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 63 00 01 01 75 00 010203040506 00"))))
      << "bytes left over";
  // A bucket that leaves 64 bits wraps; it must not be undefined.
  EXPECT_TRUE(
      Sound(Sealed(FromHex("00 01 63 fe ff ff ff ff ff ff ff ff 01 01 01 75 02 010203040506"))));
}

TEST(JournalCodec, KeysSortAsSequencesDo) {
  EXPECT_EQ(test::ToHex(SequenceKey((uint64_t{3} << 40) | 5)), "00 00 03 00 00 00 00 05");
  std::string last;
  for (const uint64_t sequence :
       {uint64_t{0}, uint64_t{1}, uint64_t{255}, uint64_t{256}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const std::string key = SequenceKey(sequence);
    EXPECT_LT(last, key);
    last = key;
    uint64_t parsed = 7;
    EXPECT_TRUE(ParseSequenceKey(key, &parsed));
    EXPECT_EQ(parsed, sequence);
  }
  uint64_t unused = 0;
  EXPECT_FALSE(ParseSequenceKey("", &unused));
  EXPECT_FALSE(ParseSequenceKey("1234567", &unused));
  EXPECT_FALSE(ParseSequenceKey("123456789", &unused));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
