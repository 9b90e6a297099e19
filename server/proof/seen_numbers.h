// server/proof/seen_numbers.h: which numbers of a sender were seen, so that each counts once.

#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace seendb::proof {

/// The newest kWidth numbers; they may come in any order. 8 KiB. Threads: one at a time.
class SeenNumbers {
 public:
  static constexpr size_t kWidth = size_t{1} << 16;

  /// True the first time. False: it came before, or is so old that this is not known.
  bool Take(uint64_t number) {
    if (number > newest_) {
      const uint64_t further = number - newest_;
      if (further >= kWidth) seen_.reset();
      for (uint64_t i = 1; i < further && further < kWidth; ++i) seen_.reset(At(newest_ + i));
      newest_ = number;
      seen_.set(At(number));
      return true;
    }
    if (newest_ - number >= kWidth || seen_.test(At(number))) return false;
    seen_.set(At(number));
    return true;
  }

 private:
  static size_t At(uint64_t number) { return number % kWidth; }

  uint64_t newest_ = 0;
  std::bitset<kWidth> seen_{1};  // number 0 is nobody's
};

}  // namespace seendb::proof
