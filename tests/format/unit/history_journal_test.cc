#include "format/history_journal.h"

#include <limits>
#include <vector>

#include "format/journal_codec.h"
#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Row {
  std::string user, item;
  int64_t at_ms = 0;
  std::string words;
  friend bool operator==(const Row&, const Row&) = default;
};

// Words that a report says at its own time.
std::string Words(int32_t progress_s, std::string_view fields = {}) {
  HistoryState report;
  report.at_ms = 1;
  report.progress_s = {1, progress_s};
  report.device = {1, "tv"};
  if (!fields.empty()) report.fields = {1, fields};
  std::string bytes;
  PutWords(&bytes, report);
  return bytes;
}

std::string Write(const std::string& collection, int64_t base_ms, const std::vector<Row>& rows) {
  HistoryJournalEncoder encoder;
  encoder.Begin(collection, base_ms);
  for (const Row& row : rows) encoder.Add({row.user, row.item, row.at_ms, row.words});
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
        {std::string(play.user), std::string(play.item), play.at_ms, std::string(play.words)});
  }
  return decoder.ok();
}

bool Sound(std::string_view record) {
  std::string collection;
  std::vector<Row> rows;
  return Read(record, &collection, &rows);
}

std::string Sealed(Tag tag, std::string body) {
  body.insert(body.begin(), static_cast<char>(tag));
  Seal32(&body);
  return body;
}

const std::vector<Row> kRows = {
    {"u1", "v1", 1'773'144'000'000, Words(-1)},
    {"u1", "42", 1'773'143'999'000, Words(3, "{}")},
    {"u2", std::string(255, 'i'), std::numeric_limits<int64_t>::max(), Words(0)},
    {"u1", "v1", std::numeric_limits<int64_t>::min() + 1, Words(9)}};

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
  const auto sound = [](const char* hex) {
    return Sound(Sealed(Tag::kHistoryJournalWords, test::FromHex(hex)));
  };
  // flags, "a", base 0, one play of "u" on "v" at 0, no words
  EXPECT_TRUE(sound("00 01 61 00 01 01 75 01 76 00 00"));
  EXPECT_FALSE(sound("01 01 61 00 01 01 75 01 76 00 00")) << "flags";
  EXPECT_FALSE(sound("00 01 61 00 01 00 01 76 00 00")) << "no user";
  EXPECT_FALSE(sound("00 01 61 00 01 01 75 00 00 00")) << "no item";
  EXPECT_FALSE(sound("00 01 61 00 02 01 75 01 76 00 00")) << "one short";
  EXPECT_FALSE(sound("00 01 61 00 01 01 75 01 76 00 00 00")) << "a byte left over";
  EXPECT_FALSE(sound("00 01 61 00 01 01 75 01 76 00 11 05 02")) << "said before its own report";
}

TEST(HistoryJournal, RecordsOfVersion1AreRead) {
  const auto sealed = [](const char* hex) {
    return Sealed(Tag::kHistoryJournal, test::FromHex(hex));
  };
  std::string collection;
  std::vector<Row> rows;
  // "u" on "v" at 0: 3 of 0 seconds on "tv"; on "w": nothing
  ASSERT_TRUE(
      Read(sealed("00 01 61 00 02 01 75 01 76 00 06 00 02 74 76 00 00 01 77 00 00 00 00 00"),
           &collection, &rows));
  EXPECT_EQ(rows, (std::vector<Row>{{"u", "v", 0, Words(3)}, {"u", "w", 0, std::string(1, '\0')}}));
  EXPECT_TRUE(HistoryJournalDecoder::IsOne(sealed("00")));
  EXPECT_FALSE(Sound(sealed("00 01 61 00 01 01 75 01 76 00 03 00 00 00"))) << "progress -2";
  EXPECT_FALSE(Sound(sealed("00 01 61 00 01 01 75 01 76 00 00 00 00 00 00"))) << "a byte left over";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
