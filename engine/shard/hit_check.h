// shard/hit_check.h: hits of plays checked against the exact history, which refutes those that are
// false: of Bloom filters by their nature, of lists and of the ring where two items have one
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

/// One request's check. Made after its sources were read: what they tell of plays is in history
/// then, or its user's settings say why not. Everything passed to it must outlive it.
class HitCheck {
 public:
  HitCheck(const ShardParts& shard, const Collection& collection, std::string_view user)
      : shard_(shard), collection_(collection), user_(user) {}

  /// Goes over the verdicts of items [begin, end) that rest on plays. One that
  /// history refutes in every bucket becomes 0 and is noted in `scratch.candidates.refuted`; one
  /// that it refutes in the newer buckets only becomes that of the newest that is left. Where a
  /// source that can't be checked proves the item, the verdict stays, newer bucket or not. Cost: a
  /// second probe of the hits, and one batched read a bucket of history for those not found in a
  /// newer one.
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
