// Replicas that apply the same log, each with failures of its own: processes that die between two
// records or in the middle of one, power cuts, batches that are read again, cluster records that
// are read late. Logs and the cluster's records are written while replicas read them. Whatever
// happened, a replica answers as the model of the records that it has applied, and so all replicas
// answer alike; and none asks for the cluster's records again for what lay in the log when they
// were read. Deterministic by the seed, but for RocksDB's threads.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replica/applier.h"
#include "replica/policies.h"
#include "replica/property/log_script.h"
#include "replica/replicas.h"
#include "seams.h"
#include "simulation/checks.h"
#include "simulation/checks_history.h"
#include "simulation/quick_env.h"
#include "simulation/world.h"
#include "support/mem_disk.h"
#include "support/seed.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using simulation::Dice;
using simulation::LogModel;

/// 2026-03-10 12:00 UTC.
constexpr int64_t kBeginMs = 1'773'144'000'000;
constexpr int64_t kLateFromMs = kBeginMs + 30'000;
constexpr char kTopic[] = "feed.log";
constexpr size_t kRecords = 240;

/// What the cluster's topic says.
std::vector<std::string> MetaRecords() {
  return {
      R"({"v":1,"kind":"init","uuid":"2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f","partitions":3,)"
      R"("replicas":3,"hash":2,"key":"000102030405060708090a0b0c0d0e0f","at_ms":1,)"
      R"("default_policy":{"representation":"exact","max_future":"1m","impressions":20,)"
      R"("history":{"enabled":true}}})",
      R"({"v":1,"kind":"collection","name":"late","patch":{"representation":"exact","max_future":"1m"},"at_ms":)" +
          std::to_string(kLateFromMs) + "}"};
}

std::shared_ptr<const cluster::Meta> MetaOf(size_t records) {
  auto meta = std::make_shared<cluster::Meta>();
  const std::vector<std::string> all = MetaRecords();
  for (size_t i = 0; i < records; ++i) {
    const Status taken = meta->Apply(static_cast<int64_t>(i), all[i]);
    EXPECT_TRUE(taken.ok()) << taken.ToString();
  }
  return meta;
}

/// What a record came to where it was applied for the first time.
using Verdicts = std::map<std::pair<uint32_t, int64_t>, std::string>;

/// One node's disk, process and clock.
class Replica {
 public:
  Replica(uint64_t seed, Verdicts* verdicts) : dice_(seed), verdicts_(*verdicts) {
    clock_.now_ms = kBeginMs + dice_.Between(600'000, 7'200'000);
    env_ = simulation::NewQuickEnv(disk_.env(), false, &points_);
    Open();
  }
  ~Replica() { Close(); }

  /// Does one thing or another; what is applied then is compared with the model.
  void Step(const LogScript& script) {
    clock_.now_ms += dice_.Between(1, 400);
    script_ = &script;
    if (dice_.Chance(50)) written_ms_ += dice_.Between(0, 2'000);
    const auto partition = static_cast<uint32_t>(dice_.Below(LogScript::kPartitions));
    const uint64_t throw_of = dice_.Below(100);
    if (throw_of < 8) return Die(script, false);
    if (throw_of < 16) return Die(script, true);
    if (throw_of < 20) return Drain(script);
    if (throw_of < 26) return ReadAgain(script, partition);
    if (throw_of < 40) {
      disk_.CrashAt(MemDisk::kWriting, "", static_cast<int>(dice_.Below(12)));
    }
    for (uint64_t i = 0, count = 1 + dice_.Below(12); i < count; ++i) {
      if (!ApplyNext(script, partition)) break;
    }
    if (disk_.crashed()) return Recover(script, dice_.Chance(50));
    disk_.Clear();
  }
  bool AtEnd(const LogScript& script) const {
    for (uint32_t p = 0; p < LogScript::kPartitions; ++p) {
      if (!stopped_.contains(p) && next_.at(p) < static_cast<int64_t>(script.of(p).size())) {
        return false;
      }
    }
    return true;
  }
  /// Compares everything with the model.
  void Check(const LogScript& script) {
    for (uint32_t p = 0; p < LogScript::kPartitions; ++p) CheckPartition(script, p);
  }
  const std::set<uint32_t>& stopped() const { return stopped_; }
  int64_t next(uint32_t partition) const { return next_.at(partition); }
  size_t deaths() const { return deaths_; }
  Engine& engine() { return *engine_; }

 private:
  void Open() {
    const auto options = Replicas::EngineOptions(*MetaOf(1)->init(), {.background = false});
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    auto opened = Engine::Open("/db", *options, Seams{.clock = &clock_, .env = env_.get()});
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    engine_ = std::move(opened).value();
    const std::vector<uint32_t> attached = engine_->AttachedShards();
    for (uint32_t p = 0; p < LogScript::kPartitions; ++p) {
      if (std::count(attached.begin(), attached.end(), p) > 0) continue;
      const Status made = engine_->AttachShard(p, "");
      ASSERT_TRUE(made.ok()) << made.ToString();
    }
    policies_ = std::make_unique<Policies>(
        engine_.get(), [] {}, nullptr);
    applier_ = std::make_unique<Applier>(
        Applier::Context{engine_.get(), kTopic, [this] { return MetaOf(meta_read_); },
                         [this](auto) { return ReadMeta(); }, nullptr, [this] { return Ends(); }});
    asked_for_.clear();
    stopped_.clear();
    for (uint32_t p = 0; p < LogScript::kPartitions; ++p) next_[p] = 0;
    for (const SourceInfo& source : engine_->Sources()) {
      next_[source.partition] = source.next_of_shard.value_or(0);
    }
  }
  /// What has been written by now.
  std::map<uint32_t, int64_t> Ends() const {
    std::map<uint32_t, int64_t> ends;
    for (uint32_t p = 0; p < LogScript::kPartitions; ++p) {
      ends[p] = std::ranges::count_if(
          script_->of(p), [&](const ScriptedRecord& one) { return one.written_ms <= written_ms_; });
    }
    return ends;
  }
  bool ReadMeta() {
    const bool told =
        script_->of(applying_.first)[static_cast<size_t>(applying_.second)].meta_offset >
        static_cast<int64_t>(meta_read_);
    EXPECT_TRUE(told || applying_.second >= asked_for_[applying_.first])
        << "asked once more than needed";
    if (dice_.Chance(30)) return false;
    asked_for_ = Ends();
    if (written_ms_ >= kLateFromMs) meta_read_ = MetaRecords().size();
    return true;
  }
  void Close() {
    applier_.reset();
    policies_.reset();
    engine_.reset();
  }
  void Die(const LogScript& script, bool power) {
    disk_.Crash();
    Recover(script, power);
  }
  void Recover(const LogScript& script, bool power) {
    Close();
    if (power) disk_.PowerCut(dice_.Next());
    disk_.Clear();
    disk_.Revive();
    Open();
    ++deaths_;
    if (!::testing::Test::HasFatalFailure() && dice_.Chance(25)) Check(script);
  }
  void Drain(const LogScript& script) {
    const Status drained = engine_->Drain();
    ASSERT_TRUE(drained.ok()) << drained.ToString();
    Check(script);
  }
  /// A session begins anew at an offset that was stored before: events that were applied are left
  /// out.
  void ReadAgain(const LogScript& script, uint32_t partition) {
    const int64_t next = next_[partition];
    const int64_t from = next - static_cast<int64_t>(dice_.Below(6));
    for (int64_t offset = std::max<int64_t>(from, 0); offset < next; ++offset) {
      const ScriptedRecord& record = script.of(partition)[static_cast<size_t>(offset)];
      if (record.entry.events.empty()) continue;  // a reader passes commands over
      Applied applied;
      applying_ = {partition, offset};
      const Status done = applier_->Apply(record.At(partition, offset), offset, &applied);
      if (done.code() == StatusCode::kUnavailable) return;
      ASSERT_TRUE(done.ok()) << done.ToString();
      ASSERT_EQ(applied.recorded.accepted, 0U) << "applied twice: " << partition << ":" << offset;
    }
    CheckPartition(script, partition);
  }
  /// False: no further.
  bool ApplyNext(const LogScript& script, uint32_t partition) {
    const int64_t offset = next_[partition];
    const auto& log = script.of(partition);
    if (stopped_.contains(partition) || offset >= static_cast<int64_t>(log.size())) return false;
    const ScriptedRecord& record = log[static_cast<size_t>(offset)];
    if (record.written_ms > written_ms_) return false;
    applying_ = {partition, offset};
    policies_->Follow(MetaOf(meta_read_), 0);
    Applied applied;
    const Status done = applier_->Apply(record.At(partition, offset), offset, &applied);
    if (record.stops) {
      EXPECT_EQ(done.code(), StatusCode::kIncompatible) << partition << ":" << offset;
      stopped_.insert(partition);
      return false;
    }
    if (!done.ok()) {
      EXPECT_EQ(done.code(), StatusCode::kUnavailable) << done.ToString();
      return false;
    }
    ++next_[partition];
    if (!record.entry.events.empty()) Compare(partition, offset, applied);
    return true;
  }
  /// Every replica tells the same of a record, whenever it applies it.
  void Compare(uint32_t partition, int64_t offset, const Applied& applied) {
    const std::string told = std::string(StatusCodeName(applied.verdict.code())) + " " +
                             std::to_string(applied.recorded.accepted) + "/" +
                             std::to_string(applied.recorded.refused);
    const auto [at, first] = verdicts_.try_emplace({partition, offset}, told);
    EXPECT_EQ(at->second, told) << partition << ":" << offset;
  }
  void CheckPartition(const LogScript& script, uint32_t partition) {
    LogModel model([this](const std::string& user) { return engine_->ShardOf(IdRef(user)); },
                   LogScript::kPartitions);
    const auto meta = MetaOf(MetaRecords().size());
    for (const auto& [name, collection] : meta->collections()) {
      model.Make(name, collection.policy, collection.made_at_ms);
    }
    const auto& log = script.of(partition);
    const auto next = static_cast<size_t>(next_.at(partition));
    for (size_t i = 0; i < next; ++i) model.Take(log[i].entry);
    model.model().SetTime(clock_.now_ms);
    // The next command may have been applied without its offset.
    const std::string open =
        next < log.size() && log[next].entry.events.empty() ? log[next].entry.user : "";
    const std::string where = std::to_string(partition) + ":" + std::to_string(next);
    for (const std::string& user : script.users(partition)) {
      if (user == open) continue;
      try {
        CheckUser(&model, user);
      } catch (const simulation::Violation& violation) {
        FAIL() << violation.what() << ", applied to " << where << Told(log, next, user);
      }
    }
  }
  /// The records that are about the user.
  static std::string Told(const std::vector<ScriptedRecord>& log, size_t next,
                          const std::string& user) {
    std::string text;
    for (size_t i = 0; i < next; ++i) {
      const bool about =
          log[i].key == user || log[i].value.find('"' + user + '"') != std::string::npos;
      if (!about) continue;
      const auto header = cluster::DecodeLogHeader(log[i].header);
      text += "\n  " + std::to_string(i) + " " + std::string(cluster::LogKindName(header->kind)) +
              " at " + std::to_string(header->arrival_ms - kBeginMs) + " " + log[i].key + " " +
              log[i].value;
    }
    return text;
  }
  void CheckUser(LogModel* model, const std::string& user) {
    for (const CollectionInfo& collection : engine_->Collections()) {
      simulation::Question question{.collection = collection.name, .user = user, .filter = {}};
      question.filter.items = LogScript::Items();
      const std::vector<IdRef> items(question.filter.items.begin(), question.filter.items.end());
      FilterResponse answer;
      const Status asked = engine_->Filter(
          {.collection = collection.name, .user = IdRef(user), .items = items}, &answer);
      if (!asked.ok()) throw simulation::Violation(asked.ToString());
      simulation::CheckAnswer(model->model(), question, answer, engine_.get(), false, &tally_);
      CheckExact(model->model(), question, answer);
      if (!collection.policy.history.enabled) continue;
      HistoryLookup found;
      const Status looked = engine_->LookupHistory(IdRef(user), collection.name, items, &found);
      if (!looked.ok()) throw simulation::Violation(looked.ToString());
      simulation::CheckLookup(&model->model(), collection.name, user, question.filter.items, found,
                              false, false);
    }
    const Result<Recording> recording = engine_->GetRecording(IdRef(user));
    const bool paused = model->model().history().RecordingOf(user).paused;
    if (!recording.ok() || recording->paused != paused) {
      throw simulation::Violation("recording of " + user + ": not as the log says");
    }
  }
  /// The collections are exact: what is called seen was played or served.
  static void CheckExact(const simulation::Model& model, const simulation::Question& question,
                         const FilterResponse& answer) {
    const simulation::Expected expected = model.Expect(question.collection, question.user);
    size_t seen = 0;
    for (const std::string& item : question.filter.items) {
      seen += expected.played_maybe.contains(item) || expected.served_maybe.contains(item) ? 1 : 0;
    }
    if (answer.seen > seen) throw simulation::Violation(question.user + ": more seen than played");
  }

  Dice dice_;
  Verdicts& verdicts_;
  MemDisk disk_;
  simulation::DiskPoints points_;
  std::unique_ptr<rocksdb::Env> env_;
  simulation::SimulatedClock clock_;
  simulation::Tally tally_;
  size_t meta_read_ = 1, deaths_ = 0;
  const LogScript* script_ = nullptr;
  int64_t written_ms_ = kBeginMs;          // what was written later is not there yet
  std::map<uint32_t, int64_t> asked_for_;  // the ends when X.meta was read last
  std::pair<uint32_t, int64_t> applying_{0, 0};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Policies> policies_;
  std::unique_ptr<Applier> applier_;
  std::map<uint32_t, int64_t> next_;
  std::set<uint32_t> stopped_;
};

void Simulate(uint64_t seed) {
  const auto options = Replicas::EngineOptions(*MetaOf(1)->init(), {});
  ASSERT_TRUE(options.ok());
  Verdicts verdicts;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (uint64_t i = 0; i < 3; ++i) {
    replicas.push_back(std::make_unique<Replica>(seed * 3 + i, &verdicts));
  }
  const auto partition_of = [&](const std::string& user) {
    return replicas.front()->engine().ShardOf(IdRef(user));
  };
  LogScript script(seed, partition_of, kBeginMs, kLateFromMs);
  Dice dice(seed + 1);
  for (size_t i = 0; i < kRecords; ++i) {
    script.Append();
    if (i == kRecords / 2) script.AppendStop(2);
    if (dice.Chance(50)) dice.Of(replicas)->Step(script);
    if (::testing::Test::HasFailure()) return;
  }
  size_t deaths = 0;
  for (const auto& replica : replicas) {
    for (int steps = 0; !replica->AtEnd(script); ++steps) {
      ASSERT_LT(steps, 20'000) << "it does not end";
      replica->Step(script);
      if (::testing::Test::HasFailure()) return;
    }
    replica->Check(script);
    EXPECT_EQ(replica->stopped(), std::set<uint32_t>{2});
    EXPECT_EQ(replica->next(2), static_cast<int64_t>(script.of(2).size()) - 2);
    deaths += replica->deaths();
  }
  EXPECT_GT(deaths, 3U);
}

TEST(ApplierSimulation, EveryReplicaIsWhatTheLogSays) {
  const uint64_t seed = test::Seed();
  for (uint64_t run = 0; run < 4 && !HasFailure(); ++run) {
    SCOPED_TRACE("SEENDB_SEED=" + std::to_string(seed + run));
    Simulate(seed + run);
  }
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
