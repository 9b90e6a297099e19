// query/candidates.h: what a filter request probes, and what it is probed against.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "filter/probe_set.h"
#include "format/filter_codec.h"
#include "query/distinct.h"
#include "seendb/events.h"
#include "seendb/judge.h"

namespace seendb {

/// When an item was served or exposed last.
struct ItemTime {
  Fingerprint item = 0;
  int64_t at_ms = 0;
};

/// A filter, or a sorted list of fingerprints, that candidates are probed against. It borrows the
/// bytes that `view` points into.
struct SourceView {
  ReasonKind kind = ReasonKind::kPlay;
  int64_t bucket = 0;         ///< of the ring: the oldest that it may be of
  int64_t newest_bucket = 0;  ///< of the ring: the newest
  FilterView view;
  bool touched = false;        ///< a span only touches its bucket, which counts whole
  bool on_page = false;        ///< of kSame: no fact, but a candidate that is unseen
  std::string_view name = {};  ///< of a set, or Reason::group; borrowed from the request
  uint16_t collection = 0;     ///< of what was seen elsewhere: Reason::collection
  /// For repeats, the times of a list's items, by item and then the newest first.
  std::span<const ItemTime> times = {};

  /// Whether its candidates are excluded, in place of seen.
  bool excludes() const {
    return kind == ReasonKind::kExcluded || kind == ReasonKind::kInSet ||
           kind == ReasonKind::kJudged || kind == ReasonKind::kTooMany ||
           kind == ReasonKind::kCapped;
  }
};

/// One group of a candidate that is the same for the user.
struct SameGroup {
  Fingerprint fingerprint = 0;
  uint32_t position = 0;        ///< of the candidate
  std::string_view group = {};  ///< the request's own text
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
  /// By position, filled by CheckSpan (shard/span_check.h); empty where it was not called. 1: its
  /// play is in the span that only touches the bucket.
  std::vector<uint8_t> in_span;
  // By position, filled by FindMarked (marked.h), FindSame (same_as.h) and PageCaps (capped.h);
  // empty where none was called.
  std::vector<std::string_view> groups;  ///< the marked, seen, or full one; empty: none
  std::vector<uint8_t> undated;          ///< 1: a time is missed; by FindMarked alone

  std::vector<SameGroup> same;  ///< ascending by position, filled by BeginSame (same_as.h)

  // Filled where the request has a judge (judged.h).
  std::vector<Judgement> judgements;       ///< by position
  std::vector<uint32_t> returned_of_kind;  ///< how many, by the kind's number

  // What ProbeRange works in.
  std::vector<Fingerprint> pending;  ///< not decided yet
  std::vector<uint32_t> positions;   ///< of `pending`, in the request
  std::vector<uint8_t> hits;         ///< of the last probe, by position in `pending`
  ProbeScratch probe;
};

}  // namespace seendb
