// Every file of a small database, damaged in every way: an opening refuses and names a file, or
// what was recorded is answered seen, or the answer says degraded. Everything recorded was synced:
// nobody can tell damage behind the last sync from a torn tail.

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "store/files.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "support/seed.h"

namespace seendb {
namespace {

namespace fs = std::filesystem;

enum class Damage { kFlip, kFlipAgain, kZeroBlock, kHalf, kEmpty, kRemoved };

constexpr int kUsers = 8;
constexpr char kErased[] = "erased";

std::string UserName(int i) { return "user" + std::to_string(i); }

void Apply(const fs::path& path, Damage damage, std::mt19937_64* random) {
  const uint64_t size = fs::file_size(path);
  switch (damage) {
    case Damage::kFlip:
    case Damage::kFlipAgain: {
      const uint64_t at = (*random)() % size;
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ (1 << ((*random)() % 8))));
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

class RotTest : public EngineTest, public ::testing::WithParamInterface<std::tuple<Damage, bool>> {
 protected:
  using Recorded = std::map<std::string, std::map<std::string, Items>>;  // collection, user

  void Note(const std::string& collection, const std::string& user, const Items& items,
            int64_t at_ms) {
    ASSERT_EQ(Play(user, items, at_ms, collection), items.size());
    Items& all = recorded_[collection][user];
    all.insert(all.end(), items.begin(), items.end());
  }
  void NoteServed(const std::string& collection, const std::string& user, const Items& items) {
    ASSERT_EQ(Serve(user, items, kNowMs, collection), items.size());
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
  void FlushRaw(const std::string& family_prefix) {
    engine_.reset();
    for (uint32_t shard = 0; shard < 2; ++shard) {
      RawShard raw(Path(), shard);
      for (const std::string& family : raw.families()) {
        if (family.starts_with(family_prefix)) raw.Flush(family);
      }
    }
    Open();
  }

  // Buckets sealed and open, tables and logs, impressions, a journal in a table and one in the log.
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
    Drain();
    ASSERT_TRUE(engine_->SealClosed().ok());
    for (int i = 0; i < kUsers; ++i) NoteServed("default", UserName(i), {"served", "also"});
    PlayEverywhere("c", 30, kStartMs);
    Drain();
    ASSERT_TRUE(engine_->EraseUser(IdRef(kErased)).ok());
    ASSERT_TRUE(engine_->Compact().ok());
    PlayEverywhere("d", 10, kStartMs);
    FlushRaw("ring/");
    Drain();
    PlayEverywhere("e", 10, kStartMs);
    for (int i = 0; i < kUsers; ++i) NoteServed("feed", UserName(i), {"feed served"});
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
  void ExpectNamed(const Status& refused, const fs::path& damaged) {
    ++refused_;
    const std::set<StatusCode> codes{StatusCode::kCorruption, StatusCode::kIncompatible,
                                     StatusCode::kNotFound};
    EXPECT_TRUE(codes.contains(refused.code())) << refused.ToString();
    const std::string text(refused.message());
    EXPECT_TRUE(text.find(Path()) != text.npos) << text;
    if (damaged.extension() == ".sst") {
      EXPECT_TRUE(text.find(damaged.filename()) != text.npos) << text;
    }
    EXPECT_EQ(text.find("seendb repair"), text.npos) << text;
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
  void Check(const fs::path& file) {
    SCOPED_TRACE(file.string() + (families_.contains(file) ? " " + families_[file] : ""));
    Status refused;
    if (!TryOpen(&refused)) return ExpectNamed(refused, file);
    ++opened_;
    ExpectNothingHidden(file);
    Unseen(kErased, Numbered("gone", 30));
    if (!options_.open_damaged) {
      EXPECT_EQ(answer_.unseen.size(), 30u) << "the erasure is forgotten";
    }
    // It goes on: new plays are accepted and seen, a drain and a seal make nothing worse.
    if (engine_->RecordPlays({{{IdRef("new user"), IdRef("new item"), kNowMs}}}).ok()) {
      EXPECT_EQ(Unseen("new user", {"new item"}), Items{});
    }
    static_cast<void>(engine_->Drain());
    static_cast<void>(engine_->SealClosed());
    ExpectNothingHidden(file);
    static_cast<void>(engine_->Close());
    if (!TryOpen(&refused)) return ExpectNamed(refused, file);
    ExpectNothingHidden(file);
  }

  Recorded recorded_;
  std::map<fs::path, std::string> families_;  // of tables
  int refused_ = 0, opened_ = 0, degraded_ = 0;
  std::mt19937_64 random_{test::Seed(7)};
};

TEST_P(RotTest, IsRefusedOrSaid) {
  Make();
  const auto [damage, open_damaged] = GetParam();
  options_.open_damaged = open_damaged;
  std::set<std::string> kinds;
  for (const fs::path& file : Files()) {
    fs::copy(dir_ + "/sound", Path(), fs::copy_options::recursive);
    Apply(fs::path(Path()) / file, damage, &random_);
    Check(file);
    engine_.reset();
    fs::remove_all(Path());
    kinds.insert(file.extension().empty() ? file.filename().string().substr(0, 7)
                                          : file.extension().string());
  }
  for (const char* kind :
       {".sst", ".log", "MANIFES", "CURRENT", "OPTIONS", "IDENTIT", "SYNCED", "FILES", "SEENDB"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
  EXPECT_GT(refused_, 0);
  EXPECT_GT(opened_, 0);
  if (damage >= Damage::kHalf) {
    EXPECT_GT(degraded_, 0);
  }
  std::printf("refused %d, opened %d, degraded answers %d\n", refused_, opened_, degraded_);
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Damage, bool>>& one) {
  const auto [damage, open_damaged] = one.param;
  constexpr std::array<const char*, 6> kKinds{"Flip", "FlipAgain", "ZeroBlock",
                                              "Half", "Empty",     "Removed"};
  return std::string(kKinds[static_cast<size_t>(damage)]) +
         (open_damaged ? "OpenDamaged" : "Strict");
}

INSTANTIATE_TEST_SUITE_P(Every, RotTest,
                         ::testing::Combine(::testing::Values(Damage::kFlip, Damage::kFlipAgain,
                                                              Damage::kZeroBlock, Damage::kHalf,
                                                              Damage::kEmpty, Damage::kRemoved),
                                            ::testing::Bool()),
                         NameOf);

}  // namespace
}  // namespace seendb
