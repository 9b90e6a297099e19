#include "format/history_journal.h"

#include <limits>
#include <vector>

#include "format/journal_codec.h"
#include "format/unit/format_testing.h"

namespace seendb {
namespace {

struct Row {
  std::string user, item;
  int64_t at_ms = 0;
  std::string payload;
  friend bool operator==(const Row&, const Row&) = default;
};

std::string Payload(int32_t progress_s, std::string_view fields = {}) {
  std::string bytes;
  PutPayload(&bytes, {progress_s, 60, "tv", fields});
  return bytes;
}

std::string Write(const std::string& collection, int64_t base_ms, const std::vector<Row>& rows) {
  HistoryJournalEncoder encoder;
  encoder.Begin(collection, base_ms);
  for (const Row& row : rows) encoder.Add({row.user, row.item, row.at_ms, row.payload});
  return std::string(encoder.Finish());
}

bool Read(std::string_view record, std::string* collection, std::vector<Row>* rows) {
  rows->clear();
  HistoryJournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  *collection = decoder.collection();
  WatchedPlay play;
  while (decoder.Next(&play)) {
    rows->push_back(
        {std::string(play.user), std::string(play.item), play.at_ms, std::string(play.payload)});
  }
  return decoder.ok();
}

bool Sound(std::string_view record) {
  std::string collection;
  std::vector<Row> rows;
  return Read(record, &collection, &rows);
}

std::string Sealed(std::string body) {
  body.insert(body.begin(), static_cast<char>(Tag::kHistoryJournal));
  Seal32(&body);
  return body;
}

const std::vector<Row> kRows = {
    {"u1", "v1", 1'773'144'000'000, Payload(-1)},
    {"u1", "42", 1'773'143'999'000, Payload(3, "{}")},
    {"u2", std::string(255, 'i'), std::numeric_limits<int64_t>::max(), Payload(0)},
    {"u1", "v1", std::numeric_limits<int64_t>::min(), Payload(9)}};

TEST(HistoryJournal, RoundTrip) {
  std::string collection;
  std::vector<Row> rows;
  for (const int64_t base_ms : {int64_t{0}, kRows[0].at_ms, kRows[3].at_ms}) {
    ASSERT_TRUE(Read(Write("video", base_ms, kRows), &collection, &rows));
    EXPECT_EQ(collection, "video");
    EXPECT_EQ(rows, kRows);
  }
  ASSERT_TRUE(Read(Write("video", 0, {}), &collection, &rows));
  EXPECT_TRUE(rows.empty());
}

TEST(HistoryJournal, IsToldFromTheJournalRecordBesideIt) {
  JournalEncoder plays;
  plays.Begin("video", 1);
  plays.Add("u1", 1, 1);
  const std::string beside(plays.Finish());
  EXPECT_FALSE(HistoryJournalDecoder::IsOne(beside));
  EXPECT_FALSE(HistoryJournalDecoder::IsOne(""));
  EXPECT_FALSE(Sound(beside));
  const std::string record = Write("video", 0, kRows);
  EXPECT_TRUE(HistoryJournalDecoder::IsOne(record));
  EXPECT_FALSE(JournalDecoder().Begin(record));
}

TEST(HistoryJournal, CutsAndFlipsAreRefused) {
  const std::string record = Write("video", 0, {kRows[0], kRows[1]});
  test::ExpectCutsRefused(record, Sound);
  test::ExpectFlipsRefused(record, Sound);
}

TEST(HistoryJournal, MalformedBodiesAreRefused) {
  using test::FromHex;
  // flags, "a", base 0, one play of "u" on "v" at 0, empty payload
  EXPECT_TRUE(Sound(Sealed(FromHex("00 01 61 00 01 01 75 01 76 00 00 00 00 00"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("01 01 61 00 01 01 75 01 76 00 00 00 00 00")))) << "flags";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 61 00 01 00 01 76 00 00 00 00 00")))) << "no user";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 61 00 01 01 75 00 00 00 00 00 00")))) << "no item";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 61 00 02 01 75 01 76 00 00 00 00 00")))) << "one short";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 61 00 01 01 75 01 76 00 00 00 00 00 00"))));
}

}  // namespace
}  // namespace seendb
