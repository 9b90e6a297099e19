// Every entry of kTables and of kMetaKeys by itself, and against the others.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rocksdb/slice.h>

#include "format/bytes.h"
#include "format/day_key.h"
#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/own_set_codec.h"
#include "tables/meta_keys.h"
#include "tables/table_set.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Hex(std::string_view text) {
  std::string digits(text), bytes;
  std::erase(digits, ' ');
  EXPECT_TRUE(rocksdb::Slice(digits).DecodeHex(&bytes)) << text;
  return bytes;
}

// A sound row of a kind.
struct Sample {
  std::string name;  // of its family
  std::string key, value;
  std::string key_text, value_text;
  uint64_t sequence = 0;
  bool any_key = true;  // no key is damaged
};

std::string HistoryEntry() {
  constexpr int64_t kNoonMs = 1773144000000;
  HistoryState state;
  state.at_ms = kNoonMs;
  state.progress_s = {kNoonMs, 95};
  state.duration_s = {kNoonMs - 1000, 120};
  state.device = {kNoonMs, "tv"};
  state.fields = {kNoonMs, "{}"};
  std::string value;
  EncodeHistory(state, &value);
  return value;
}

// One a kind, in the order of the entries. Bytes: format.md, "A play, end to end".
std::vector<Sample> Samples() {
  return {
      {"default", "ring", R"({"epoch":7})", "ring", R"({"epoch":7})"},
      {"users", "u1", Hex("41 018480808080 20 0280e9d4becd33 cbf295a0"), "u1",
       "erased_seq=1099511627780 erased_at=1773147600000", (uint64_t{1} << 40) + 4},
      {"own", "u1",
       Hex("71 00 03 08 617574686f723a33 02 8098f2f99a6701 09 6368616e6e656c3a37 01 80d2a9fd9a67 "
           "09 "
           "6368616e6e656c3a39 02 80d2a9fd9a6700 ffb9b703 eefd4a19"),
       "u1",
       "groups=2 deletions=1 author:3=always@1773144000000 channel:9=1773144000000@1773147600000"},
      {"ring/5", Hex("0000010000000001"),
       Hex("31 00 0764656661756c74 f4fb02 01 027531 00 60466e385189 3ffce1e2"), "1:1",
       "collection=default plays=1", (uint64_t{1} << 40) + 1, false},
      {"seen/video/2026-11", "u1", Hex("11 00 80e9d4becd33 000001 60466e385189 afccb6e5"), "u1",
       "list list=1 as_of=1773147600000"},
      {"impressions/video", "u1",
       Hex("22 00 01 808cf9bccd33 828080808020 02 bc3c2c06bf3e01 027632 60466e38518900 00 "
           "54b5133a"),
       "u1", "items=2 newest=1773144000000", (uint64_t{1} << 40) + 2},
      {"exposures/video", "u1",
       Hex("23 00 01 04686f6d65 01 808cf9bccd33 828080808020 02 bc3c2c06bf3e 010000 60466e385189 "
           "000100 50372b10"),
       "u1", "items=2 newest=1773144000000", (uint64_t{1} << 40) + 2},
      {"counts/video", "u1",
       Hex("91 00 01 04686f6d65 01 08617574686f723a33 23 80d2a9fd9a67 bc3c2c06bf3e03 e0d403 "
           "80dddb01 60466e385189 02 00 60466e385189 05 aeae4303"),
       "u1", "entries=3 author:3=3"},
      {"history/video/2026-11", HistoryKey("u1", "v1"), HistoryEntry(), "u1 v1",
       "at=1773144000000 progress=95 duration=120@1773143999000 device=tv fields={}", 0, false},
      {"timeline/video/2026-11", TimelineKey("u1", 1773144000000, "v1"), "", "u1 1773144000000 v1",
       "", 0, false},
  };
}

const Table& KindOf(const Sample& sample) {
  const Table* const kind = ParseFamilyName(sample.name).kind;
  EXPECT_NE(kind, nullptr) << sample.name;
  return kind == nullptr ? Tables().front() : *kind;
}

// Not as it was written: cut off, or longer.
std::vector<std::string> Damaged(const std::string& bytes) {
  std::vector<std::string> all{bytes + "x"};
  for (size_t size = 0; size < bytes.size(); ++size) all.push_back(bytes.substr(0, size));
  return all;
}

// The same value in the last version that its layout can have; empty where the kind has no tags.
std::string Newer(std::string value) {
  const bool tagged = value.size() > 5 && value.front() != '{';
  if (!tagged) return {};
  value.front() = static_cast<char>(value.front() | 0x0F);
  value.resize(value.size() - 4);
  Seal32(&value);
  return value;
}

std::string OperatorOf(const Table& kind) {
  const TableRules rules = UnboundRules(std::make_shared<Counters>());
  const rocksdb::ColumnFamilyOptions options = FamilyOptions(kind, rules, nullptr);
  return options.merge_operator == nullptr ? "" : options.merge_operator->Name();
}

TEST(Kinds, EachHasASample) {
  const std::vector<Sample> samples = Samples();
  ASSERT_EQ(samples.size(), Tables().size());
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(&KindOf(samples[i]), &Tables()[i]) << samples[i].name;
  }
}

TEST(Kinds, NoPrefixBeginsAnother) {
  for (const Table& one : Tables()) {
    EXPECT_EQ(one.prefix.ends_with('/'), one.scope != Table::Scope::kShard) << one.prefix;
    for (const Table& other : Tables()) {
      if (&one != &other) {
        EXPECT_FALSE(other.prefix.starts_with(one.prefix)) << one.prefix;
      }
    }
  }
}

TEST(Kinds, NamesAreReadAsTheyAreWritten) {
  EXPECT_EQ(ParseFamilyName(RingFamilyName(5)).slot, 5U);
  for (const Table& kind : Tables()) {
    FamilyName name;
    const std::string bucket = std::string(kind.prefix) + "video/2026-11";
    if (kind.scope == Table::Scope::kShard) name = ParseFamilyName(kind.prefix);
    if (kind.scope == Table::Scope::kSlot) name = ParseFamilyName(RingFamilyName(5));
    if (kind.scope == Table::Scope::kCollection) {
      name = ParseFamilyName(std::string(kind.prefix) + "video");
    }
    if (kind.scope == Table::Scope::kBucket) name = ParseFamilyName(bucket);
    ASSERT_EQ(name.kind, &kind) << kind.prefix;
    const bool of_collection =
        kind.scope == Table::Scope::kCollection || kind.scope == Table::Scope::kBucket;
    EXPECT_EQ(name.collection, of_collection ? "video" : "") << kind.prefix;
    EXPECT_EQ(name.bucket, kind.scope == Table::Scope::kBucket ? "2026-11" : "") << kind.prefix;
  }
  EXPECT_TRUE(ParseFamilyName(SeenFamilyName("video", "2026-11")).Is(kSeenTables));
  EXPECT_TRUE(ParseFamilyName(ImpressionsFamilyName("video")).Is(kImpressionsTables));
  EXPECT_TRUE(ParseFamilyName(HistoryFamilyName("video", "2026-11")).Is(kHistoryTables));
  EXPECT_TRUE(ParseFamilyName(TimelineFamilyName("video", "2026-11")).Is(kTimelineTables));
  EXPECT_TRUE(ParseFamilyName(kUsersFamilyName).Is(kUsersTable));
}

TEST(Kinds, OtherNamesAreUnknown) {
  for (const char* name : {"", "ring/", "ring/x", "ring/1x", "ring/-1", "ring/99999999999", "seen/",
                           "seen/video", "seen//2026-11", "impressions/", "impressions/a b",
                           "history/", "users/", "Default", "seenx/video/2026-11"}) {
    EXPECT_EQ(ParseFamilyName(name).kind, nullptr) << name;
  }
}

TEST(Kinds, EntriesAreSetAndAgree) {
  for (const Table& kind : Tables()) {
    SCOPED_TRACE(kind.prefix);
    EXPECT_NE(kind.tune, nullptr);
    EXPECT_NE(kind.key_text, nullptr);
    EXPECT_NE(kind.value_text, nullptr);
    EXPECT_NE(kind.check, nullptr);
    const bool of_collection =
        kind.scope == Table::Scope::kCollection || kind.scope == Table::Scope::kBucket;
    const bool of_bucket =
        kind.loss == Table::Loss::kUsersOfBucket || kind.loss == Table::Loss::kAllOfBucket;
    EXPECT_EQ(of_bucket, of_collection) << "its losses are noted by collection";
    const bool own = kind.prefix == kOwnTable;
    EXPECT_EQ(kind.may_be_missing, of_collection || own) << "a shard can't do without the others";
    EXPECT_TRUE(kind.lost_label.empty() || of_bucket || own);
    EXPECT_TRUE(kind.markers.empty() || kind.scope == Table::Scope::kBucket);
    EXPECT_TRUE(kind.newer_end.empty() || kind.newer_reason != nullptr);
    EXPECT_EQ(kind.take == Table::Take::kMerge, !OperatorOf(kind).empty());
    EXPECT_EQ(kind.clear != Table::Clear::kNone, of_collection) << "one of the clears takes it";
    EXPECT_EQ(kind.erase == Table::Erase::kDeleteUser, kind.clear == Table::Clear::kFilter || own);
    EXPECT_EQ(kind.erase == Table::Erase::kRows, kind.clear == Table::Clear::kHistory);
  }
}

// RocksDB puts its string-append operator where a family with merges has none of ours.
TEST(Kinds, EachHasItsOperator) {
  std::vector<std::string> operators;
  for (const Table& kind : Tables()) operators.push_back(OperatorOf(kind));
  EXPECT_EQ(operators, (std::vector<std::string>{"", kUsersOperatorName, kOwnOperatorName, "",
                                                 kSeenOperatorName, kImpressionsOperatorName,
                                                 kImpressionsOperatorName, kCountsOperatorName,
                                                 kHistoryOperatorName, ""}));
}

TEST(Kinds, OnlyFiltersExposuresCountsAndOwnSetsAreChangedByCompactions) {
  const TableRules rules = UnboundRules(std::make_shared<Counters>());
  for (const Table& kind : Tables()) {
    const auto options = FamilyOptions(kind, rules, nullptr);
    const bool changed = kind.prefix == kSeenTables || kind.prefix == kExposuresTables ||
                         kind.prefix == kCountsTables || kind.prefix == kOwnTable;
    EXPECT_EQ(options.compaction_filter_factory != nullptr, changed) << kind.prefix;
    EXPECT_EQ(options.disable_auto_compactions, !kind.compacted) << kind.prefix;
  }
}

TEST(Kinds, SoundRowsReadAsText) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    const Table& kind = KindOf(sample);
    EXPECT_EQ(kind.key_text(sample.key), sample.key_text);
    EXPECT_EQ(kind.value_text(sample.value), sample.value_text);
    EXPECT_EQ(kind.check(sample.key, sample.value).reason, "");
    if (kind.newer_reason != nullptr) {
      EXPECT_EQ(kind.newer_reason(sample.value), "");
    }
    const auto sequence_of = kind.sequence_of;
    EXPECT_EQ(sequence_of == nullptr ? 0 : sequence_of(sample.key, sample.value), sample.sequence);
  }
}

TEST(Kinds, DamagedRowsAreNamed) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    const Table& kind = KindOf(sample);
    const bool decoded = !Newer(sample.value).empty();
    for (const std::string& value : Damaged(sample.value)) {
      const Fault fault = kind.check(sample.key, value);
      EXPECT_NE(fault.reason, "") << value.size();
      EXPECT_FALSE(fault.newer) << value.size();
      if (decoded) {
        EXPECT_TRUE(kind.value_text(value).starts_with("damaged")) << value.size();
      }
      if (kind.sequence_of != nullptr && kind.prefix != kRingTables) {
        EXPECT_EQ(kind.sequence_of(sample.key, value), 0U) << value.size();
      }
    }
    if (sample.any_key) continue;
    const std::string cut = sample.key.substr(0, 1);
    EXPECT_NE(kind.check(cut, sample.value).reason, "");
    EXPECT_NE(kind.key_text(cut), "");
  }
}

TEST(Kinds, ValuesOfNewerVersionsAreNoDamage) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    const Table& kind = KindOf(sample);
    const std::string newer = Newer(sample.value);
    EXPECT_EQ(newer.empty(), kind.prefix == kMetaTable || kind.prefix == kTimelineTables);
    if (newer.empty()) continue;
    const Fault fault = kind.check(sample.key, newer);
    EXPECT_TRUE(fault.newer) << fault.reason;
    EXPECT_EQ(kind.value_text(newer), fault.reason);
    if (kind.newer_reason != nullptr) {
      EXPECT_EQ(kind.newer_reason(newer), fault.reason);
    }
  }
}

TEST(Kinds, DayKeysRefuseNoOpening) {
  const Table& users = *ParseFamilyName(kUsersFamilyName).kind;
  const std::string key = DayKey("u1", "video");
  EXPECT_GE(key, users.newer_end);
  EXPECT_LT(std::string("\xf4\x8f\xbf\xbf"), users.newer_end) << "the last character of a user";
  EXPECT_EQ(users.key_text(key), "\\xffu1 video");
  EXPECT_NE(users.check(key.substr(0, 2), Samples()[1].value).reason, "");
}

TEST(Kinds, SetsOfUsersAreRowsBesideTheirMarks) {
  const Table& own = *ParseFamilyName(kOwnTable).kind;
  const std::string key = OwnSetKey("u1", "session");
  StoredOwnSet set;
  set.said = true;
  set.said_ms = 1'773'144'000'000;
  set.lasts_ms = 600'000;
  set.items = {"a", "b"};
  std::string value;
  set.Encode(&value);
  EXPECT_EQ(own.key_text(key), "\\xffu1 session");
  EXPECT_EQ(own.value_text(value), "items=2 said=1773144000000 ends=1773144600000");
  EXPECT_EQ(own.check(key, value).reason, "");
  EXPECT_NE(own.check("u1", value).reason, "") << "a set in the place of marks";
  EXPECT_NE(own.check(key, Samples()[2].value).reason, "") << "marks in the place of a set";
  EXPECT_NE(own.check(key.substr(0, 4), value).reason, "");
  for (const std::string& damaged : Damaged(value)) {
    EXPECT_NE(own.check(key, damaged).reason, "") << damaged.size();
  }
  EXPECT_TRUE(own.check(key, Newer(value)).newer);
  EXPECT_EQ(own.said_after(value, 1'773'143'999'999), value);
  EXPECT_EQ(own.said_after(value, 1'773'144'000'000), "");
}

TEST(Kinds, AValueTellsWhatWasWrittenLater) {
  for (const Table& kind : Tables()) {
    const bool has_stamps = kind.prefix == kImpressionsTables || kind.prefix == kExposuresTables;
    EXPECT_EQ(kind.written_after != nullptr, has_stamps) << kind.prefix;
    const bool has_times = kind.prefix == kOwnTable || kind.prefix == kCountsTables;
    EXPECT_EQ(kind.said_after != nullptr, has_times) << kind.prefix;
  }
  const Sample sample = Samples()[5];
  const Table& kind = KindOf(sample);
  EXPECT_EQ(kind.written_after(sample.value, sample.sequence), "");
  EXPECT_EQ(kind.written_after(sample.value, sample.sequence - 1), sample.value);
  EXPECT_EQ(kind.written_after(sample.value + "x", 0), "");
  const Sample marks = Samples()[2];
  const Table& own = KindOf(marks);
  EXPECT_EQ(own.said_after(marks.value, 1773147600000), "");
  EXPECT_EQ(own.value_text(own.said_after(marks.value, 1773144000000)),
            "groups=1 deletions=1 channel:9=1773144000000@1773147600000");
  EXPECT_EQ(own.said_after(marks.value, 0), marks.value);
  EXPECT_EQ(own.said_after(marks.value + "x", 0), "");
  const Sample counts = Samples()[7];
  const Table& counted = KindOf(counts);
  EXPECT_EQ(counted.said_after(counts.value, 1773147600000), "");
  EXPECT_EQ(counted.value_text(counted.said_after(counts.value, 1773144000000)),
            "entries=1 author:3=1");
  EXPECT_EQ(counted.said_after(counts.value, 1773143999999), counts.value);
  EXPECT_EQ(counted.said_after(counts.value + "x", 0), "");
}

TEST(Kinds, LossesAndMarkersOfABucketAreItsOwn) {
  EXPECT_EQ(LossKeyOf(ParseFamilyName("seen/video/2026-11")), "lost/video/2026-11");
  EXPECT_EQ(LossKeyOf(ParseFamilyName("impressions/video")), "lost/video/impressions");
  EXPECT_EQ(LossKeyOf(ParseFamilyName("exposures/video")), "lost/video/exposures");
  EXPECT_EQ(LossKeyOf(ParseFamilyName("counts/video")), "lost/video/counts");
  EXPECT_EQ(LossKeyOf(ParseFamilyName("own")), "lost_own");
  EXPECT_EQ(LossKeyOf(ParseFamilyName("history/video/2026-11")), "lost/video/history/2026-11");
  EXPECT_EQ(LossKeyOf(ParseFamilyName("timeline/video/2026-11")), "lost/video/history/2026-11");
  EXPECT_EQ(MarkersOf(ParseFamilyName("seen/video/2026-11")),
            (std::vector<std::string>{"lost/video/2026-11", "sealed/video/2026-11",
                                      "late/video/2026-11"}));
  EXPECT_EQ(MarkersOf(ParseFamilyName("history/video/2026-11")),
            std::vector<std::string>{"lost/video/history/2026-11"});
}

TEST(Kinds, ReadingOptionsAreThoseOfTheKind) {
  for (const Sample& sample : Samples()) {
    const auto options = ReadingOptions(sample.name);
    const std::string name = options.merge_operator ? options.merge_operator->Name() : "";
    EXPECT_EQ(name, OperatorOf(KindOf(sample))) << sample.name;
  }
  EXPECT_EQ(ReadingOptions("unknown").merge_operator, nullptr);
}

TEST(MetaKeys, EachIsItsOwn) {
  for (const MetaKey& one : kMetaKeys) {
    for (const MetaKey& other : kMetaKeys) {
      if (&one != &other) {
        EXPECT_FALSE(other.key.starts_with(one.key)) << one.key;
      }
    }
    EXPECT_EQ(RebuildOf(one.key), one.rebuild) << one.key;
    if (one.lost_with_log) {
      EXPECT_EQ(one.rebuild, MetaRebuild::kDropped) << one.key;
    }
  }
  EXPECT_EQ(RebuildOf("of a later version"), MetaRebuild::kNewest);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
