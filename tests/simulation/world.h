// tests/simulation/world.h: the engine under simulation, its disk, its clock, and the model beside
// it; how it dies and comes back, and what is found out then.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "seams.h"
#include "seendb/engine.h"
#include "simulation/checks.h"
#include "simulation/checks_history.h"
#include "simulation/quick_env.h"
#include "support/mem_disk.h"

namespace seendb::simulation {

/// Opens the engine to be simulated; a test may put something wrong in between.
using Opener = std::function<Result<std::unique_ptr<Engine>>(const std::string&, const Options&,
                                                             const Seams&)>;

/// Time stands still until it is moved.
class SimulatedClock final : public Clock {
 public:
  int64_t NowMs() const override { return now_ms; }
  int64_t now_ms = 0;
};

/// See the head of this file.
class World {
 public:
  World(const Script& script, Opener opener, Tally* tally);
  ~World();

  Engine& engine() { return *engine_; }
  Model& model() { return model_; }
  MemDisk& disk() { return disk_; }
  DiskPoints& points() { return points_; }
  Tally& tally() { return *tally_; }
  uint64_t digest() const { return digest_; }
  const Options& options() const { return options_; }

  void SetTime(int64_t now_ms);
  /// Something failed since the opening: later errors may come of it.
  bool Excused() const {
    return disk_.failures() > failures_at_open_ || disk_.crashed() || (stopped_ && about_stopped_);
  }
  /// Something is armed, and did not happen yet.
  bool Armed() const { return armed_; }
  /// A read may fail now.
  bool ReadsFail() const { return reads_fail_ || Excused(); }

  /// Opens and compares everything with the model. Throws a Violation where it can't be opened.
  void Open();
  /// Closes and opens again, with so many ring slots if not 0; what is armed stays armed.
  void Reopen(uint32_t ring_slots);
  /// Dies and is started again; the power goes too if there is a seed.
  void Die(std::optional<uint64_t> power_seed);
  /// Arms a failure or a death.
  void Arm(const Operation& operation);
  /// Nothing is armed any more.
  void Disarm();
  /// After each operation: dies, or is closed and opened, where the disk or `status` ask for it.
  void Recover(const Status& status);

  // ---- A shard that stopped, while the others go on ----

  /// The next failure that stops a shard is healed in place.
  void HealNext(const Operation& operation) { heal_ = operation; }
  /// Before each operation. While a shard is stopped only an operation about its users, or about
  /// all shards, may fail; the shard is healed first where it has been stopped for long enough or
  /// the operation needs all shards.
  void Begin(const Operation& operation);
  bool Stopped() const { return stopped_.has_value(); }
  /// Precondition: Stopped(). Throws a Violation where it is not healed, or lost anything.
  void Heal();
  /// Whether the statistics must be `expected`: after a failure that was healed in place nobody
  /// knows what was counted of the call that met it.
  bool counts_known() const { return counts_known_; }

  /// Asks the engine.
  Status Answer(const Question& question, FilterResponse* answer) {
    return Answer(engine_.get(), question, answer);
  }
  /// Takes an answer to the model; `note`: it is part of the digest.
  void Examine(const Question& question, const Status& status, const FilterResponse& answer,
               bool note);
  /// Asks one engine for everything the model knows; not about the users of `but`.
  void Sweep(Engine* engine, bool excused, const Operation* but = nullptr);
  /// The outcome of an erasure or of a policy is open until the next opening.
  void Doubt(const std::string& user, int64_t at_ms);
  void Doubt(const std::string& collection, const Policy& policy);
  void DoubtForgotten(const std::string& collection, const std::string& user, int64_t at_ms) {
    doubted_forgotten_[{user, collection}] = at_ms;
  }
  /// The outcome of a ForgetTopic is open likewise.
  void DoubtTopic(const std::string& topic) { doubted_topics_.insert(topic); }
  void DoubtPause(const std::string& user, bool paused) { doubted_pauses_[user] = paused; }
  /// Notes something of the answers, for the digest.
  void Note(uint64_t value);
  void Note(const Status& status) { Note(static_cast<uint64_t>(status.code())); }
  /// Throws a Violation unless an error of that operation is excused.
  void CheckExcused(const char* what, const Status& status) const;

  /// Plays were accepted: what the statistics must say of their history.
  void CountVerdicts(const std::string& collection, const std::vector<Sent>& sent);
  /// kBusy must have its cause: a shard without a current slot. Throws a Violation where it has
  /// not.
  void CheckFull() const;

  /// Lists being read, by user.
  std::map<std::string, Reading> readings;
  /// What the statistics must say, since the opening.
  EngineStats expected;
  rocksdb::Env* env() { return env_.get(); }
  Seams seams() { return {&clock_, env_.get()}; }

 private:
  enum class Observed { kPresent, kAbsent, kUnknown };
  Status Answer(Engine* engine, const Question& question, FilterResponse* answer);
  static seendb::Question AskedOf(const ScriptFilter& filter, std::vector<NotEntry>* no);
  void TryOpen();
  void Settle();
  bool StopsOne();
  bool GoesOn(const Operation& operation) const;
  bool IsAboutStopped(const Operation& operation) const;
  void SettlePolicies();
  void SettleErasures();
  void ForgetAgain(const std::string& collection, const std::string& user);
  void SettlePauses();
  void SettleHistory(uint32_t shard, uint64_t kept);
  void SweepHistory(Engine* engine, bool excused, const Operation* but);
  void SweepDays(Engine* engine, const Operation* but);
  bool Doubts(const std::string& user) const;
  bool Skips(const Operation* but, const std::string& user) const;
  void CheckRecording(Engine* engine, const std::string& user);
  void SettleSources();
  Observed ObserveSteps(uint32_t shard, const OpenCall& call,
                        const std::vector<OpenCall>& calls) const;
  void SweepSources(Engine* engine);
  void SettleCalls(uint32_t shard);
  Observed Observe(const OpenPlay& play, uint64_t call, const std::vector<OpenCall>& calls);

  Options options_;
  const Opener opener_;
  Tally* const tally_;
  MemDisk disk_;
  DiskPoints points_;
  const std::unique_ptr<rocksdb::Env> env_;  // of disk_
  SimulatedClock clock_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  uint64_t failures_at_open_ = 0;
  bool reads_fail_ = false;
  std::optional<Operation> heal_;    // armed
  std::optional<uint32_t> stopped_;  // the shard
  Operation healing_;                // of that shard; its number: operations that are left
  bool about_stopped_ = false;       // the operation that goes on
  bool in_place_ = false;            // Settle is not of an opening
  bool counts_known_ = true;
  bool armed_ = false;
  bool power_was_cut_ = false;
  std::optional<uint64_t> armed_cut_;  // the next death takes the power with it
  std::map<std::string, int64_t> doubted_erasures_;
  std::map<std::pair<std::string, std::string>, int64_t> doubted_forgotten_;  // user, collection
  std::map<std::string, Policy> doubted_policies_;
  std::map<std::string, bool> doubted_pauses_;
  std::set<std::string> doubted_topics_;
  std::vector<StoredOffsets> stored_;  // by shard, at the opening
  uint64_t digest_ = 14'695'981'039'346'656'037ULL;
};

}  // namespace seendb::simulation
