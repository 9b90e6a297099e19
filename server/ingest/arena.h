// server/ingest/arena.h: memory for the bytes of one batch: what is copied in stays where it is
// until Clear, which keeps the blocks for the next batch.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace seendb::ingest {

/// See the head of this file. Threads: one at a time.
class Arena {
 public:
  /// A copy of `bytes`, followed by `padding` bytes that may be read.
  std::string_view Copy(std::string_view bytes, size_t padding = 0) {
    const size_t needed = bytes.size() + padding;
    while (at_ < blocks_.size() && blocks_[at_].size - used_ < needed) {
      ++at_;
      used_ = 0;
    }
    if (at_ == blocks_.size()) {
      const size_t size = std::max(needed, kBlockBytes);
      blocks_.push_back({std::make_unique<char[]>(size), size});
      used_ = 0;
    }
    char* const to = blocks_[at_].bytes.get() + used_;
    std::copy(bytes.begin(), bytes.end(), to);
    used_ += bytes.size();  // the padding is only read, and before the next copy
    return {to, bytes.size()};
  }
  /// Forgets all copies. Blocks of unusual size are given back.
  void Clear() {
    std::erase_if(blocks_, [](const Block& block) { return block.size > kBlockBytes; });
    if (blocks_.size() > kBlocksKept) blocks_.resize(kBlocksKept);
    at_ = used_ = 0;
  }

 private:
  static constexpr size_t kBlockBytes = 1 << 20;
  static constexpr size_t kBlocksKept = 16;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Block> blocks_;
  size_t at_ = 0, used_ = 0;
};

}  // namespace seendb::ingest
