// shard/user_directory.h: which users may have a record. Answers "has none" from memory, without a
// lock, for all but one in a thousand users without a record.
//
// A blocked Bloom filter: 64-byte blocks of eight 64-bit lanes; a user sets one bit of each lane of
// one block. A filter has 16 bits for each user it has room for. Once it is full, a filter of
// double the size takes the users that come then; both are asked.
//
// Users are added and never taken out. A user is added before the record is written, so that the
// directory has every user whose record can be read; a write that fails leaves bits behind, which
// cost a look-up.
//
// Source: F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters"
// (2007); lanes as in Apache Parquet's split block filter, with 64 bits each. Threads: any, but for
// Reserve().

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/sync.h"

namespace seendb {

/// See the head of this file. Users are given by their KeyedHash.
class UserDirectory {
 public:
  UserDirectory() = default;

  /// Makes room for so many users. Precondition: nobody was added, and nobody else uses it yet.
  void Reserve(uint64_t users);

  /// Whether nobody was added.
  bool empty() const noexcept { return filters_made_.load(std::memory_order_acquire) == 0; }
  /// False: was not added. Cost: a cache line per filter; mostly there is one.
  bool MayHave(uint64_t user) const noexcept {
    const uint32_t made = filters_made_.load(std::memory_order_acquire);
    for (uint32_t i = made; i > 0; --i) {
      if (filters_[i - 1]->MayHave(user)) return true;
    }
    return false;
  }
  /// Whoever is told of it afterwards finds the user.
  void Add(uint64_t user);

  /// Bytes of all filters.
  uint64_t bytes() const noexcept;
  uint32_t filters() const noexcept { return filters_made_.load(std::memory_order_acquire); }

 private:
  class Filter {
   public:
    explicit Filter(uint64_t users);
    bool MayHave(uint64_t user) const noexcept {
      const Block& block = blocks_[BlockOf(user)];
      uint64_t found = 1;
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        found &= block.lanes[lane].load(std::memory_order_relaxed) >> BitOf(user, lane);
      }
      return found != 0;
    }
    void Set(uint64_t user) noexcept {
      Block& block = blocks_[BlockOf(user)];
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        block.lanes[lane].fetch_or(uint64_t{1} << BitOf(user, lane), std::memory_order_relaxed);
      }
    }
    /// Counts one user more; whether that was the last there is room for.
    bool CountOne() noexcept {
      return added_.fetch_add(1, std::memory_order_relaxed) + 1 == room();
    }
    uint64_t room() const noexcept { return size_ * kUsersPerBlock; }
    uint64_t bytes() const noexcept { return size_ * sizeof(Block); }

   private:
    static constexpr uint32_t kLanes = 8;
    struct alignas(64) Block {
      std::array<std::atomic<uint64_t>, kLanes> lanes{};
    };
    // Parquet's constants: odd, so that each lane takes other bits of the same half of the hash.
    static constexpr std::array<uint32_t, kLanes> kOdd = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU,
                                                          0xa2b7289dU, 0x705495c7U, 0x2df1424bU,
                                                          0x9efc4947U, 0x5c6bfb31U};
    size_t BlockOf(uint64_t user) const noexcept { return ((user >> 32) * size_) >> 32; }
    static uint32_t BitOf(uint64_t user, uint32_t lane) noexcept {
      return (static_cast<uint32_t>(user) * kOdd[lane]) >> 26;
    }

    const uint64_t size_;  // blocks
    const std::unique_ptr<Block[]> blocks_;
    std::atomic<uint64_t> added_{0};
  };

  static constexpr uint64_t kUsersPerBlock = 32;  // 512 bits, 16 for each
  static constexpr uint64_t kLeastUsers = 2'048;  // 4 KB
  // Of double the size each: the last has room for more users than a shard can have.
  static constexpr size_t kMostFilters = 24;

  void Append(uint64_t users) REQUIRES(growth_);

  Mutex growth_{LockRank::kLeaf};
  std::array<std::unique_ptr<Filter>, kMostFilters> filters_;  // those made don't change
  std::atomic<uint32_t> filters_made_{0};
};

}  // namespace seendb
