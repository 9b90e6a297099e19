// seendb/ndjson_reader.h: plays out of NDJSON: one object a line, one play each.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "play_reader.h"

namespace seendb::tool {

/// One object a line; ids are strings or unsigned integers, times and spans numbers or strings, the
/// device a string, the opaque fields an object, kept as it is written. What a line says of the
/// player it may leave out, or say null. Other fields are ignored. Without given names each line is
/// searched for the usual ones.
class NdjsonReader : public PlayReader {
 public:
  NdjsonReader(RecordReader::ReadFn read, const PlayColumns& columns);

  std::string ColumnsText() const override;

 protected:
  bool Parse(std::span<char> record, PlayRow* row, std::string* error) override;

 private:
  /// Names of columns, and of the item those that are tried.
  struct Form {
    ColumnNames names;
    std::vector<std::string_view> items;  // views `names`, or the usual ones
  };

  const Form& FormOf(const nlohmann::json& object) const;
  bool ReadItem(const nlohmann::json& object, const Form& form, std::string* error);
  bool ReadWatch(const nlohmann::json& object, const ColumnNames& names, std::string_view text,
                 PlayRow* row, std::string* error);

  std::vector<std::unique_ptr<const Form>> forms_;  // of columns_ and its others
  std::string user_;
  std::string item_;
  std::string device_;
  std::string fields_;
};

}  // namespace seendb::tool
