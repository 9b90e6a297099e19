// The bytes of format version 1, kept in tests/golden/v1: what this code writes is still exactly
// that, and what it reads there is what was meant. A golden file is never edited: a layout that
// changes gets a new tag or name and new files. `SEENDB_WRITE_GOLDEN=1 unit_format` adds files
// that are missing, and touches no other.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include <rocksdb/env.h>

#include "filter/block_bloom.h"
#include "format/day_key.h"
#include "format/filter_codec.h"
#include "format/history_journal.h"
#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/unit/format_testing.h"
#include "format/user_codec.h"
#include "seendb/policy.h"
#include "store/files.h"
#include "support/poison.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using test::Fp;

const std::string kFolder = "tests/golden/v1/";
constexpr int64_t kNoonMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC
constexpr int64_t kOneMs = 1'773'147'600'000;   // 13:00
constexpr int64_t kMarch2026 = 2026 * 12 + 2;
constexpr uint64_t kEpoch = uint64_t{1} << 40;

/// Fingerprints of v<first> .. v<last>, ascending.
std::vector<Fingerprint> Items(int first, int last) {
  std::vector<Fingerprint> items;
  for (int i = first; i <= last; ++i) items.push_back(Fp("v" + std::to_string(i)));
  std::sort(items.begin(), items.end());
  return items;
}

Layer BloomLayer(uint32_t blocks, uint32_t capacity, const std::vector<Fingerprint>& items) {
  Layer layer;
  layer.blocks = blocks;
  layer.capacity = capacity;
  layer.items = static_cast<uint32_t>(items.size());
  layer.bits.assign(blocks * kBlockBytes, '\0');
  InsertMany(reinterpret_cast<uint8_t*>(layer.bits.data()), blocks, items.data(), items.size());
  return layer;
}

Layer FrozenLayer(const std::vector<Fingerprint>& items) {
  Layer layer;
  layer.items = layer.capacity = static_cast<uint32_t>(items.size());
  for (const Fingerprint fp : items) PutFingerprint(&layer.bits, fp);
  return layer;
}

/// A seen filter with its damage, for one golden file.
struct FilterCase {
  std::string name, about;
  SeenFilter filter;
  DamageSet damage;
};

std::vector<FilterCase> FilterCases() {
  std::vector<FilterCase> cases;
  cases.reserve(32);  // `add` gives references
  const auto add = [&](const std::string& name, const std::string& about) -> FilterCase& {
    return cases.emplace_back(FilterCase{name, about, {}, {}});
  };
  FilterCase& delta = add("delta", "a drain's operand: v1, the slot closed at 13:00");
  delta.filter.as_of_ms = kOneMs;
  delta.filter.list = Items(1, 1);
  FilterCase& list = add("filter_list", "an open list: v1 and v2, as of 13:00");
  list.filter.as_of_ms = kOneMs;
  list.filter.list = Items(1, 2);
  FilterCase& sealed_list = add("filter_sealed_list", "a sealed list: v1");
  sealed_list.filter.sealed = true;
  sealed_list.filter.list = Items(1, 1);
  FilterCase& sealed = add("filter_sealed", "one block for v1 .. v20, sealed");
  sealed.filter.sealed = true;
  sealed.filter.layers = {BloomLayer(1, 20, Items(1, 20))};
  FilterCase& tail = add("filter_sealed_tail", "the same with an exact tail: v21 and v22");
  tail.filter = sealed.filter;
  tail.filter.list = Items(21, 22);
  FilterCase& layers = add("filter_layers", "two layers of an open bucket: v1 .. v40, v41 .. v90");
  layers.filter.as_of_ms = kOneMs;
  layers.filter.layers = {BloomLayer(3, 40, Items(1, 40)), BloomLayer(6, 80, Items(41, 90))};
  FilterCase& ceiling = add("filter_ceiling", "the same after its oldest layer went");
  ceiling.filter = layers.filter;
  ceiling.filter.layers.erase(ceiling.filter.layers.begin());
  ceiling.filter.dropped_layers = 1;
  FilterCase& exact = add("filter_exact", "exact at its ceiling: frozen v1 .. v4 and v5, v6");
  exact.filter.as_of_ms = kOneMs;
  exact.filter.layers = {FrozenLayer(Items(1, 4))};
  exact.filter.list = Items(5, 6);
  FilterCase& damaged = add("filter_damaged", "a list beside one damaged operand");
  damaged.filter = list.filter;
  damaged.damage.Add("not a filter");
  FilterCase& newer = add("filter_newer", "a list beside the same delta of version 2, kept whole");
  newer.filter = list.filter;
  std::string delta_bytes;
  EncodeDelta(kOneMs, Items(1, 1), &delta_bytes);
  newer.damage.Add(Newer(delta_bytes));
  FilterCase& overflow = add("filter_damage_overflow", "nine damaged operands, eight kept");
  for (int i = 0; i < 9; ++i) overflow.damage.Add("damage " + std::to_string(i));
  return cases;
}

/// One play of a journal record.
struct JournalRow {
  std::string user;
  int64_t bucket = 0;
  Fingerprint item = 0;
  friend bool operator==(const JournalRow&, const JournalRow&) = default;
};
struct JournalCase {
  std::string name, about, collection;
  std::vector<JournalRow> rows;
};

std::vector<JournalCase> JournalCases() {
  return {
      {"journal_one_play", "u1 played v1 in March 2026", "default", {{"u1", kMarch2026, Fp("v1")}}},
      {"journal_many_plays",
       "two users, three months, an integer item, a user of two UTF-8 bytes",
       "video",
       {{"u1", kMarch2026, Fp("v1")},
        {"u1", kMarch2026 - 1, Fp("123")},
        {"u2", kMarch2026 + 1, Fp("v2")},
        {"u1", kMarch2026, Fp("v3")},
        {"\xC3\xA9", kMarch2026, Fp("v1")}}}};
}

struct ImpressionsCase {
  std::string name, about;
  ImpressionList list;
};

std::vector<ImpressionsCase> ImpressionsCases() {
  const ImpressionEntry v1{kNoonMs, kEpoch + 2, 0, Fp("v1")};
  const ImpressionEntry v2{kNoonMs, kEpoch + 2, 1, Fp("v2")};
  const ImpressionEntry v3{kOneMs, kEpoch + 3, 0, Fp("v3")};
  std::vector<ImpressionsCase> cases = {
      {"impressions_one_call", "v1 and v2 served at 12:00", {{v2, v1}, {}}},
      {"impressions_two_calls", "v3 served at 13:00 on top", {{v3, v2, v1}, {}}},
      {"impressions_damaged", "v3 beside one damaged operand", {{v3}, {}}}};
  cases.back().list.damage.Add("not impressions");
  ImpressionEntry v2_with_id = v2;
  v2_with_id.id = "v2";
  cases.push_back({"impressions_ids", "v2, kept with its id, and v1", {{v2_with_id, v1}, {}}});
  return cases;
}

struct UserCase {
  std::string name, about;
  UserRecord record;
};

UserRecord WithSettings() {
  UserRecord record;
  record.marks["video"].cleared_at_ms = kNoonMs;
  record.marks["video"].overrides[Fp("v1")] = {kNoonMs, kEpoch + 5, false};
  record.toggles = {{kNoonMs, kEpoch + 6, true}, {kOneMs, kEpoch + 7, false}};
  record.forget_before_ms = kNoonMs - 86'400'000;
  return record;
}

std::vector<UserCase> UserCases() {
  std::string newer;
  UserRecord{kEpoch + 3, kNoonMs, false}.Encode(&newer);
  newer = Newer(newer);
  UserRecord day;
  day.last_day = 20'522;
  UserRecord forgotten;
  forgotten.marks["video"] = {kOneMs, kNeverMs, {kEpoch + 8, kOneMs}, {}};
  return {
      {"user_erased", "erased at 13:00, by the shard's sequence 1:4", {kEpoch + 4, kOneMs, false}},
      {"user_damaged", "the same after a damaged operand", {kEpoch + 4, kOneMs, true}},
      {"user_newer", "the same beside a record of version 2", {kEpoch + 4, kOneMs, false, {newer}}},
      {"user_history", "video cleared at 12:00, history paused at 12:00 and resumed at 13:00",
       WithSettings()},
      {"user_forgotten", "video cleared at 13:00, with its filter, by the shard's sequence 1:8",
       forgotten},
      {"user_day", "last active on 2026-03-10", day}};
}

/// The bytes of a golden file, made first where it is missing and SEENDB_WRITE_GOLDEN is set.
std::string Golden(const std::string& name, const std::string& about, const std::string& made) {
  const std::string path = kFolder + name + ".hex";
  if (std::getenv("SEENDB_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path) << "# " << about << "\n" << test::ToHex(made) << "\n";
  }
  return test::FromHex(test::ReadProjectFile(path));
}

TEST(Golden, SeenFilters) {
  for (const FilterCase& one : FilterCases()) {
    SCOPED_TRACE(one.name);
    std::string made;
    EncodeFilter(one.filter, one.damage, &made);
    const std::string golden = Golden(one.name, one.about, made);
    EXPECT_EQ(test::ToHex(made), test::ToHex(golden));

    FilterView view;
    ASSERT_TRUE(view.Parse(golden));
    EXPECT_TRUE(view.ListIsSorted());
    DamageSet damage;
    EXPECT_EQ(view.damage.empty(), one.damage.empty());
    if (!view.damage.empty()) {
      ASSERT_TRUE(DamageSet::Read(view.damage, &damage));
    }
    const SeenFilter read = view.ToFilter();
    EXPECT_EQ(read.sealed, one.filter.sealed);
    EXPECT_EQ(read.as_of_ms, one.filter.as_of_ms);
    EXPECT_EQ(read.dropped_layers, one.filter.dropped_layers);
    EXPECT_EQ(read.list, one.filter.list);
    EXPECT_EQ(read.Items(), one.filter.Items());
    ASSERT_EQ(read.layers.size(), one.filter.layers.size());
    std::string again;
    EncodeFilter(read, damage, &again);
    EXPECT_EQ(test::ToHex(again), test::ToHex(golden));
  }
}

TEST(Golden, SeenFiltersContainTheirItems) {
  const auto read = [](const std::string& name) {
    const std::string bytes = test::FromHex(test::ReadProjectFile(kFolder + name + ".hex"));
    FilterView view;
    EXPECT_TRUE(view.Parse(bytes)) << name;
    return view.ToFilter();
  };
  const auto expect_items = [&](const std::string& name, int first, int last) {
    const SeenFilter filter = read(name);
    for (const Fingerprint fp : Items(first, last)) EXPECT_TRUE(filter.Contains(fp)) << name;
    EXPECT_FALSE(filter.Contains(Fp("never"))) << name;
  };
  expect_items("delta", 1, 1);
  expect_items("filter_list", 1, 2);
  expect_items("filter_sealed_list", 1, 1);
  expect_items("filter_sealed", 1, 20);
  expect_items("filter_sealed_tail", 1, 22);
  expect_items("filter_layers", 1, 90);
  expect_items("filter_ceiling", 41, 90);
  expect_items("filter_exact", 1, 6);
  expect_items("filter_damaged", 1, 2);
}

TEST(Golden, JournalRecords) {
  for (const JournalCase& one : JournalCases()) {
    SCOPED_TRACE(one.name);
    const auto write = [](const std::string& collection, const std::vector<JournalRow>& rows) {
      JournalEncoder encoder;
      encoder.Begin(collection, rows.front().bucket);
      for (const JournalRow& row : rows) encoder.Add(row.user, row.bucket, row.item);
      return std::string(encoder.Finish());
    };
    const std::string made = write(one.collection, one.rows);
    const std::string golden = Golden(one.name, one.about, made);
    EXPECT_EQ(test::ToHex(made), test::ToHex(golden));

    JournalDecoder decoder;
    ASSERT_TRUE(decoder.Begin(golden));
    EXPECT_EQ(decoder.collection(), one.collection);
    std::vector<JournalRow> rows;
    std::string_view user;
    JournalRow row;
    while (decoder.Next(&user, &row.bucket, &row.item)) {
      row.user = user;
      rows.push_back(row);
    }
    EXPECT_TRUE(decoder.ok());
    EXPECT_EQ(rows, one.rows);
  }
  const std::string key = Golden("journal_key", "the key of sequence 1:1", SequenceKey(kEpoch + 1));
  uint64_t sequence = 0;
  ASSERT_TRUE(ParseSequenceKey(key, &sequence));
  EXPECT_EQ(sequence, kEpoch + 1);
}

TEST(Golden, Impressions) {
  for (const ImpressionsCase& one : ImpressionsCases()) {
    SCOPED_TRACE(one.name);
    std::string made;
    one.list.Encode(&made);
    const std::string golden = Golden(one.name, one.about, made);
    EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
    ImpressionList read;
    ASSERT_TRUE(read.Parse(golden));
    EXPECT_EQ(read.entries, one.list.entries);
    EXPECT_EQ(read.damage.entries.size(), one.list.damage.entries.size());
    std::string again;
    read.Encode(&again);
    EXPECT_EQ(test::ToHex(again), test::ToHex(golden));
  }
}

TEST(Golden, UserRecords) {
  for (const UserCase& one : UserCases()) {
    SCOPED_TRACE(one.name);
    std::string made;
    one.record.Encode(&made);
    const std::string golden = Golden(one.name, one.about, made);
    EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
    UserRecord read;
    ASSERT_TRUE(read.Parse(golden));
    EXPECT_EQ(read.erased_seq, one.record.erased_seq);
    EXPECT_EQ(read.erased_at_ms, one.record.erased_at_ms);
    EXPECT_EQ(read.damaged, one.record.damaged);
    EXPECT_EQ(read.newer, one.record.newer);
    EXPECT_EQ(read, one.record);
    std::string again;
    read.Encode(&again);
    EXPECT_EQ(test::ToHex(again), test::ToHex(golden));
  }
}

std::string OfHistory(const char* name) {
  return test::FromHex(test::ReadProjectFile(kFolder + name + ".hex"));
}

// Written by no software any more; golden_words_test.cc has the bytes of today.
TEST(Golden, HistoryEntriesOfVersion1AreRead) {
  HistoryState on_a_tv;
  on_a_tv.at_ms = kNoonMs;
  on_a_tv.progress_s = {kNoonMs, 95};
  on_a_tv.duration_s = {kNoonMs, 240};
  on_a_tv.device = {kNoonMs, "tv"};
  on_a_tv.fields = {kNoonMs, R"({"ep":3})"};
  for (const char* name : {"history_entry", "history_damaged", "history_newer"}) {
    SCOPED_TRACE(name);
    const std::string golden = OfHistory(name);
    HistoryValue read;
    ASSERT_TRUE(read.Parse(golden));
    EXPECT_EQ(read.state, on_a_tv);
    EXPECT_EQ(read.damaged, name != std::string_view("history_entry"));
    EXPECT_TRUE(read.newer.empty());
  }
  HistoryValue deleted;
  ASSERT_TRUE(deleted.Parse(OfHistory("history_deleted")));
  EXPECT_EQ(deleted.state, DeletionAt(kOneMs));
}

TEST(Golden, KeysOfHistory) {
  const std::string key = HistoryKey("u1", "v1"), row = TimelineKey("u1", kNoonMs, "v1");
  EXPECT_EQ(key, Golden("history_key", "u1 and v1", key));
  EXPECT_EQ(DayKey("u1", "video"), Golden("day_key", "u1 in video", DayKey("u1", "video")));
  EXPECT_EQ(row, Golden("timeline_key", "u1 at 12:00, v1", row));
}

TEST(Golden, HistoryJournalRecordsOfVersion1AreRead) {
  const std::string golden = OfHistory("history_journal");
  HistoryJournalDecoder decoder;
  ASSERT_TRUE(decoder.Begin(golden));
  EXPECT_EQ(decoder.collection(), "video");
  WatchedPlay play;
  ASSERT_TRUE(decoder.Next(&play));
  EXPECT_EQ(play.item, "v1");
  ASSERT_TRUE(decoder.Next(&play));
  EXPECT_EQ(play.user, "u1");
  EXPECT_EQ(play.item, "42");
  EXPECT_EQ(play.at_ms, kNoonMs - 1000);
  const HistoryState report = StateOf(play.at_ms, play.words);
  EXPECT_TRUE(report.SaysAllAfter(play.at_ms - 1));
  EXPECT_EQ(report.progress_s.value, 95);
  EXPECT_EQ(report.fields.value, R"({"ep":3})");
  EXPECT_FALSE(decoder.Next(&play));
  EXPECT_TRUE(decoder.ok());
}

TEST(Golden, SmallFiles) {
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  ASSERT_TRUE(env->CreateDirIfMissing("/db").ok());
  ASSERT_TRUE(WriteSyncedSequence(env.get(), "/db", 123'456'789).ok());
  std::string made;
  ASSERT_TRUE(rocksdb::ReadFileToString(env.get(), "/db/SYNCED", &made).ok());
  const std::string golden =
      Golden("synced", "the log is synced up to RocksDB's sequence 123,456,789", made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  ASSERT_TRUE(rocksdb::WriteStringToFile(env.get(), golden, "/db/SYNCED").ok());
  EXPECT_EQ(ReadSyncedSequence(env.get(), "/db"), 123'456'789u);
  for (size_t bit = 0; bit < golden.size() * 8; ++bit) {
    std::string flipped = golden;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(rocksdb::WriteStringToFile(env.get(), flipped, "/db/SYNCED").ok());
    EXPECT_EQ(ReadSyncedSequence(env.get(), "/db"), std::nullopt) << "bit " << bit;
  }
}

TEST(Golden, Identity) {
  const std::string golden = test::ReadProjectFile(kFolder + "SEENDB.json");
  const Result<Identity> read = Identity::FromJson(golden);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->format, 1);
  EXPECT_EQ(read->id, "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f");
  EXPECT_EQ(read->shards, 4u);
  EXPECT_EQ(read->hash.version, 1u);
  EXPECT_TRUE(read->ready);
  EXPECT_EQ(read->ToJson(), golden);
  EXPECT_FALSE(read->history) << "made before there was history";
  const std::string later = test::ReadProjectFile(kFolder + "SEENDB_history.json");
  const Result<Identity> read_later = Identity::FromJson(later);
  ASSERT_TRUE(read_later.ok()) << read_later.status().ToString();
  EXPECT_TRUE(read_later->history);
  EXPECT_EQ(read_later->ToJson(), later);
}

TEST(Golden, PolicyOfTheDefaultCollection) {
  std::string golden = test::ReadProjectFile(kFolder + "policy.json");
  ASSERT_EQ(golden.back(), '\n');
  golden.pop_back();
  const Result<PolicyPatch> patch = PolicyPatchFromJson(golden);
  ASSERT_TRUE(patch.ok()) << patch.status().ToString();
  EXPECT_EQ(ApplyPatch({}, *patch), Policy{});
  EXPECT_EQ(PolicyToJson(Policy{}), golden);
}

// kind, id, fingerprint, Kafka's murmur2, shard of 4: one id a line.
TEST(Golden, FingerprintsAndShards) {
  std::istringstream lines(test::ReadProjectFile(kFolder + "fingerprints.tsv"));
  std::string line;
  int read = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string kind, id, fingerprint;
    int32_t murmur2 = 0;
    uint32_t shard = 0;
    fields >> kind >> id >> fingerprint >> murmur2 >> shard;
    ASSERT_TRUE(fields) << line;
    const IdRef text(id);
    EXPECT_EQ(text.is_number(), kind == "number") << line;
    char made[24];
    std::snprintf(made, sizeof(made), "%012llx",
                  static_cast<unsigned long long>(FingerprintOf(text)));
    EXPECT_EQ(made, fingerprint) << line;
    EXPECT_EQ(KafkaMurmur2(id), murmur2) << line;
    EXPECT_EQ(ShardOf(text, 4), shard) << line;
    ++read;
  }
  EXPECT_GE(read, 12);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
