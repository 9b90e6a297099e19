// query/candidates.h: what a filter request probes, and what it is probed against.

#pragma once

#include <cstdint>
#include <vector>

#include "filter/probe_set.h"
#include "format/filter_codec.h"
#include "query/distinct.h"
#include "seendb/events.h"

namespace seendb {

/// A filter, or a sorted list of fingerprints, that candidates are probed against. It borrows the
/// bytes that `view` points into.
struct SourceView {
  ReasonKind kind = ReasonKind::kPlay;
  int64_t bucket = 0;         ///< of the ring: the oldest that it may be of
  int64_t newest_bucket = 0;  ///< of the ring: the newest
  FilterView view;
};

/// The candidates of one request and the verdict on each. A thread keeps the object for its
/// allocations.
struct Candidates {
  std::vector<Fingerprint> fingerprints;  ///< by position in the request
  std::vector<uint32_t> verdicts;         ///< 1 + index of the source that has it, 0: unseen
  /// With `verify`: 1 + index of the newest source whose hit history refuted, 0: none.
  std::vector<uint32_t> refuted;
  std::vector<uint8_t> repeats;  ///< 1: the same item came before in the request
  Distinct distinct;             ///< finds them

  // What ProbeRange works in.
  std::vector<Fingerprint> pending;  ///< not decided yet
  std::vector<uint32_t> positions;   ///< of `pending`, in the request
  std::vector<uint8_t> hits;         ///< of the last probe, by position in `pending`
  ProbeScratch probe;
};

}  // namespace seendb
