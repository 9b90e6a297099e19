// seendb/judge.h: what a caller knows of the candidates of a filter request, and the engine does
// not. The engine asks while it answers: `limit` counts candidates that pass, and `record` records
// no other.
//
// seendb/item_judge.h has a judge over a store of items.

#pragma once

#include <cstdint>
#include <span>

#include "seendb/cxx20.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb {

/// Whether one candidate may be returned.
struct Judgement {
  /// 0: it may be returned. Else it is excluded, whether it was seen or not, and Reason::rule has
  /// this number.
  uint16_t dropped_by = 0;
  /// Only the first few unseen candidates of a kind are returned; the others are excluded. 0: it is
  /// of no kind. A judge numbers kinds from 1, without gaps.
  uint32_t kind = 0;
};

/// See the head of this file. Threads: a judge serves one request at a time.
class CandidateJudge {
 public:
  /// Not before the request was answered.
  virtual ~CandidateJudge() = default;
  /// Judges candidates, each in its place of `judgements`, which is as long and holds nothing yet.
  /// Called on the thread of Engine::Filter, inside the user's shard, for one part of the
  /// candidates after the other, as far as the answer needs them: it must not wait, and call
  /// nothing of the engine. A request that is tried again asks again from the start.
  virtual void Judge(std::span<const IdRef> candidates, std::span<Judgement> judgements) = 0;
  /// How many of a kind are returned.
  virtual uint32_t most_of_a_kind() const = 0;
  /// Whether all could be judged. If not, the request fails with this, and records nothing.
  virtual Status status() const = 0;
};

}  // namespace seendb
