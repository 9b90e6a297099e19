// filter/seen_filter.h: one user's seen filter in one bucket, as a value in memory.
//
// It begins as an exact sorted list of fingerprints. Beyond a limit it becomes Bloom layers sized
// by consumption: the first for the items expected by the end of the bucket, each later one from
// the fill speed and at least twice as large. When the bucket closes it is sealed: a list becomes
// one filter of exactly the right size, sparse layers are folded. Pure: no I/O, no clock; time
// enters as `as_of_ms`. Scalable layers after Almeida et al., "Scalable Bloom Filters" (2007),
// with the tightening taken as a share of what is left of the bucket's budget.
//
// Threads: a value. An item added is contained from then on; the one exception is the byte
// ceiling, where the oldest layer goes, which `dropped_layers` counts.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/hash.h"

namespace seendb {

/// What shapes a seen filter: its bucket's time span and its collection's policy.
struct FilterRules {
  double fpr = 0.0025;             ///< budget of this bucket: the window's, divided by the window
  uint32_t list_limit = 4096;      ///< items an open bucket keeps as a list
  uint64_t bytes_max = 256 << 10;  ///< ceiling of all layers and the list
  int64_t begin_ms = 0;            ///< of the bucket
  int64_t end_ms = 0;              ///< of the bucket, exclusive
  bool exact = false;              ///< lists for ever
};

/// Most layers a filter may have; more bytes than that many layers can't occur below the ceiling.
inline constexpr size_t kMaxLayers = 32;

/// Items that left the open list. `blocks == 0`: a frozen exact list (representation `exact` at
/// its ceiling) of `items` packed fingerprints; otherwise `blocks` Bloom blocks of 64 bytes.
struct Layer {
  uint32_t blocks = 0;
  uint32_t capacity = 0;  ///< items it was sized for
  uint32_t items = 0;     ///< distinct items inserted
  std::string bits;       ///< blocks * 64 or items * 6 bytes

  /// Whether the item was inserted (or, in Bloom blocks, may have been).
  bool Contains(Fingerprint fp) const;
};

/// See the head of this file.
struct SeenFilter {
  bool sealed = false;
  int64_t as_of_ms = 0;           ///< newest slot merged; 0 once sealed
  uint32_t dropped_layers = 0;    ///< that left at the ceiling
  std::vector<Layer> layers;      ///< oldest first
  std::vector<Fingerprint> list;  ///< ascending, unique; the exact tail once sealed

  /// Adds items (ascending, unique). Those present already take no room.
  void Add(std::span<const Fingerprint> items, const FilterRules& rules);
  /// Adds whole layers of one filter, each ORed into a layer of the same geometry that has room for
  /// both, or kept among the oldest. The same layers again change nothing.
  void AddLayers(std::vector<Layer> incoming, const FilterRules& rules);
  /// Re-encodes for a closed bucket. Idempotent; again after late items, a large tail is taken in.
  void Seal(const FilterRules& rules);
  /// The same after adding a bucket's last items: nothing is sized for more to come.
  void SealWith(std::span<const Fingerprint> items, const FilterRules& rules);
  /// Whether Seal would change anything.
  bool WantsSeal(const FilterRules& rules) const;

  /// Whether one layer has room for so many items, whatever layers there are below the ceiling.
  static bool FitALayer(uint64_t items, const FilterRules& rules);

  /// Membership by any layer or the list.
  bool Contains(Fingerprint fp) const;
  /// Distinct items, list and layers.
  uint64_t Items() const;
  /// Bytes of the layers' bits and the list.
  uint64_t Bytes() const;

 private:
  bool OrLayer(const Layer& incoming);
  void AddToList(std::span<const Fingerprint> items);
  void AddToLayers(std::span<const Fingerprint> items, const FilterRules& rules);
  void SpillList(const FilterRules& rules);
  void FreezeExact(const FilterRules& rules);
  void PushLayer(uint64_t capacity, const FilterRules& rules);
  void EnforceCeiling(uint64_t incoming_bytes, const FilterRules& rules);
  uint64_t ProjectedItems(uint64_t items, const FilterRules& rules) const;
  double BudgetLeft(const FilterRules& rules) const;
  void SealList(const FilterRules& rules);
  void FoldSparseLayers(const FilterRules& rules);
};

}  // namespace seendb
