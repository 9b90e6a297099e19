// items/state.h: all that is known of one item, and how two such states join.
//
// A state is what a row of the database says, a merge operand (the state of an item of which
// nothing but one update is known), or a record of memory. Join is commutative, associative and
// idempotent: from whatever updates reach a store, in whatever order and however often, the same
// state comes out.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "items/value.h"

namespace seendb::items {

/// A field that was set or unset. Borrows the value's bytes.
struct Cell {
  uint16_t field = 0;  ///< its number in the schema
  bool unset = false;  ///< then `value` means nothing
  uint64_t version = 0;
  Value value;

  friend bool operator==(const Cell&, const Cell&) = default;
};

/// See the head of this file. Times are in ms since 1970.
struct State {
  uint64_t seen = 0;     ///< highest version of an update that did not delete; 0: there was none
  uint64_t floor = 0;    ///< what has a lower version is gone
  uint64_t time_ms = 0;  ///< when the newest update arrived
  uint64_t expires_version = 0;  ///< 0: nobody said anything
  uint64_t expires_ms = 0;       ///< 0: never
  bool lost = false;             ///< part of it was damaged on disk and is gone
  /// Ascending by field, none below the floor; no version is above `seen`.
  std::vector<Cell> cells;

  bool exists() const { return seen != 0 && seen >= floor; }
  /// The item is unknown, and its fields up to expires_version are gone.
  bool IsExpired(uint64_t now_ms) const { return expires_ms != 0 && expires_ms <= now_ms; }

  /// Takes in `other`, whose bytes it borrows from then on. Gives the number of things that `other`
  /// says with a lower version than this state had.
  uint64_t Join(const State& other);
  /// Drops what lies below the floor.
  void ApplyFloor();

  void Clear() { *this = State(); }
  friend bool operator==(const State&, const State&) = default;
};

/// Prepares an update that arrives at `now_ms` for the state that it is about to join: where the
/// item has expired, its fields up to that version are gone for good once the update gives it a new
/// time, and what the update says up to that version is gone too, as is all that it says of an item
/// that it makes expire in the past. Gives the number of cells dropped.
uint64_t ApplyExpiry(const State& before, uint64_t now_ms, State* update);

}  // namespace seendb::items
