// tests/support/merge_bench.h: the merge operator of one bucket, driven as RocksDB may drive it:
// operands in any order, merged partially and fully in any grouping, delivered again.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "filter/seen_filter.h"
#include "merge/seen_operator.h"

namespace seendb {

using Random = std::mt19937_64;
using Fingerprints = std::vector<Fingerprint>;

/// `count` distinct fingerprints, ascending.
Fingerprints RandomFingerprints(Random& random, size_t count);

/// How many of `items` a stored filter contains, by the kernels a read uses. Fails the test where
/// the value can't be read.
size_t CountSeen(const std::string& value, std::span<const Fingerprint> items);
/// A stored filter, decoded. Fails the test where the value can't be read.
SeenFilter Decode(const std::string& value);

/// One bucket's operator. Results of merges are checked to be readable.
class MergeBench {
 public:
  explicit MergeBench(const FilterRules& rules);

  /// A delta as a drain writes it. `items` in any order, repeats allowed.
  static std::string Delta(int64_t as_of_ms, Fingerprints items);

  /// FullMergeV2 over a base (null: none).
  std::string Full(const std::string* base, const std::vector<std::string>& operands);
  std::string Full(const std::vector<std::string>& operands) { return Full(nullptr, operands); }
  /// PartialMergeMulti; nothing where the operator leaves the operands alone.
  std::optional<std::string> Partial(const std::vector<std::string>& operands);
  /// Full, while the bucket is being sealed.
  std::string FullSealing(const std::string* base, const std::vector<std::string>& operands);
  /// What the compaction filter of a seal makes of a whole value.
  std::string SealWhole(const std::string& value);

  /// How MergeRandomly may vary.
  struct Freedom {
    bool shuffle = true;  ///< operands in any order
    bool seal = false;    ///< seals now and then on the way
    bool again = true;    ///< delivers some of them, merged or not, again
  };
  /// Merges all operands into one value by a random tree of partial and full merges.
  std::string MergeRandomly(Random& random, std::vector<std::string> operands,
                            const Freedom& freedom);

  const Counters& counters() const { return *rules_->counters; }

 private:
  std::shared_ptr<SeenRules> rules_;
  std::shared_ptr<rocksdb::MergeOperator> operator_;
  std::shared_ptr<rocksdb::CompactionFilterFactory> seal_;
};

}  // namespace seendb
