// common/wire/arena.h: memory for the bytes of one batch: what is copied in stays where it is
// until Clear, which keeps the blocks for the next batch.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace seendb::wire {

/// See the head of this file. Threads: one at a time.
class Arena {
 public:
  /// Memory is asked for in blocks of so many bytes; a longer copy gets a block of its own.
  explicit Arena(size_t block_bytes) : block_bytes_(block_bytes) {}

  /// A copy of `bytes`, followed by `padding` bytes that may be read.
  std::string_view Copy(std::string_view bytes, size_t padding = 0) {
    const size_t needed = bytes.size() + padding;
    while (at_ < blocks_.size() && blocks_[at_].size - used_ < needed) {
      ++at_;
      used_ = 0;
    }
    if (at_ == blocks_.size()) {
      const size_t size = std::max(needed, block_bytes_);
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
    std::erase_if(blocks_, [this](const Block& block) { return block.size > block_bytes_; });
    if (blocks_.size() > kBlocksKept) blocks_.resize(kBlocksKept);
    at_ = used_ = 0;
  }
  /// The memory of all blocks.
  size_t HeldBytes() const {
    size_t bytes = 0;
    for (const Block& block : blocks_) bytes += block.size;
    return bytes;
  }

 private:
  static constexpr size_t kBlocksKept = 16;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  const size_t block_bytes_;
  std::vector<Block> blocks_;
  size_t at_ = 0, used_ = 0;
};

}  // namespace seendb::wire
