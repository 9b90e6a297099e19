// seendb/key_set.h: which keys were met already, by 64 bits of their hash: 9 to 22 bytes per key.
// Of 50 million keys two have the same hash with a chance of 1 in 15,000.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace seendb::tool {

/// Open addressing in a power of two. Threads: one.
class KeySet {
 public:
  /// False where the key was there.
  bool Add(std::string_view key);
  size_t size() const { return size_; }

 private:
  bool Put(uint64_t hash);

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1024);  // 0: free
  size_t size_ = 0;
};

}  // namespace seendb::tool
