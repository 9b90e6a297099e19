// tests/simulation/ingest_call.h: one call about a log: a batch that is ingested, a topic that is
// forgotten; made first, on any thread, and then told to the model.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "simulation/world.h"

namespace seendb::simulation {

/// See the head of this file. The world and the operation are borrowed.
class IngestCall {
 public:
  /// Whether it is one of these.
  static bool Is(Verb verb) { return verb == Verb::kIngest || verb == Verb::kForget; }
  IngestCall(World* world, const Operation& operation) : world_(*world), operation_(operation) {}

  /// As those of UserCall.
  void Call();
  Status Account(bool alone);

 private:
  // What of a source is in the batch.
  struct Part {
    Source source;
    int64_t from = 0, to = 0;  // offsets
    std::vector<int64_t> dead = {};
    std::optional<int64_t> told = {};  // where the engine says that reading goes on
  };
  // Events by what the model expects of them, and each shard's moves.
  struct Expectation {
    std::vector<Sent> fresh;       // not repeated
    std::vector<size_t> fresh_at;  // of each: its position in sent_
    std::vector<Sent> taken;       // of those, accepted
    uint64_t repeated = 0;
    std::vector<std::vector<SourceMove>> moves;  // by shard
  };

  Model& model() { return world_.model(); }
  bool Knows() { return model().policies().contains(CollectionOf(operation_.topic)); }
  void ChooseParts();
  void Ingest();
  Expectation Expect();
  void ExpectPart(size_t part, Expectation* expected);
  Status AccountIngest(bool alone);
  /// The rows of the topic in the outbox; false where they can't be read.
  bool ReadRows(std::vector<OutboxRow>* rows);
  void CheckTold(const Expectation& expected);
  void CountDone(const Expectation& expected);
  Status AccountForget();

  World& world_;
  const Operation& operation_;
  Status status_;
  std::vector<Part> parts_;
  std::vector<Sent> sent_;       // all events of the batch
  std::vector<Origin> origins_;  // of each
  IngestResult result_;
  // Of the outbox, before the call and after it.
  std::vector<OutboxRow> rows_before_, rows_;
  bool rows_read_ = false;  // both, and the call succeeded
};

}  // namespace seendb::simulation
