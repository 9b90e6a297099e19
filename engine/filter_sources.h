// engine/filter_sources.h: what a filter request probes its candidates against, and the memory it
// works in. Sources are in the order of the reasons: those of plays newest bucket first.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "filter/probe_set.h"
#include "filter/sort.h"
#include "format/filter_codec.h"
#include "seendb/events.h"
#include "store/families.h"

namespace seendb {

/// Something candidates are probed against: a stored filter in place, or packed fingerprints.
struct FilterSource {
  ReasonKind kind = ReasonKind::kPlay;
  int64_t bucket = 0;
  rocksdb::PinnableSlice value;  // what `view` points into
  FilterView view;
  std::vector<Fingerprint> items;  // for packed sources: sorted into `packed`
  std::string packed;

  void Pack() {
    SortUnique(&items);
    packed.resize(items.size() * kFingerprintBytes);
    auto* at = reinterpret_cast<uint8_t*>(packed.data());
    for (size_t i = 0; i < items.size(); ++i)
      StoreFingerprint(items[i], at + i * kFingerprintBytes);
    view = {};
    view.list = at;
    view.list_count = static_cast<uint32_t>(items.size());
  }
};

/// What one request needs, kept by the thread for its allocations.
struct FilterScratch {
  std::vector<Fingerprint> fingerprints;
  std::vector<Fingerprint> pending;  // not decided yet
  std::vector<uint32_t> positions;   // of `pending` in the request
  std::vector<uint8_t> hits;
  std::vector<uint32_t> verdicts;  // 1 + index of the source, 0: unseen
  // Where history is asked too: 1 + index of the newest source whose hit it refuted, 0: none.
  std::vector<uint32_t> refuted;
  std::vector<std::unique_ptr<FilterSource>> sources;
  size_t source_count = 0;
  ProbeScratch probe;

  FilterSource& AddSource(ReasonKind kind, int64_t bucket) {
    if (source_count == sources.size()) sources.push_back(std::make_unique<FilterSource>());
    FilterSource& source = *sources[source_count++];
    source.kind = kind;
    source.bucket = bucket;
    source.value.Reset();
    source.items.clear();
    return source;
  }
  /// Its value may pin a block, which must not outlive the database.
  void DropLastSource() { sources[--source_count]->value.Reset(); }
};

}  // namespace seendb
