#include "simulation/simulator.h"

#include <algorithm>

#include "simulation/calendar.h"

namespace seendb::simulation {
namespace {

// One run.
class Simulator {
 public:
  Simulator(const Script& script, const Opener& opener, Tally* tally)
      : script_(script), world_(script.options, opener, tally) {}

  void Run(size_t* operation) {
    if (!script_.operations.empty() && script_.operations[0].verb == Verb::kClock) {
      world_.SetTime(script_.operations[0].number);
    }
    world_.Open();
    for (*operation = 0; *operation < script_.operations.size(); ++*operation) {
      Do(script_.operations[*operation]);
    }
    Finish();
  }
  uint64_t digest() const { return world_.digest(); }

 private:
  Engine& engine() { return world_.engine(); }
  Model& model() { return world_.model(); }
  bool Knows(const std::string& collection) { return model().policies().contains(collection); }

  void Do(const Operation& operation) {
    ++world_.tally().done[static_cast<size_t>(operation.verb)];
    switch (operation.verb) {
      case Verb::kClock:
        Clock(operation.number);
        return;
      case Verb::kPut:
        return Put(operation);
      case Verb::kPlay:
      case Verb::kServe:
        return Record(operation);
      case Verb::kFilter:
        if (!Knows(operation.collection)) return;
        world_.Ask({operation.collection, operation.user, operation.filter});
        return;
      case Verb::kInspect:
        return Inspect(operation.user);
      case Verb::kErase:
        return Erase(operation.user);
      case Verb::kReopen:
        return world_.Reopen(static_cast<uint32_t>(operation.number));
      case Verb::kKill:
        return world_.Die(std::nullopt);
      case Verb::kPowerCut:
        return world_.Die(static_cast<uint64_t>(operation.number));
      case Verb::kFail:
      case Verb::kCrash:
      case Verb::kCut:
        return world_.Arm(operation);
      default:
        return Maintain(operation);
    }
  }

  void Clock(int64_t now_ms) {
    if (now_ms < model().now_ms) return;
    world_.tally().months += static_cast<double>(now_ms - model().now_ms) / (30.4 * 86'400'000);
    world_.SetTime(now_ms);
  }

  void Put(const Operation& operation) {
    Policy policy = Knows(operation.collection) ? model().PolicyOf(operation.collection) : Policy{};
    policy = ApplyPatch(policy, operation.patch);
    const Status status = engine().PutCollection(operation.collection, operation.patch);
    world_.Note(status);
    if (!ValidatePolicy(policy).ok()) {
      if (status.ok()) throw Violation("a policy out of range was taken");
    } else if (status.ok()) {
      model().SetPolicy(operation.collection, policy);
      model().AllSynced();
    } else {
      world_.CheckExcused("put", status);
      world_.Doubt(operation.collection, policy);
    }
    world_.Recover(status);
  }

  void Record(const Operation& operation) {
    if (!Knows(operation.collection)) return;
    std::vector<Sent> sent;
    std::vector<uint32_t> refused;
    for (const ScriptEvent& event : operation.events) {
      sent.push_back(
          {event.user, event.item, event.at_ms == kNowMs ? model().now_ms : event.at_ms});
      if (!model().Takes(operation.collection, sent.back())) {
        refused.push_back(static_cast<uint32_t>(sent.size() - 1));
      }
    }
    const bool plays = operation.verb == Verb::kPlay;
    const Result<RecordResult> result =
        plays ? RecordAs<Play>(operation) : RecordAs<Impression>(operation);
    const Status status = result.status();
    world_.Note(status);
    if (result.ok()) CheckRefusals(*result, sent.size(), refused);
    if (status.code() == StatusCode::kBusy) {
      ++world_.expected.busy;
      CheckFull();
    } else {
      if (!status.ok()) world_.CheckExcused("record", status);
      plays ? model().Play(operation.collection, sent, status.ok())
            : model().Serve(operation.collection, sent, status.ok());
      if (status.ok()) {
        (plays ? world_.tally().plays : world_.tally().impressions) += result->accepted;
        if (plays || model().KeepsServed(operation.collection)) {
          NoteSynced(operation.collection, sent);
        }
      }
    }
    world_.Recover(status);
  }

  template <typename Given>
  Result<RecordResult> RecordAs(const Operation& operation) {
    std::vector<Given> given;
    for (const ScriptEvent& event : operation.events) {
      given.push_back({IdRef(event.user), IdRef(event.item), event.at_ms});
    }
    if constexpr (std::is_same_v<Given, Play>) {
      Result<RecordResult> result = engine().RecordPlays(given, {operation.collection});
      if (result.ok()) world_.expected.plays_accepted += result->accepted;
      if (result.ok()) world_.expected.plays_refused += result->refused;
      return result;
    } else {
      Result<RecordResult> result = engine().RecordImpressions(given, {operation.collection});
      if (result.ok()) world_.expected.impressions_accepted += result->accepted;
      if (result.ok()) world_.expected.impressions_refused += result->refused;
      return result;
    }
  }

  void CheckRefusals(const RecordResult& result, size_t sent,
                     const std::vector<uint32_t>& refused) {
    std::vector<uint32_t> indexes;
    for (const Refusal& refusal : result.refusals) indexes.push_back(refusal.index);
    if (result.accepted + result.refused != sent || indexes != refused) {
      throw Violation("refused " + std::to_string(result.refused) + " of " + std::to_string(sent) +
                      ", expected " + std::to_string(refused.size()));
    }
  }

  // kBusy must have its cause: a shard without a current slot.
  void CheckFull() {
    std::vector<bool> has_current(model().shards(), false);
    for (const SlotInfo& slot : engine().Ring()) {
      if (slot.state == "current") has_current[slot.shard] = true;
    }
    if (std::find(has_current.begin(), has_current.end(), false) == has_current.end()) {
      throw Violation("busy, though every shard has a current slot");
    }
  }

  void NoteSynced(const std::string& collection, const std::vector<Sent>& sent) {
    if (model().PolicyOf(collection).durability != Durability::kSync) return;
    std::set<uint32_t> shards;
    for (const Sent& one : sent) {
      if (model().Takes(collection, one)) shards.insert(model().ShardOf(one.user));
    }
    for (const uint32_t shard : shards) model().Synced(shard);
  }

  void Erase(const std::string& user) {
    const int64_t at_ms = model().now_ms;
    const Status status = engine().EraseUser(IdRef(user));
    world_.Note(status);
    if (status.ok()) {
      ++world_.expected.users_erased;
      model().Erase(user, at_ms);
    } else {
      world_.CheckExcused("erase", status);
      world_.Doubt(user, at_ms);
    }
    world_.Recover(status);
  }

  void Inspect(const std::string& user) {
    const Result<UserReport> report = engine().Inspect(IdRef(user));
    if (!report.ok()) return world_.CheckExcused("inspect", report.status());
    CheckReport(model(), *report);
  }

  void Maintain(const Operation& operation) {
    Status status;
    switch (operation.verb) {
      case Verb::kDrain:
        status = engine().Drain();
        if (status.ok()) Drained();
        break;
      case Verb::kSeal:
        status = Seal(operation);
        break;
      case Verb::kSealClosed:
        status = engine().SealClosed();
        if (status.ok()) Drained();
        break;
      case Verb::kDrop:
        status = engine().DropExpired();
        break;
      case Verb::kDue:
        status = engine().RunDue();
        break;
      case Verb::kCompact:
        status = engine().Compact();
        break;
      case Verb::kSync:
        status = engine().Sync();
        if (status.ok()) model().AllSynced();
        break;
      case Verb::kVerify:
        status = Verify();
        break;
      case Verb::kStats:
        Stats();
        break;
      case Verb::kReadOnly:
        ReadOnly();
        break;
      case Verb::kCheckpoint:
        status = Checkpoint();
        break;
      default:
        break;
    }
    world_.Note(status);
    world_.CheckExcused(NameOf(operation.verb), status);
    world_.Recover(status);
  }

  void Drained() {
    model().Drained();
    const EngineStats stats = engine().Stats();
    if (stats.ring_plays != 0) {
      throw Violation("drained, and " + std::to_string(stats.ring_plays) + " plays are left");
    }
  }

  Status Seal(const Operation& operation) {
    if (!Knows(operation.collection)) return {};
    const Policy& policy = model().PolicyOf(operation.collection);
    const std::string bucket = NameOf(policy, BucketAt(policy, model().now_ms) - operation.number);
    const Status status = engine().Seal(operation.collection, bucket);
    const std::vector<BucketInfo> buckets = engine().Buckets();
    const bool exists = std::any_of(buckets.begin(), buckets.end(), [&](const BucketInfo& info) {
      return info.collection == operation.collection && info.bucket == bucket;
    });
    if (status.code() == StatusCode::kNotFound && !exists) return {};
    return status;
  }

  Status Verify() {
    const Result<VerifyReport> report = engine().Verify();
    if (!report.ok()) return report.status();
    if (report->damaged != 0 && !world_.ReadsFail()) {
      throw Violation("verify: " + report->damages[0].family + " " + report->damages[0].key + ": " +
                      report->damages[0].reason);
    }
    return {};
  }

  void Stats() {
    const EngineStats stats = engine().Stats();
    const EngineStats& expected = world_.expected;
    const auto check = [](const char* name, uint64_t is, uint64_t should) {
      if (is == should) return;
      throw Violation(std::string("statistics: ") + name + " is " + std::to_string(is) +
                      ", expected " + std::to_string(should));
    };
    check("plays_accepted", stats.plays_accepted, expected.plays_accepted);
    check("plays_refused", stats.plays_refused, expected.plays_refused);
    check("impressions_accepted", stats.impressions_accepted, expected.impressions_accepted);
    check("impressions_refused", stats.impressions_refused, expected.impressions_refused);
    check("filters", stats.filters, expected.filters);
    check("filters_degraded", stats.filters_degraded, expected.filters_degraded);
    check("candidates", stats.candidates, expected.candidates);
    check("candidates_seen", stats.candidates_seen, expected.candidates_seen);
    check("users_erased", stats.users_erased, expected.users_erased);
    check("busy", stats.busy, expected.busy);
    check("damaged", stats.damaged, 0);
    world_.tally().layers += stats.layers_created;
    if (stats.degraded && !world_.Excused()) {
      throw Violation("statistics: " + stats.problems.front());
    }
  }

  void ReadOnly() {
    Options options = world_.options();
    options.read_only = true;
    const uint64_t writes = world_.disk().operations(MemDisk::kWriting);
    Result<std::unique_ptr<Engine>> beside = OpenEngine("/db", options, world_.seams());
    if (!beside.ok()) return world_.CheckExcused("open read-only", beside.status());
    world_.Sweep(beside->get(), world_.ReadsFail());
    const Status closed = (*beside)->Close();
    world_.CheckExcused("close read-only", closed);
    if (world_.disk().operations(MemDisk::kWriting) != writes) {
      throw Violation("a read-only opening wrote");
    }
  }

  Status Checkpoint() {
    const std::string path = "/copy-" + std::to_string(++copies_);
    const Status made = engine().Checkpoint(path).status();
    if (!made.ok()) return made;
    model().AllSynced();
    const Result<std::unique_ptr<Engine>> copy = OpenEngine(path, world_.options(), world_.seams());
    if (!copy.ok()) {
      world_.CheckExcused("open a copy", copy.status());
      return copy.status();
    }
    world_.Sweep(copy->get(), world_.ReadsFail());
    return (*copy)->Close();
  }

  // Everything is looked at once more, before and after a last opening.
  void Finish() {
    world_.disk().Clear();
    world_.Reopen(0);
    const Status drained = engine().Drain();
    world_.CheckExcused("drain", drained);
    world_.Sweep(&engine(), world_.ReadsFail());
    world_.CheckExcused("verify", Verify());
    Stats();
    if (!world_.tally().WithinBudget()) {
      throw Violation("false positives beyond the budget:\n" + world_.tally().ToText());
    }
  }

  const Script& script_;
  World world_;
  int copies_ = 0;
};

}  // namespace

Result<std::unique_ptr<Engine>> OpenEngine(const std::string& path, const Options& options,
                                           const Seams& seams) {
  return Engine::Open(path, options, seams);
}

Outcome Simulate(const Script& script, const Opener& opener) {
  Outcome outcome;
  Simulator simulator(script, opener, &outcome.tally);
  try {
    simulator.Run(&outcome.operation);
  } catch (const Violation& violation) {
    outcome.failed = true;
    outcome.what = violation.what();
  }
  outcome.digest = simulator.digest();
  return outcome;
}

}  // namespace seendb::simulation
