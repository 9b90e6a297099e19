// engine/filter/sizing.h: how many blocks for how many items, and what a filter's bits tell.
//
// The items of a block of a filter of B blocks holding n items follow Binomial(n, 1/B), and an
// absent item hits with (1 - (63/64)^k)^8 in a block of k items. ExpectedFpr is the exact mean of
// that: with q = 63/64, sum over j of (-1)^j C(8,j) (1 - (1 - q^j) / B)^n.
// Threads: pure functions. Cost: ExpectedFpr ~0.2 us, the searches 2-5 us.
// EffectiveMaxFilterBytes of seendb/policy.h is here as well, since it sizes layers.

#pragma once

#include <cstdint>

namespace seendb {

/// Share of a filter's false-positive budget left that a new layer takes; the rest is for its
/// successors. Less makes the first layer larger and those behind it smaller.
inline constexpr double kLayerShare = 0.6;

/// The false-positive rate to expect of `items` distinct items in `blocks` blocks; 0 for none.
double ExpectedFpr(uint64_t blocks, double items) noexcept;

/// The most items that keep ExpectedFpr at or under `fpr`, which is above 0.
uint64_t CapacityOf(uint64_t blocks, double fpr) noexcept;

/// The fewest blocks (at least 1) that keep ExpectedFpr at or under `fpr`, which is above 0;
/// kBlocksMax where none do.
uint64_t BlocksFor(uint64_t items, double fpr) noexcept;

/// The false-positive rate of this very filter.
double EstimateFpr(const uint8_t* bits, uint64_t blocks) noexcept;

/// Set bits / bits.
double Fill(const uint8_t* bits, uint64_t blocks) noexcept;

/// Distinct items inserted, estimated from the fill; good to about 1 % below a fill of 90 %.
uint64_t EstimateItems(const uint8_t* bits, uint64_t blocks) noexcept;

}  // namespace seendb
