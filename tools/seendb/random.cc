#include "random.h"

#include <bit>
#include <cassert>
#include <cmath>

namespace seendb::tool {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

}  // namespace

uint64_t SplitMix64(uint64_t* state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Random::Random(uint64_t seed, uint64_t stream) {
  uint64_t state = stream;
  state = SplitMix64(&state) ^ seed;
  for (uint64_t& word : state_) word = SplitMix64(&state);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t limit) {
  assert(limit != 0);
  // Numbers under 2^64 mod limit would make the small results likelier.
  const uint64_t first_fair = (0 - limit) % limit;
  uint64_t n = Next();
  while (n < first_fair) n = Next();
  return n % limit;
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Random::Normal() {
  // Marsaglia's polar method; the second deviate of the pair is not kept.
  for (;;) {
    const double u = 2 * Uniform() - 1;
    const double v = 2 * Uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * PortableLog(s) / s);
  }
}

double PortableExp(double x) {
  assert(std::abs(x) < 700);
  const double k = std::floor(x / kLn2 + 0.5);
  const double r = x - k * kLn2;
  double sum = 1;
  for (int i = 16; i >= 1; --i) sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(k));
}

double PortableLog(double x) {
  assert(x > 0 && std::isnormal(x));
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // 0.5 <= m < 1
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1);
  const double t2 = t * t;
  double sum = 0;
  for (int i = 27; i >= 1; i -= 2) sum = sum * t2 + 1.0 / i;
  return 2 * t * sum + exponent * kLn2;
}

}  // namespace seendb::tool
