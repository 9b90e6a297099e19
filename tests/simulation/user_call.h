// tests/simulation/user_call.h: one call about users or policies: made first, on any thread, and
// then told to the model.

#pragma once

#include <vector>

#include "simulation/history_call.h"
#include "simulation/ingest_call.h"
#include "simulation/world.h"

namespace seendb::simulation {

/// A play, serve, filter, erase, put, or one about history or a log. The world and the operation
/// are borrowed.
class UserCall {
 public:
  /// Whether it is one of these.
  static bool Is(Verb verb);
  UserCall(World* world, const Operation& operation)
      : world_(world),
        operation_(operation),
        history_(world, operation),
        ingest_(world, operation) {}

  /// Asks the engine; the model stands still meanwhile.
  void Call();
  /// Takes the outcome to the model, or throws a Violation; `alone` if nothing else went on during
  /// the call. World::Recover wants to know the status.
  Status Account(bool alone);
  const Operation& operation() const { return operation_; }

 private:
  bool Knows() const { return world_->model().policies().contains(operation_.collection); }
  Model& model() { return world_->model(); }
  template <typename Given>
  Result<RecordResult> Record();
  Status AccountRecord(bool alone);
  void CheckRefusals(size_t sent, const std::vector<uint32_t>& refused) const;
  void NoteSynced(const std::vector<Sent>& sent);
  void CallMark();
  Status AccountMark();
  Status AccountErase();
  void CheckUnknown();
  Status AccountPut();

  World* const world_;
  const Operation& operation_;
  Status status_;
  Erasure erasure_;
  RecordResult recorded_;
  int64_t said_ms_ = 0;   // of a mark
  bool deleted_ = false;  // by an unmark
  FilterResponse answer_;
  HistoryCall history_;
  IngestCall ingest_;
};

}  // namespace seendb::simulation
