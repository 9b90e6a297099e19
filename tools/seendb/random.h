// seendb/random.h: random numbers that are the same on every machine for a seed.
//
// The generator is xoshiro256++ seeded by SplitMix64 (Blackman and Vigna, 2019). Logarithm and
// exponential are worked out here with +, -, * and / alone, which IEEE 754 rounds exactly, and
// the file is compiled without contraction into fused operations; the C library's differ from
// one system to the next.

#pragma once

#include <array>
#include <cstdint>

namespace seendb::tool {

/// The next SplitMix64 number; also a good mixer of a counter.
uint64_t SplitMix64(uint64_t* state);

/// A generator. Threads: one each.
class Random {
 public:
  /// The stream number `stream` of `seed`; different streams are independent.
  explicit Random(uint64_t seed, uint64_t stream = 0);
  /// 64 random bits.
  uint64_t Next();
  /// 0 <= n < limit, without bias. Precondition: limit != 0.
  uint64_t Below(uint64_t limit);
  /// 0 <= x < 1, a multiple of 2^-53.
  double Uniform();
  /// A standard normal deviate.
  double Normal();

 private:
  std::array<uint64_t, 4> state_;
};

/// e to the x, relative error below 1e-14. Precondition: |x| < 700.
double PortableExp(double x);
/// Natural logarithm, error below 1e-14. Precondition: x > 0 and normal.
double PortableLog(double x);

}  // namespace seendb::tool
