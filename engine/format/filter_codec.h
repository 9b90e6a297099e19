// format/filter_codec.h: the bytes of a seen filter, as stored value and as merge operand
// (format.md, "Seen filter"). One layout serves both: a delta is a filter that is all list.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/seen_filter.h"
#include "format/damage.h"

namespace seendb {

/// A layer, in place.
struct LayerView {
  const uint8_t* bits = nullptr;
  uint32_t blocks = 0, capacity = 0, items = 0;
  size_t bytes() const;
};

/// A seen filter read in place: borrows the value's bytes.
struct FilterView {
  bool sealed = false;
  int64_t as_of_ms = 0;
  uint32_t dropped_layers = 0;
  uint32_t layer_count = 0;
  std::array<LayerView, kMaxLayers> layers;
  const uint8_t* list = nullptr;  ///< packed, ascending
  uint32_t list_count = 0;
  std::string_view damage;  ///< section, empty where there is none

  /// Checks tag, checksum and lengths; false where the bytes are damaged. The list's order is not
  /// checked (see ListIsSorted). Cost: one pass of XXH3; no allocation.
  bool Parse(std::string_view value);
  /// Whether the list is strictly ascending; the writers check what readers rely on.
  bool ListIsSorted() const;
  /// A copy that can be changed. The damage section is left out.
  SeenFilter ToFilter() const;
  /// Appends the list's fingerprints.
  void AppendListTo(std::vector<Fingerprint>* out) const;
};

/// Writes a filter into `*out` (cleared first).
void EncodeFilter(const SeenFilter& filter, const DamageSet& damage, std::string* out);

/// Writes into `*out` (cleared first) the delta that a drain merges: items ascending and unique.
void EncodeDelta(int64_t as_of_ms, std::span<const Fingerprint> items, std::string* out);

}  // namespace seendb
