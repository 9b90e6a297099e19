// sets/set_rows.h: what lies in the RocksDB of a store: the format and the pieces of sets, where
// these come from a log what is known of it (log_rows.h), and whether a row is sound.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sets/memory_set.h"
#include "store/beside_rows.h"

namespace seendb::sets {

inline constexpr char kFormatKey[] = "format";
inline constexpr char kFormat[] = "1";

/// The pieces of one version of a set, as they are read. Owns their bytes.
struct ReadVersion {
  Version version;
  std::vector<std::string> values;
  uint32_t pieces = 0;  // of the version, as its pieces say
  bool damaged = false;

  bool whole() const { return !damaged && values.size() == pieces && pieces > 0; }
};

/// Takes the pieces of one set, by version and number ascending.
class SetReader {
 public:
  void Take(std::string_view value);

  /// The newest version that is whole, or else what there is of the newest.
  const ReadVersion& Best() const {
    return newest_.whole() || whole_.values.empty() ? newest_ : whole_;
  }

 private:
  ReadVersion newest_, whole_;
};

/// See the base.
class SetRows final : public BesideRows {
 public:
  std::vector<rocksdb::ColumnFamilyDescriptor> Families() const override;
  std::optional<RowFault> Take(size_t family, std::string_view key,
                               std::string_view value) override;
  std::vector<RowFault> End() override;
  bool survives_loss(size_t family, std::string_view key) const override;
  bool makes_store() const override { return true; }

 private:
  static std::optional<RowFault> TakeOfLog(std::string_view key, std::string_view value);
  /// The set of which no more pieces come.
  void EndSet();

  std::string name_;
  SetReader reader_;
  std::vector<RowFault> short_;
};

}  // namespace seendb::sets
