// format/damage.h: what a merge can't read, set aside instead of failing it: bytes that failed a
// check, and values of newer versions.
//
// A set of at most kDamageKept entries ordered by hash; of more, those with the smallest hashes
// stay and `overflow` says so. So the union of two sets is associative, commutative and
// idempotent, like everything a merge does. Values of newer versions are kept whole, all of them:
// the software that knows them reads them there.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes.h"

namespace seendb {

/// Inserts `value` in its place, unless it is there: the union of values kept whole.
void InsertOnce(std::vector<std::string>* ascending, std::string_view value);

/// Appends values kept whole (at least one), and reads them again; false where they are malformed.
void PutNewer(const std::vector<std::string>& newer, std::string* out);
bool ReadNewer(Reader* in, std::vector<std::string>* newer);
/// The same in place.
bool ReadNewer(Reader* in, std::vector<std::string_view>* newer);

/// Entries kept a value, and bytes kept an entry.
inline constexpr size_t kDamageKept = 8;
inline constexpr size_t kDamageBytes = 256;

/// One damaged operand or value.
struct DamageEntry {
  uint64_t hash = 0;    ///< of all its bytes
  uint64_t length = 0;  ///< of all its bytes
  std::string prefix;   ///< its first kDamageBytes
};

/// See the head of this file.
struct DamageSet {
  bool overflow = false;
  std::vector<DamageEntry> entries;  ///< ascending by hash
  std::vector<std::string> newer;    ///< ascending, each once

  bool empty() const { return entries.empty() && newer.empty(); }
  /// Sets `bytes` aside.
  void Add(std::string_view bytes);
  /// Takes in all of `other`.
  void Join(const DamageSet& other);
  /// Appends the section's bytes.
  void AppendTo(std::string* out) const;
  /// Reads a section; false where it is malformed.
  static bool Read(std::string_view section, DamageSet* damage);

 private:
  void Insert(DamageEntry entry);
};

}  // namespace seendb
