#include "simulation/upkeep.h"

#include <algorithm>
#include <utility>

#include "simulation/calendar.h"
#include "simulation/checks_ingest.h"
#include "simulation/simulator.h"

namespace seendb::simulation {

bool Upkeep::Is(Verb verb) {
  switch (verb) {
    case Verb::kDrain:
    case Verb::kSeal:
    case Verb::kSealClosed:
    case Verb::kDrop:
    case Verb::kDue:
    case Verb::kCompact:
    case Verb::kSync:
    case Verb::kCheckpoint:
      return true;
    default:
      return false;
  }
}

void Upkeep::Do(const Operation& operation, Middle* middle) {
  middle_ = middle;
  Status status = DoOne(operation);
  world_.Note(status);
  world_.CheckExcused(NameOf(operation.verb), status);
  if (middle_ != nullptr) {
    const Status other = std::exchange(middle_, nullptr)->Account();
    // What it played may have been evicted already.
    const bool evicts = operation.verb == Verb::kDue || operation.verb == Verb::kSealClosed;
    if (evicts) model().history().Evict(false);
    if (status.ok()) status = other;
  }
  world_.Recover(status);
  if (operation.verb == Verb::kCheckpoint && !status.ok()) {
    CheckCopy("/copy-" + std::to_string(copies_));  // if there is one, it must be whole
  }
}

Status Upkeep::DoOne(const Operation& operation) {
  switch (operation.verb) {
    case Verb::kDrain:
      return Drained(Over(engine().Drain()));
    case Verb::kSeal:
      return Seal(operation);
    case Verb::kSealClosed: {
      const Status status = Drained(Over(engine().SealClosed()));
      model().history().Evict(status.ok() && middle_ == nullptr && !world_.ReadsFail());
      return status;
    }
    case Verb::kDrop:
      return Over(engine().DropExpired());
    case Verb::kDue: {
      const Status status = Over(engine().RunDue());
      model().Maintain();
      return status;
    }
    case Verb::kCompact:
      return Over(engine().Compact());
    case Verb::kSync: {
      Status status = Over(engine().Sync());
      if (status.ok()) model().AllSynced();
      return status;
    }
    case Verb::kVerify:
      return Verify();
    case Verb::kStats:
      Stats();
      return {};
    case Verb::kReadOnly:
      ReadOnly();
      return {};
    case Verb::kCheckpoint:
      return Checkpoint();
    default:
      return {};
  }
}

// The engine's part is over: what happens from now on is not in the middle of it.
Status Upkeep::Over(Status status) {
  if (middle_ != nullptr) middle_->Finish();
  return status;
}

Status Upkeep::Drained(Status status) {
  if (!status.ok()) return status;
  model().Drained();
  const EngineStats stats = engine().Stats();
  if (stats.ring_plays != 0 && middle_ == nullptr) {
    throw Violation("drained, and " + std::to_string(stats.ring_plays) + " plays are left");
  }
  return status;
}

Status Upkeep::Seal(const Operation& operation) {
  if (!model().policies().contains(operation.collection)) return Over({});
  const Policy& policy = model().PolicyOf(operation.collection);
  const std::string bucket = NameOf(policy, BucketAt(policy, model().now_ms) - operation.number);
  // Looked at before: what is done in the middle may make it.
  const std::vector<BucketInfo> buckets = engine().Buckets();
  const bool exists = std::any_of(buckets.begin(), buckets.end(), [&](const BucketInfo& info) {
    return info.collection == operation.collection && info.bucket == bucket;
  });
  const Status status = Over(engine().Seal(operation.collection, bucket));
  if (status.code() == StatusCode::kNotFound && !exists) return {};
  return status;
}

Status Upkeep::Verify() {
  const Result<VerifyReport> report = engine().Verify();
  if (!report.ok()) return report.status();
  if (report->damaged != 0 && !world_.ReadsFail()) {
    throw Violation("verify: " + report->damages[0].family + " " + report->damages[0].key + ": " +
                    report->damages[0].reason);
  }
  return {};
}

void Upkeep::Stats() {
  const EngineStats stats = engine().Stats();
  const EngineStats& expected = world_.expected;
  const auto check = [](const char* name, uint64_t is, uint64_t should) {
    if (is == should) return;
    throw Violation(std::string("statistics: ") + name + " is " + std::to_string(is) +
                    ", expected " + std::to_string(should));
  };
  check("damaged", stats.damaged, 0);
  if (!world_.counts_known()) return;
  check("plays_accepted", stats.plays_accepted, expected.plays_accepted);
  check("plays_refused", stats.plays_refused, expected.plays_refused);
  check("marks_accepted", stats.marks_accepted, expected.marks_accepted);
  check("marks_deleted", stats.marks_deleted, expected.marks_deleted);
  check("exposures_accepted", stats.exposures_accepted, expected.exposures_accepted);
  check("exposures_refused", stats.exposures_refused, expected.exposures_refused);
  check("impressions_accepted", stats.impressions_accepted, expected.impressions_accepted);
  check("impressions_refused", stats.impressions_refused, expected.impressions_refused);
  check("filters", stats.filters, expected.filters);
  check("filters_degraded", stats.filters_degraded, expected.filters_degraded);
  check("candidates", stats.candidates, expected.candidates);
  check("candidates_seen", stats.candidates_seen, expected.candidates_seen);
  check("users_erased", stats.users_erased, expected.users_erased);
  check("busy", stats.busy, expected.busy);
  check("history_recorded", stats.history_recorded, expected.history_recorded);
  check("history_paused", stats.history_paused, expected.history_paused);
  check("history_deleted", stats.history_deleted, expected.history_deleted);
  check("history_cleared", stats.history_cleared, expected.history_cleared);
  check("ingest_repeated", stats.ingest_repeated, expected.ingest_repeated);
  CheckIngested(model(), stats.ingested);
  world_.tally().layers += stats.layers_created;
  if (stats.degraded && !world_.Excused()) {
    throw Violation("statistics: " + stats.problems.front());
  }
}

void Upkeep::ReadOnly() {
  Options options = world_.options();
  options.read_only = true;
  // On a copy of the disk: on the disk itself the other engine may be flushing or compacting.
  const std::unique_ptr<MemDisk> disk = world_.disk().Clone();
  Seams seams = world_.seams();
  seams.env = disk->env();
  const uint64_t writes = disk->operations(MemDisk::kWriting);
  Result<std::unique_ptr<Engine>> beside = OpenEngine("/db", options, seams);
  if (!beside.ok()) return world_.CheckExcused("open read-only", beside.status());
  world_.Sweep(beside->get(), world_.ReadsFail());
  const Status closed = (*beside)->Close();
  world_.CheckExcused("close read-only", closed);
  if (disk->operations(MemDisk::kWriting) != writes) {
    throw Violation("a read-only opening wrote");
  }
}

Status Upkeep::Checkpoint() {
  // A failed one is tried again under its name.
  const std::string path = "/copy-" + std::to_string(copies_);
  const Status made = Over(engine().Checkpoint(path).status());
  if (!made.ok()) return made;
  model().AllSynced();
  CheckCopy(path);
  return {};
}

// A folder that has a checkpoint's name is one: it opens and has everything that was acknowledged
// before the call.
void Upkeep::CheckCopy(const std::string& path) {
  if (!world_.env()->FileExists(path).ok()) return;
  ++copies_;
  const Result<std::unique_ptr<Engine>> copy = OpenEngine(path, world_.options(), world_.seams());
  if (!copy.ok()) return world_.CheckExcused("open a copy", copy.status());
  // Who was erased in the middle may be gone from it, or not.
  world_.Sweep(copy->get(), world_.ReadsFail(),
               middle_ != nullptr ? &middle_->operation() : nullptr);
  world_.CheckExcused("close a copy", (*copy)->Close());
}

}  // namespace seendb::simulation
