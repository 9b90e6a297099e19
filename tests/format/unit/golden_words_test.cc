// The bytes of format 2, kept in tests/golden/v3: history's values and journal records in version
// 2, a user's deletions ahead of the clock, and the identity that names history's operator. Never
// edited, as those of v1.
// `SEENDB_WRITE_GOLDEN=1` adds files that are missing, and touches no other.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/history_journal.h"
#include "format/unit/format_testing.h"
#include "format/user_codec.h"
#include "seendb/history.h"
#include "store/files.h"
#include "support/poison.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

const std::string kWordsFolder = "tests/golden/v3/";
constexpr int64_t kTwelveMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC
constexpr int64_t kHourMs = 3'600'000;

std::string GoldenWords(const std::string& name, const std::string& about,
                        const std::string& made) {
  const std::string path = kWordsFolder + name + ".hex";
  if (std::getenv("SEENDB_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path) << "# " << about << "\n" << test::ToHex(made) << "\n";
  }
  return test::FromHex(test::ReadProjectFile(path));
}

HistoryState OnATvAtNoon() {
  HistoryState state;
  state.at_ms = kTwelveMs;
  state.progress_s = {kTwelveMs, 95};
  state.duration_s = {kTwelveMs, 240};
  state.device = {kTwelveMs, "tv"};
  state.fields = {kTwelveMs, R"({"ep":3})"};
  return state;
}

// At 13:01 another report, of the position alone, after a deletion at 11:00.
HistoryState Joined() {
  HistoryState state = OnATvAtNoon();
  state.Join(DeletionAt(kTwelveMs - kHourMs));
  HistoryState later;
  later.at_ms = kTwelveMs + kHourMs + 60'000;
  later.progress_s = {later.at_ms, kFinished};
  state.Join(later);
  return state;
}

struct WordsCase {
  std::string name, about;
  HistoryValue value;
};

std::vector<WordsCase> WordsCases() {
  std::string newer;
  EncodeHistory(OnATvAtNoon(), &newer);
  std::vector<WordsCase> cases(5);
  cases[0] = {"history_entry", "95 of 240 seconds into v1 at 12:00, on a tv", {}};
  cases[0].value.state = OnATvAtNoon();
  cases[1] = {"history_joined", "deleted at 11:00, the entry, finished at 13:01", {}};
  cases[1].value.state = Joined();
  cases[2] = {"history_deleted", "deleted at 13:00", {}};
  cases[2].value.state = DeletionAt(kTwelveMs + kHourMs);
  cases[3] = {"history_damaged", "the entry beside a damaged operand", {}};
  cases[3].value.state = OnATvAtNoon();
  cases[3].value.damaged = true;
  cases[4] = {"history_newer", "and beside the same of version 3", {}};
  cases[4].value = cases[3].value;
  cases[4].value.newer = {Newer(newer)};
  return cases;
}

TEST(GoldenWords, HistoryEntries) {
  for (const WordsCase& one : WordsCases()) {
    SCOPED_TRACE(one.name);
    std::string made;
    one.value.Encode(&made);
    const std::string golden = GoldenWords(one.name, one.about, made);
    EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
    HistoryValue read;
    ASSERT_TRUE(read.Parse(golden));
    EXPECT_EQ(read.state, one.value.state);
    EXPECT_EQ(read.damaged, one.value.damaged);
    EXPECT_EQ(read.newer, one.value.newer);
  }
}

TEST(GoldenWords, HistoryJournalRecords) {
  std::string all, position;
  PutWords(&all, OnATvAtNoon());
  HistoryState later;
  later.at_ms = kTwelveMs - 1000;
  later.progress_s = {later.at_ms, 7};
  PutWords(&position, later);
  HistoryJournalEncoder encoder;
  encoder.Begin("video", kTwelveMs);
  encoder.Add({"u1", "v1", kTwelveMs, all});
  encoder.Add({"u1", "42", later.at_ms, position});
  const std::string made(encoder.Finish());
  const std::string golden = GoldenWords(
      "history_journal", "u1 watched v1 at 12:00 and was 7 seconds into 42 a second before", made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  HistoryJournalDecoder decoder;
  ASSERT_TRUE(decoder.Begin(golden));
  EXPECT_EQ(decoder.collection(), "video");
  WatchedPlay play;
  ASSERT_TRUE(decoder.Next(&play));
  EXPECT_EQ(StateOf(play.at_ms, play.words), OnATvAtNoon());
  ASSERT_TRUE(decoder.Next(&play));
  EXPECT_EQ(play.item, "42");
  EXPECT_EQ(StateOf(play.at_ms, play.words), later);
  EXPECT_FALSE(decoder.Next(&play));
  EXPECT_TRUE(decoder.ok());
}

TEST(GoldenWords, DeletionsAhead) {
  UserRecord record, read;
  record.marks["video"].deletions_ahead[test::Fp("v1")] = {uint64_t{1} << 40 | 9,
                                                           kTwelveMs + kHourMs, kTwelveMs};
  std::string made;
  record.Encode(&made);
  const std::string golden = GoldenWords(
      "user_deleted_ahead", "v1 deleted at 12:00, a play of which had the time 13:00", made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  ASSERT_TRUE(read.Parse(golden));
  EXPECT_EQ(read, record);
}

TEST(GoldenWords, AnIdentityOfVersion1IsRenewedToIt) {
  const std::string golden = test::ReadProjectFile(kWordsFolder + "SEENDB.json");
  const Result<Identity> read = Identity::FromJson(golden);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->format, 2);
  EXPECT_FALSE(read->older());
  EXPECT_EQ(read->ToJson(), golden);
  const Result<Identity> former =
      Identity::FromJson(test::ReadProjectFile("tests/golden/v2/SEENDB.json"));
  ASSERT_TRUE(former.ok()) << former.status().ToString();
  EXPECT_TRUE(former->older());
  EXPECT_EQ(former->Renewed().ToJson(), golden);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
