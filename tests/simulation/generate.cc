#include "simulation/generate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "seendb/events.h"
#include "simulation/calendar.h"
#include "simulation/dice.h"
#include "simulation/generate_clock.h"
#include "simulation/generate_counts.h"
#include "simulation/generate_days.h"
#include "simulation/generate_exposures.h"
#include "simulation/generate_heal.h"
#include "simulation/generate_history.h"
#include "simulation/generate_ingest.h"
#include "simulation/generate_marks.h"
#include "simulation/generate_verify.h"
#include "support/mem_disk.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kMonth = 30 * kDay;

// Where an operation may fail. Aimed at one kind of operation and file of one shard, so that what
// other threads do meanwhile changes nothing.
struct Aim {
  uint32_t kinds;
  const char* file;
  int64_t skip_max;
};
const std::vector<Aim> kAims = {
    {MemDisk::kAppend, ".log", 20},     {MemDisk::kSync, ".log", 6},
    {MemDisk::kCreate, ".log", 1},      {MemDisk::kAppend, ".sst", 6},
    {MemDisk::kSync, ".sst", 2},        {MemDisk::kCreate, ".sst", 2},
    {MemDisk::kAppend, "MANIFEST", 10}, {MemDisk::kSync, "MANIFEST", 10},
    {MemDisk::kCreate, "MANIFEST", 0},  {MemDisk::kRename, "CURRENT", 0},
    {MemDisk::kCreate, "SYNCED", 4},    {MemDisk::kAppend, "SYNCED", 4},
    {MemDisk::kRename, "SYNCED", 4},    {MemDisk::kCreate, "OPTIONS", 4},
    {MemDisk::kRename, "OPTIONS", 4},   {MemDisk::kSyncFolder, "", 6},
    {MemDisk::kDelete, ".log", 1},      {MemDisk::kDelete, ".sst", 1},
};
// In a checkpoint being made.
const std::vector<Aim> kCopyAims = {
    {MemDisk::kMakeFolder, "", 1}, {MemDisk::kLink, ".sst", 4},   {MemDisk::kLink, ".log", 1},
    {MemDisk::kCreate, "", 8},     {MemDisk::kAppend, ".log", 4}, {MemDisk::kAppend, "MANIFEST", 1},
    {MemDisk::kSync, "", 6},       {MemDisk::kSyncFolder, "", 4}, {MemDisk::kRename, "", 3},
    {MemDisk::kRead, "", 4},
};
const std::vector<Aim> kReadAims = {{MemDisk::kRead, ".sst", 4}, {MemDisk::kOpen, ".sst", 1}};

class Generator {
 public:
  Generator(uint64_t seed, const Scale& scale) : dice_(seed), scale_(scale) {}

  Script Run() {
    ChooseOptions();
    now_ms_ = 1'577'836'800'000 + dice_.Between(0, 6 * 365 * kDay);  // from 2020 on
    end_ms_ = now_ms_ + scale_.months * kMonth;
    policies_["default"] = Policy{};
    made_.insert("default");
    Clock();
    const int64_t collections = dice_.Between(0, 2);
    for (int64_t i = 0; i < collections; ++i) Create(kNames_[static_cast<size_t>(i)]);
    if (dice_.Chance(50)) Change("default");
    while (now_ms_ < end_ms_) Round();
    return std::move(script_);
  }

 private:
  void ChooseOptions() {
    Options& options = script_.options;
    options.background = false;
    options.shards = static_cast<uint32_t>(dice_.Between(1, 3));
    options.ring_slots = static_cast<uint32_t>(dice_.Between(2, 4));
    options.slot_ms = dice_.Of({6 * kHour, 24 * kHour, 24 * kHour, 96 * kHour});
    options.slot_bytes_max = dice_.Of<uint64_t>({16 << 10, 1 << 20, 256 << 20});
    options.short_term_bytes = dice_.Of<uint64_t>({0, 16 << 10, 64 << 20});
    options.block_cache_bytes = 4 << 20;
    // In most scripts a few records. No throw of the dice: seeds keep their scripts.
    if (options.short_term_bytes != 0) options.user_cache_bytes = 1'500;
    options.write_buffer_bytes = dice_.Of<uint64_t>({1 << 20, 4 << 20, 64 << 20});
    options.list_limit = dice_.Of<uint32_t>({16, 16, 64, 4096});
    if (dice_.Chance(50)) options.maintenance_end_minute = 0;  // the whole day
    script_.options_files = dice_.Chance(10);
  }

  Operation& Add(Verb verb) {
    script_.operations.emplace_back();
    script_.operations.back().verb = verb;
    return script_.operations.back();
  }
  void Clock() { Add(Verb::kClock).number = now_ms_; }

  // Changes that may be made at any time.
  PolicyPatch Loose() {
    PolicyPatch patch;
    if (dice_.Chance(40)) patch.impressions = dice_.Of<uint32_t>({0, 3, 10, 30});
    if (dice_.Chance(30)) patch.served_is_seen = dice_.Chance(50);
    if (dice_.Chance(30)) patch.max_filter_bytes = dice_.Of<uint64_t>({0, 512, 1024, 4096});
    if (dice_.Chance(40)) patch.durability = static_cast<Durability>(dice_.Below(3));
    if (dice_.Chance(20)) patch.max_future_ms = dice_.Of({int64_t{0}, kHour, kDay, 10 * kDay});
    if (dice_.Chance(30)) patch.impression_ids = dice_.Chance(70);
    return patch;
  }

  void Put(const std::string& name, const PolicyPatch& patch) {
    Operation& operation = Add(Verb::kPut);
    operation.collection = name;
    operation.patch = patch;
    if (CheckFixedFields(policies_[name], patch).ok() || !made_.contains(name)) {
      policies_[name] = ApplyPatch(policies_[name], patch);
    }
    made_.insert(name);
  }

  void Create(const std::string& name) {
    PolicyPatch patch = Loose();
    const bool months = dice_.Chance(40);
    patch.bucket =
        months ? BucketSpec{}
               : BucketSpec{BucketKind::kDays, static_cast<uint16_t>(dice_.Of({1, 3, 7, 10, 30}))};
    patch.window = static_cast<uint32_t>(dice_.Between(1, 4));
    patch.retention = *patch.window + static_cast<uint32_t>(dice_.Between(0, 2));
    patch.fpr = dice_.Of({0.001, 0.01, 0.05, 0.2});
    if (dice_.Chance(20)) patch.representation = Representation::kExact;
    patch.utc_offset_minutes = dice_.Of({0, 0, 480, -330});
    Put(name, patch);
  }

  void Change(const std::string& name) {
    PolicyPatch patch = Loose();
    const Policy& policy = policies_[name];
    if (dice_.Chance(30)) {
      patch.retention = policy.window + static_cast<uint32_t>(dice_.Between(0, 3));
    }
    if (dice_.Chance(3)) patch.window = policy.window + 1;  // fixed: refused
    if (dice_.Chance(2)) patch.fpr = policy.fpr / 2;
    Put(name, patch);
  }

  std::string Collection() {
    auto at = policies_.begin();
    std::advance(at, static_cast<int64_t>(dice_.Below(policies_.size())));
    return at->first;
  }
  std::string User() {
    const uint64_t number = dice_.Skewed(static_cast<uint64_t>(scale_.users));
    return number % 5 == 4 ? std::to_string(number) : "u" + std::to_string(number);
  }
  std::string Item() {
    const uint64_t number = dice_.Chance(20) ? dice_.Skewed(3000) : dice_.Below(3000);
    if (number % 7 == 6) return std::to_string(number);
    if (number % 97 == 5) return std::string(200, 'x') + std::to_string(number);
    return "v" + std::to_string(number);
  }

  // Mostly now or a little ago; sometimes a moment beside a bucket's edge, late, early, refused.
  std::optional<int64_t> Time(const Policy& policy) {
    if (dice_.Chance(40)) return std::nullopt;
    if (dice_.Chance(60)) return now_ms_ - dice_.Between(0, kDay);
    const int64_t current = BucketAt(policy, now_ms_);
    const int64_t bucket = current - dice_.Between(-1, policy.retention + 1);
    if (dice_.Chance(50)) return FirstMsOf(policy, bucket) + dice_.Between(-1, 1);
    if (dice_.Chance(50)) return now_ms_ + policy.max_future_ms + dice_.Between(-kHour, kHour);
    const int64_t begin = FirstMsOf(policy, bucket);
    return dice_.Between(begin, FirstMsOf(policy, bucket + 1) - 1);
  }

  void Events(Verb verb) {
    const std::string collection = Collection();
    const Policy& policy = policies_[collection];
    Operation& operation = Add(verb);
    operation.collection = collection;
    const std::string whale = "u" + std::to_string(dice_.Below(3));
    const bool is_whale = verb == Verb::kPlay && dice_.Chance(25);
    const int64_t count = is_whale ? dice_.Between(20, 90) : dice_.Between(1, 12);
    const std::string one = User();
    const bool one_time = dice_.Chance(50);
    const std::optional<int64_t> time = Time(policy);
    for (int64_t i = 0; i < count; ++i) {
      ScriptEvent event;
      event.user = is_whale ? whale : dice_.Chance(50) ? one : User();
      std::vector<std::string>& known = known_[event.user];
      event.item = !known.empty() && dice_.Chance(15) ? dice_.Of(known) : Item();
      event.at_ms = one_time ? time : Time(policy);
      known.push_back(event.item);
      operation.events.push_back(std::move(event));
    }
  }

  void Filter() { Filter(dice_.Chance(30) ? "u" + std::to_string(dice_.Below(3)) : User()); }
  void Filter(const std::string& user) {
    Operation& operation = Add(Verb::kFilter);
    operation.collection = Collection();
    operation.user = user;
    ScriptFilter& filter = operation.filter;
    const std::vector<std::string>& known = known_[operation.user];
    const int64_t count = dice_.Between(1, 60);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t kind = dice_.Between(0, 9);
      if (kind < 5 && !known.empty()) {
        // The latest most often.
        filter.items.push_back(known[known.size() - 1 - dice_.Skewed(known.size())]);
      } else if (kind < 7) {
        filter.items.push_back(Item());
      } else {
        filter.items.push_back("f" + std::to_string(fresh_++));
      }
    }
    filter.facts = dice_.Of<uint32_t>({3, 3, 1, 2});
    filter.limit = dice_.Chance(25) ? static_cast<uint32_t>(dice_.Between(1, 20)) : 0;
    filter.explain = dice_.Chance(70);
    filter.record = dice_.Chance(10);
    filter.strict = dice_.Chance(10);
    filter.late = dice_.Chance(2);
    while (dice_.Chance(30)) filter.exclude.push_back(dice_.Of(filter.items));
  }

  void AimAt(Verb verb, const Aim& aim, const char* error) {
    AimAt(verb, aim, error, "shard-000" + std::to_string(dice_.Below(script_.options.shards)));
  }
  void AimAt(Verb verb, const Aim& aim, const char* error, const std::string& folder) {
    Operation& operation = Add(verb);
    operation.kinds = aim.kinds;
    operation.part = folder + (*aim.file == '\0' ? "" : std::string("*") + aim.file);
    operation.number = dice_.Between(0, aim.skip_max);
    operation.error = error;
    operation.seed = dice_.Below(1ULL << 32);
  }

  void Trouble() {
    const int64_t kind = dice_.Between(0, 9);
    if (kind < 3) AimAt(Verb::kCrash, dice_.Of(kAims), "eio");
    if (kind >= 3 && kind < 5) AimAt(Verb::kCut, dice_.Of(kAims), "eio");
    if (kind == 5) AimAt(Verb::kFail, dice_.Of(kAims), dice_.Of({"eio", "full", "short"}));
    if (kind == 6) AimAt(Verb::kFail, dice_.Of(kReadAims), "eio");
    if (kind == 7 && dice_.Chance(50)) return TroubleWithCopy();
    if (kind == 7) Add(Verb::kKill);
    if (kind == 8) Add(Verb::kPowerCut).number = dice_.Between(0, 1 << 30);
    if (kind == 9) {
      Add(Verb::kReopen).number = dice_.Chance(50) ? 0 : dice_.Between(2, 5);
    }
  }

  void TroubleWithCopy() {
    const Verb verb = dice_.Of({Verb::kCrash, Verb::kCut, Verb::kFail});
    AimAt(verb, dice_.Of(kCopyAims), dice_.Of({"eio", "full", "short"}), "/copy-");
    Add(Verb::kCheckpoint);
  }

  // Something is done to a user, or a policy changed, in the middle of something else.
  void Middle() {
    Add(Verb::kMiddle).number = static_cast<int64_t>(dice_.Skewed(24));
    const Verb verb =
        dice_.Of({Verb::kDrain, Verb::kDrain, Verb::kDue, Verb::kDue, Verb::kSeal,
                  Verb::kSealClosed, Verb::kDrop, Verb::kCompact, Verb::kSync, Verb::kCheckpoint});
    Operation& around = Add(verb);
    if (verb == Verb::kSeal) {
      around.collection = Collection();
      around.number = dice_.Between(0, 2);
    }
    const int64_t kind = dice_.Between(0, 9);
    if (kind < 4) {
      const std::string user = User();
      Add(Verb::kErase).user = user;
      Filter(user);
    } else if (kind < 7) {
      Events(Verb::kPlay);
    } else if (kind < 9 || verb == Verb::kCheckpoint) {
      Filter(User());
      script_.operations.back().filter.record = false;
    } else {
      Change(Collection());
    }
  }

  void Upkeep() {
    if (dice_.Chance(8)) Middle();
    if (dice_.Chance(60)) Add(Verb::kDue);
    if (dice_.Chance(10)) Add(Verb::kDrain);
    if (dice_.Chance(8)) Add(Verb::kSync);
    if (dice_.Chance(4)) {
      const std::string collection = Collection();
      Operation& operation = Add(Verb::kSeal);
      operation.collection = collection;
      operation.number = dice_.Between(0, 2);
    }
    if (dice_.Chance(4)) Add(Verb::kSealClosed);
    if (dice_.Chance(3)) Add(Verb::kDrop);
    if (dice_.Chance(2)) Add(Verb::kCompact);
    if (dice_.Chance(3)) Add(Verb::kVerify);
    if (dice_.Chance(6)) Add(Verb::kStats);
    if (dice_.Chance(3)) Add(Verb::kReadOnly);
    if (dice_.Chance(2)) Add(Verb::kCheckpoint);
    if (dice_.Chance(10)) Add(Verb::kInspect).user = User();
    if (dice_.Chance(4)) {
      const std::string user = User();
      Add(Verb::kErase).user = user;
    }
    if (dice_.Chance(4)) Change(Collection());
  }

  void Step() {
    const int64_t mean = kMonth / scale_.rounds;
    int64_t step = dice_.Between(0, 2 * mean);
    if (dice_.Chance(20)) step = dice_.Of({int64_t{0}, int64_t{1}, kMinute, kHour});
    if (dice_.Chance(1)) step = dice_.Between(kMonth, 4 * kMonth);
    now_ms_ += step;
    if (dice_.Chance(10)) {  // to a bucket's edge
      const Policy& policy = policies_[Collection()];
      const int64_t edge = FirstMsOf(policy, BucketAt(policy, now_ms_) + 1);
      if (edge - now_ms_ < 5 * kDay) now_ms_ = edge + dice_.Between(-1, 1);
    }
    Clock();
  }

  void Round() {
    Step();
    for (int64_t i = dice_.Between(1, 3); i > 0; --i) Events(Verb::kPlay);
    if (dice_.Chance(10)) {  // the same in another collection
      Operation again = script_.operations.back();
      again.collection = Collection();
      script_.operations.push_back(std::move(again));
    }
    if (dice_.Chance(40)) Events(Verb::kServe);
    if (dice_.Chance(6)) Trouble();
    Upkeep();
    if (dice_.Chance(30)) Events(Verb::kPlay);
    for (int64_t i = dice_.Between(1, 3); i > 0; --i) Filter();
  }

  const std::vector<std::string> kNames_ = {"article", "video-2"};
  Dice dice_;
  const Scale scale_;
  Script script_;
  int64_t now_ms_ = 0, end_ms_ = 0;
  uint64_t fresh_ = 0;
  std::map<std::string, Policy> policies_;
  std::set<std::string> made_;                             // collections that exist
  std::map<std::string, std::vector<std::string>> known_;  // of a user: everything sent
};

}  // namespace

Script Generate(uint64_t seed, const Scale& scale) {
  Script script = Generator(seed, scale).Run();
  AddVerify(seed, &script);
  AddHistory(seed, &script);
  AddDays(seed, &script);
  AddIngest(seed, &script);
  AddClock(seed, &script);
  AddHeal(seed, &script);
  AddExposures(seed, &script);
  AddMarks(seed, &script);
  AddCounts(seed, &script);
  return script;
}

}  // namespace seendb::simulation
