// shard/hit_check.h: checks hits of plays against the exact history, which refutes false ones.
// Bloom filters have false hits by their nature; lists and the ring where two items have one
// fingerprint.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shard/filter_scratch.h"
#include "shard/history_reader.h"

namespace seendb {

/// One request's check. Construct it after the sources were read: every play that they have is then
/// in history, or HistoryIsWhole says that history is incomplete for its bucket. Everything passed
/// to it must outlive it.
class HitCheck {
 public:
  HitCheck(const ShardParts& shard, const Collection& collection, std::string_view user)
      : shard_(shard), collection_(collection), user_(user) {}

  /// Checks the verdicts of items [begin, end) that rest on plays. If history refutes all hits of
  /// an item, its verdict becomes 0, and the former one is noted in `scratch.candidates.refuted`.
  /// If it refutes only hits of newer buckets, the verdict becomes the newest hit that is left. If
  /// a source that can't be checked has the item, the verdict stays. Cost: a second probe of the
  /// hits, and one batched read per bucket of history, of the items not found in a newer one.
  void Run(std::span<const IdRef> items, size_t begin, size_t end, FilterScratch& scratch);

 private:
  struct Hit {
    size_t suspect;   // in suspects_
    uint32_t source;  // in the scratch
  };
  struct Suspect {
    size_t position;      // in the request
    bool proven = false;  // by a hit that can't be checked
  };

  std::vector<bool> WholeSources(const FilterScratch& scratch) const;
  void FindHits(const std::vector<bool>& whole, FilterScratch& scratch);
  void HitAll(uint32_t source, bool proves, const FilterScratch& scratch);
  void ProbeSource(uint32_t source, bool whole, FilterScratch& scratch);
  void Decide(const std::vector<int64_t>& newest, FilterScratch& scratch) const;

  const ShardParts& shard_;
  const Collection& collection_;
  const std::string_view user_;
  ReadGaps gaps_;
  std::optional<HistoryReader> reader_;
  std::vector<Suspect> suspects_;
  std::vector<Fingerprint> fingerprints_;  // of the suspects
  std::vector<Hit> hits_;                  // by source
};

}  // namespace seendb
