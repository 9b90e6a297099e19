// shard/filter_scratch.h: the sources of a filter request, with the memory that they point into.
// They are in the order of the reasons: those of plays newest bucket first.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/sort.h"
#include "query/candidates.h"
#include "tables/table_set.h"

namespace seendb {

/// What a source's view points into: a value of RocksDB in place, or packed fingerprints.
struct SourceBytes {
  rocksdb::PinnableSlice value;
  std::vector<Fingerprint> items;  ///< for packed sources: sorted into `packed`
  std::string packed;
  /// Of impressions, for `verify`: the ids that `value` keeps, by their fingerprints, sorted.
  std::vector<std::pair<Fingerprint, std::string_view>> ids;
  std::vector<ItemTime> times;  ///< what SourceView::times is of

  /// A view of `items`, sorted and each once.
  FilterView Pack() {
    SortUnique(&items);
    packed.resize(items.size() * kFingerprintBytes);
    auto* at = reinterpret_cast<uint8_t*>(packed.data());
    for (size_t i = 0; i < items.size(); ++i)
      StoreFingerprint(items[i], at + i * kFingerprintBytes);
    FilterView view;
    view.list = at;
    view.list_count = static_cast<uint32_t>(items.size());
    return view;
  }
};

/// What one request needs, kept by the thread for its allocations.
struct FilterScratch {
  Candidates candidates;
  Candidates probed;  ///< what their groups are probed in
  std::vector<SourceView> sources;
  std::vector<std::unique_ptr<SourceBytes>> bytes;  ///< of sources[i]; there may be more of them

  /// Begins a source: its bytes, empty, behind a view of nothing.
  SourceBytes& AddSource(ReasonKind kind, int64_t bucket) {
    sources.push_back({kind, bucket, bucket, {}});
    if (bytes.size() < sources.size()) bytes.push_back(std::make_unique<SourceBytes>());
    SourceBytes& last = *bytes[sources.size() - 1];
    last.value.Reset();
    last.items.clear();
    last.ids.clear();
    last.times.clear();
    return last;
  }
  /// Its value may pin a block, which must not outlive the database.
  void DropLastSource() {
    bytes[sources.size() - 1]->value.Reset();
    sources.pop_back();
  }
  /// The request is answered: nothing is pinned any more.
  void DropAllSources() {
    while (!sources.empty()) DropLastSource();
  }
};

}  // namespace seendb
