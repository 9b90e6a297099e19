#include "filter/sizing.h"

#include <algorithm>
#include <cmath>

#include "filter/block_bloom.h"
#include "filter/hash.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

/// C(8, j) with its sign, and 1 - (63/64)^j.
struct Term {
  double coefficient;
  double loss;
};
constexpr int kTerms = kLanesPerBlock;

struct Terms {
  Term term[kTerms];
  constexpr Terms() : term() {
    double binomial = 1;
    double kept = 1;
    for (int j = 1; j <= kTerms; ++j) {
      binomial = binomial * (kTerms - j + 1) / j;
      kept *= 63.0 / 64.0;
      term[j - 1] = {j % 2 == 1 ? -binomial : binomial, 1 - kept};
    }
  }
};
constexpr Terms kSeries;

/// The largest x in [low, high] with good(x), where good(low) holds and good never turns true
/// again once false; `guess` is where to begin.
template <typename Good>
uint64_t LastGood(uint64_t low, uint64_t high, uint64_t guess, const Good& good) {
  guess = std::clamp(guess, low, high);
  uint64_t step = std::max<uint64_t>(guess / 4096, 1);
  uint64_t bad = high + 1;  // low is good, bad is not
  if (good(guess)) {
    low = guess;
    for (; bad - low > step; step *= 2) {
      if (!good(low + step)) {
        bad = low + step;
        break;
      }
      low += step;
    }
  } else {
    bad = guess;
    for (; bad - low > step; step *= 2) {
      if (good(bad - step)) {
        low = bad - step;
        break;
      }
      bad -= step;
    }
  }
  while (bad - low > 1) {
    const uint64_t middle = low + (bad - low) / 2;
    (good(middle) ? low : bad) = middle;
  }
  return low;
}

/// Items a block at which a filter of many blocks has this rate: a few secant steps on
/// log(rate) over log(load), which are nearly on a line.
double LoadFor(double fpr) noexcept {
  constexpr uint64_t kManyBlocks = 1 << 20;
  const auto log_fpr = [](double log_load) {
    return std::log(ExpectedFpr(kManyBlocks, std::exp(log_load) * kManyBlocks));
  };
  const double target = std::log(std::clamp(fpr, 1e-12, 0.999));
  double a = std::log(8.0);
  double b = std::log(40.0);
  double at_a = log_fpr(a) - target;
  for (int i = 0; i < 8; ++i) {
    const double at_b = log_fpr(b) - target;
    if (std::abs(at_b) < 1e-6 || at_a == at_b) break;
    const double next = std::clamp(b - at_b * (b - a) / (at_b - at_a), -3.0, 7.0);
    a = b;
    at_a = at_b;
    b = next;
  }
  return std::exp(b);
}

}  // namespace

double ExpectedFpr(uint64_t blocks, double items) noexcept {
  if (items <= 0) return 0;
  double sum = 1;
  for (const Term& term : kSeries.term) {
    sum +=
        term.coefficient * std::exp(items * std::log1p(-term.loss / static_cast<double>(blocks)));
  }
  return std::clamp(sum, 0.0, 1.0);
}

uint64_t CapacityOf(uint64_t blocks, double fpr) noexcept {
  constexpr uint64_t kMostItems = uint64_t{1} << 48;  // as many as there are fingerprints
  if (fpr >= 1) return kMostItems;
  const double guess = LoadFor(fpr) * static_cast<double>(blocks);
  return LastGood(0, kMostItems, static_cast<uint64_t>(guess), [&](uint64_t items) {
    return ExpectedFpr(blocks, static_cast<double>(items)) <= fpr;
  });
}

uint64_t BlocksFor(uint64_t items, double fpr) noexcept {
  const auto count = static_cast<double>(items);
  if (ExpectedFpr(1, count) <= fpr) return 1;
  const double guess = std::min(count / LoadFor(fpr), static_cast<double>(kBlocksMax));
  // The largest size that is too small, plus one.
  return 1 + LastGood(1, kBlocksMax - 1, static_cast<uint64_t>(guess),
                      [&](uint64_t blocks) { return ExpectedFpr(blocks, count) > fpr; });
}

double EstimateFpr(const uint8_t* bits, uint64_t blocks) noexcept {
  return SumOfHitChances(bits, blocks) / static_cast<double>(blocks);
}

double Fill(const uint8_t* bits, uint64_t blocks) noexcept {
  return static_cast<double>(CountBits(bits, blocks)) / static_cast<double>(blocks * kBlockBits);
}

uint64_t EstimateItems(const uint8_t* bits, uint64_t blocks) noexcept {
  // A bit stays clear with (1 - 1 / (64 blocks))^items. Half a bit keeps a full filter finite.
  const auto all = static_cast<double>(blocks * kBlockBits);
  const double clear = std::max(all - static_cast<double>(CountBits(bits, blocks)), 0.5);
  const double lanes_bits = static_cast<double>(blocks * kLaneBits);
  return static_cast<uint64_t>(std::llround(std::log(clear / all) / std::log1p(-1 / lanes_bits)));
}

uint64_t EffectiveMaxFilterBytes(const Policy& policy) {
  if (policy.max_filter_bytes != 0) return policy.max_filter_bytes;
  // Room for 130,000 items: as a list, or as four layers of which each takes most of the
  // false-positive budget its elders left, and a fifth for those left half empty behind a filling
  // that speeds up. Headers and rounding take the rest.
  constexpr uint64_t kItems = 130'000;
  constexpr uint64_t kHeaderBytes = 4096;
  if (policy.representation == Representation::kExact) {
    return kItems * kFingerprintBytes + kHeaderBytes;
  }
  constexpr uint64_t kLayers = 4;
  uint64_t blocks = 0;
  double budget = policy.fpr / policy.window * kLayerShare;
  for (uint64_t layer = 0; layer <= kLayers; ++layer, budget *= 1 - kLayerShare) {
    blocks += BlocksFor(kItems / kLayers, budget);
  }
  return kHeaderBytes + (blocks + blocks / 32) * kBlockBytes;
}

}  // namespace seendb
