// seendb/user_count.h: how many users a database holds plays of.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "database.h"

namespace seendb::tool {

/// Counts distinct texts by hashes of 64 bits: one of 100 million is missed with a chance of 0.03%.
/// Memory: 8 to 16 bytes per distinct text. Threads: one.
class DistinctCount {
 public:
  void Add(std::string_view text);
  uint64_t count();

 private:
  void Compact();

  std::vector<uint64_t> hashes_;
  size_t distinct_ = 0;  ///< of the front, which is sorted
};

/// The users of a folder, counted: `{"total":3,"by_collection":{"default":3},"staged":1}`. Staged
/// plays are not drained; their (collection, user) pairs are counted slot by slot, and may be among
/// the others. Cost: reads all seen filters.
Result<Json> CountUsers(Engine& engine);

}  // namespace seendb::tool
