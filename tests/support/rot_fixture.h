// tests/support/rot_fixture.h: a small database with everything in it, and ways to damage its
// files.

#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "seendb/ingest.h"
#include "store/files.h"
#include "store/sources.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "support/sample.h"
#include "support/seed.h"

namespace seendb {

namespace fs = std::filesystem;

enum class Damage { kFlip, kFlipAgain, kZeroBlock, kHalf, kEmpty, kRemoved };
inline constexpr std::array<const char*, 6> kDamageNames{"Flip", "FlipAgain", "ZeroBlock",
                                                         "Half", "Empty",     "Removed"};

// Every kind, for parametrised suites, and what a case is called.
inline auto EveryDamage() {
  return ::testing::Values(Damage::kFlip, Damage::kFlipAgain, Damage::kZeroBlock, Damage::kHalf,
                           Damage::kEmpty, Damage::kRemoved);
}
inline std::string DamageName(const ::testing::TestParamInfo<Damage>& one) {
  return kDamageNames[static_cast<size_t>(one.param)];
}

inline constexpr int kUsers = 8;
inline constexpr char kErased[] = "erased";

inline std::string UserName(int i) { return "user" + std::to_string(i); }

inline void FlipBits(const fs::path& path, uint64_t at, int bits) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ bits));
}

inline void Apply(const fs::path& path, Damage damage, std::mt19937_64* random) {
  const uint64_t size = fs::file_size(path);
  switch (damage) {
    case Damage::kFlip:
    case Damage::kFlipAgain: {
      const uint64_t at = (*random)() % size;
      FlipBits(path, at, 1 << ((*random)() % 8));
      break;
    }
    case Damage::kZeroBlock: {
      const uint64_t at = (*random)() % ((size + 511) / 512) * 512;
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      const std::string zeros(std::min<uint64_t>(512, size - at), '\0');
      file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
      break;
    }
    case Damage::kHalf:
      fs::resize_file(path, size / 2);
      break;
    case Damage::kEmpty:
      fs::resize_file(path, 0);
      break;
    case Damage::kRemoved:
      fs::remove(path);
      break;
  }
}

// RocksDB's LOG: read by people only.
inline bool IsDiary(const fs::path& file) { return file.filename().string().starts_with("LOG"); }

// Whether anything misses the file: an opening writes COLLECTIONS of what the shards say.
inline bool IsMissed(const fs::path& file) { return file != "COLLECTIONS"; }

// Path -> size and time of the last change.
inline std::map<std::string, std::pair<uint64_t, fs::file_time_type>> Listing(
    const std::string& folder) {
  std::map<std::string, std::pair<uint64_t, fs::file_time_type>> files;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file() || IsDiary(file.path())) continue;
    files[file.path().string()] = {file.file_size(), file.last_write_time()};
  }
  return files;
}

/// See the head of this file. Make() leaves it in dir_ + "/sound".
class RotFixture : public EngineTest {
 protected:
  using Recorded = std::map<std::string, std::map<std::string, Items>>;  // collection, user

  void Note(const std::string& collection, const std::string& user, const Items& items,
            int64_t at_ms) {
    ASSERT_EQ(Play(user, items, at_ms, collection), items.size());
    Items& all = recorded_[collection][user];
    all.insert(all.end(), items.begin(), items.end());
  }
  void NoteServed(const std::string& collection, const std::string& user, const Items& items) {
    ASSERT_EQ(Serve(user, items, std::nullopt, collection), items.size());
    Items& all = recorded_[collection][user];
    all.insert(all.end(), items.begin(), items.end());
  }
  void PlayEverywhere(const std::string& prefix, int items, int64_t at_ms) {
    for (int i = 0; i < kUsers; ++i) {
      for (const std::string collection : {"default", "feed"}) {
        Note(collection, UserName(i), Numbered(prefix + UserName(i), items), at_ms);
      }
    }
  }
  void PlayEverywhereInDefault(int round) {
    for (int i = 0; i < kUsers; ++i) {
      Note("default", UserName(i), Numbered("r" + std::to_string(round) + "-", 20), kStartMs);
    }
  }
  // Plays of the users in "default" out of partition 0 of the topic, from offset `from` on.
  void Ingest(const std::string& topic, int64_t from, const Items& items, const Items& users) {
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    int64_t offset = from;
    for (const std::string& user : users) {
      for (const std::string& item : items) {
        plays.push_back({IdRef(user), IdRef(item)});
        origins.push_back({0, offset++});
      }
    }
    const SourceStep step{topic, 0, offset};
    IngestBatch batch;
    batch.sources = {&step, 1};
    batch.plays = plays;
    batch.origins = origins;
    const Result<IngestResult> done = engine_->Ingest(batch);
    ASSERT_TRUE(done.ok()) << done.status().ToString();
    ingested_now_ = *done;
  }
  // The next messages of "plays": events of every user.
  void IngestEverywhere(const std::string& prefix, int count) {
    Items users;
    for (int i = 0; i < kUsers; ++i) users.push_back(UserName(i));
    const Items items = Numbered(prefix, count);
    const auto from = static_cast<int64_t>(ingested_.size());
    ASSERT_NO_FATAL_FAILURE(Ingest("plays", from, items, users));
    for (const std::string& user : users) {
      Items& all = recorded_["default"][user];
      all.insert(all.end(), items.begin(), items.end());
      for (const std::string& item : items) ingested_.push_back({user, item});
    }
  }
  // The families whose names begin so, flushed while the engine is closed.
  void FlushRaw(std::initializer_list<const char*> prefixes) {
    engine_.reset();
    for (uint32_t shard = 0; shard < 2; ++shard) {
      RawShard raw(Path(), shard);
      for (const std::string& family : raw.families()) {
        for (const char* prefix : prefixes) {
          if (family.starts_with(prefix)) raw.Flush(family);
        }
      }
    }
    Open();
  }

  // Buckets sealed and open, tables and logs, impressions, a journal in a table and one in the log;
  // offsets of a log in tables and logs, and of a topic that is forgotten.
  void Make() {
    Open();
    PolicyPatch weekly;
    weekly.bucket = BucketSpec{BucketKind::kDays, 7};
    weekly.window = 20;
    weekly.retention = 22;
    Put("feed", weekly);
    PlayEverywhere("a", 40, kStartMs - 31 * kDayMs);
    PlayEverywhere("b", 20, kStartMs - 8 * kDayMs);
    Play(kErased, Numbered("gone", 30));
    IngestEverywhere("ia", 10);
    Drain();
    ASSERT_TRUE(engine_->SealClosed().ok());
    for (int i = 0; i < kUsers; ++i) NoteServed("default", UserName(i), {"served", "also"});
    PlayEverywhere("c", 30, kStartMs);
    Drain();
    ASSERT_TRUE(engine_->EraseUser(IdRef(kErased)).ok());
    ASSERT_TRUE(engine_->Compact().ok());
    PlayEverywhere("d", 10, kStartMs);
    IngestEverywhere("id", 10);
    Ingest("forgotten", 0, {"x"}, {"nobody"});
    FlushRaw({"ring/", "default"});
    ASSERT_TRUE(engine_->ForgetTopic("forgotten").ok());
    Drain();
    PlayEverywhere("e", 10, kStartMs);
    IngestEverywhere("ie", 5);
    for (int i = 0; i < kUsers; ++i) NoteServed("feed", UserName(i), {"feed served"});
    KeepSound();
  }
  // What is at Path() is the sound database, and which families its tables are of is known.
  void KeepSound() {
    ASSERT_TRUE(engine_->Sync().ok());
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    for (uint32_t shard = 0; shard < 2; ++shard) {
      const fs::path copy = dir_ + "/raw";
      fs::copy(Path(), copy, fs::copy_options::recursive);
      {
        RawShard raw(copy, shard);
        for (const std::string& family : raw.families()) {
          for (const std::string& file : raw.Files(family)) {
            families_[fs::path(ShardPath("", shard).substr(1)) / fs::path(file).filename()] =
                family;
          }
        }
      }
      fs::remove_all(copy);
    }
    fs::rename(Path(), dir_ + "/sound");
    options_.create_if_missing = false;
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(dir_ + "/sound")) {
      if (!entry.is_regular_file() || fs::file_size(entry) == 0) continue;
      files.push_back(fs::relative(entry.path(), dir_ + "/sound"));
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // Is this case of all files times all `ways` to be tried? A file is left out of some ways, no
  // file of all of them.
  bool Tried(size_t way) { return test::Sampled(files_begun_++ + way); }
  // Only then something of everything must have come about.
  static bool AllTried() { return test::SampleEvery() == 1; }

  // No recorded item unseen in an answer that doesn't say so, and nobody suffers for another.
  void ExpectNothingHidden(const fs::path& damaged) {
    const auto at = families_.find(damaged);
    const std::string family = at == families_.end() ? "" : at->second;
    for (const auto& [collection, users] : recorded_) {
      for (const auto& [user, items] : users) {
        const Items unseen = Unseen(user, items, collection);
        EXPECT_EQ(answer_.degraded, !answer_.missing.empty());
        if (!answer_.degraded) {
          EXPECT_TRUE(unseen.empty()) << collection << " " << user << ": " << unseen.size()
                                      << " seen items unseen, the first " << unseen[0];
        }
        const std::string shard = ShardPath("", engine_->ShardOf(IdRef(user))).substr(1);
        if (damaged.parent_path() != shard) {
          EXPECT_FALSE(answer_.degraded) << user << " is of another shard";
        } else if (!family.empty()) {  // a table concerns its own bucket alone
          for (const std::string& label : answer_.missing) {
            EXPECT_TRUE(family == "seen/" + collection + "/" + label ||
                        family == label + "/" + collection)
                << label << " is missing, damaged is " << family;
          }
        }
        if (answer_.degraded) ++degraded_;
      }
    }
  }
  // No shard has an offset above a play of its users that is gone, whatever its answers say: that
  // play would never be read again. Offsets of a forgotten topic are not back.
  void ExpectNoOffsetAboveLostPlays() {
    std::map<uint32_t, int64_t> next;
    const Status scanned = engine_->Scan("default", [&](const ScanRow& row) {
      EXPECT_FALSE(row.key.starts_with("source/forgotten/")) << row.shard << " " << row.value;
      if (row.key != "source/plays/0") return true;
      const std::optional<SourceRecord> record = SourceRecord::FromJson(row.value);
      EXPECT_TRUE(record) << row.value;
      if (record) next[row.shard] = record->next_offset;
      return true;
    });
    ASSERT_TRUE(scanned.ok()) << scanned.ToString();
    for (size_t offset = 0; offset < ingested_.size(); ++offset) {
      const auto& [user, item] = ingested_[offset];
      const uint32_t shard = engine_->ShardOf(IdRef(user));
      if (static_cast<int64_t>(offset) >= next[shard]) continue;
      EXPECT_EQ(Unseen(user, {item}), Items{})
          << "shard " << shard << " goes on at " << next[shard] << ", " << offset << " is gone";
    }
  }
  // Of such a shard a repair makes a new one.
  void HalveManifest(uint32_t shard = 0) {
    for (const auto& file : fs::directory_iterator(ShardPath(Path(), shard))) {
      if (!file.path().filename().string().starts_with("MANIFEST")) continue;
      fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
    }
  }
  // The sound database, copied to Path().
  void CopySound() {
    engine_.reset();
    fs::remove_all(Path());
    fs::copy(dir_ + "/sound", Path(), fs::copy_options::recursive);
  }
  bool TryOpen(Status* refused) {
    engine_.reset();
    Seams seams;
    seams.clock = &clock_;
    auto opened = Engine::Open(Path(), options_, seams);
    *refused = opened.status();
    if (opened.ok()) engine_ = std::move(opened).value();
    return opened.ok();
  }

  Recorded recorded_;
  std::vector<std::pair<std::string, std::string>> ingested_;  // of "plays", by offset: user, item
  IngestResult ingested_now_;                                  // by the last call
  std::map<fs::path, std::string> families_;                   // of tables
  int degraded_ = 0;                                           // answers
  size_t files_begun_ = 0;                                     // by Tried()
  std::mt19937_64 random_{test::Seed(7)};
};

}  // namespace seendb
