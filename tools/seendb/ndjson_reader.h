// seendb/ndjson_reader.h: plays out of NDJSON: one object a line, one play each.

#pragma once

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
  NdjsonReader(RecordReader::ReadFn read, const PlayColumns& columns)
      : PlayReader(std::move(read), RecordFormat{'\n', false}, columns) {
    item_names_.assign(columns_.item_names.begin(), columns_.item_names.end());
    if (item_names_.empty()) item_names_.assign(kItemNames.begin(), kItemNames.end());
  }

  std::string ColumnsText() const override {
    const auto name = [](const std::string& given, const char* what) {
      return given.empty() ? std::string("the usual names") : std::string(what) + " " + given;
    };
    std::string text = (columns_.one_user.empty() ? "user from " + name(columns_.user, "field")
                                                  : "user " + columns_.one_user) +
                       ", item from " + name(columns_.item, "field");
    if (!columns_.item_after.empty()) text += " behind \"" + columns_.item_after + "\"";
    return text +
           (columns_.now ? ", all played now" : ", time from " + name(columns_.time, "field"));
  }

 protected:
  bool Parse(std::span<char> record, PlayRow* row, std::string* error) override;

 private:
  bool ReadWatch(const nlohmann::json& object, std::string_view text, PlayRow* row,
                 std::string* error);

  std::vector<std::string_view> item_names_;  // of columns_, or the usual ones
  std::string user_;
  std::string item_;
  std::string device_;
  std::string fields_;
};

}  // namespace seendb::tool
