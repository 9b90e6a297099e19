// tests/simulation/dice.h: the one source of chance of a script. The same on every platform, unlike
// the distributions of <random>.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace seendb::simulation {

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// 0 .. bound-1.
  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : Next() % bound; }
  /// low .. high, both included.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  /// True in `percent` of 100 throws.
  bool Chance(double percent) { return Unit() * 100 < percent; }
  /// 0 <= x < 1.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  /// One of a few.
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[Below(values.size())];
  }
  /// 0 .. bound-1 with a heavy tail: the small ones come often.
  uint64_t Skewed(uint64_t bound) {
    const double u = Unit();
    return static_cast<uint64_t>(u * u * u * static_cast<double>(bound));
  }

 private:
  uint64_t state_;
};

}  // namespace seendb::simulation
