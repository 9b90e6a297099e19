// tests/fuzz/input.h: what several targets do with their bytes.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace seendb::fuzz {

/// A finding unless `holds`.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

/// An input, whose first bytes choose and whose rest is what is tried. What is missing is 0.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  uint64_t Number(size_t bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; ++i) number = number << 8 | Byte();
    return number;
  }
  std::string_view Rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// How an input is cut: pieces of 1..most bytes by turns; a `most` of 0 is one piece.
class Cutter {
 public:
  explicit Cutter(size_t most) : most_(most) {}

  /// The length of the next piece of what is left.
  size_t Next(size_t left) {
    if (most_ == 0) return left;
    return std::min(left, 1 + turn_++ * 7 % most_);
  }

 private:
  const size_t most_;
  size_t turn_ = 0;
};

}  // namespace seendb::fuzz
