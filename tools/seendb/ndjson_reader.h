// seendb/ndjson_reader.h: plays out of NDJSON: one object a line, one play each.

#pragma once

#include <string>
#include <string_view>

#include "play_reader.h"

namespace seendb::tool {

/// One object a line; ids are strings or unsigned integers, times numbers or strings. Fields
/// beyond the three are ignored. Without given names each line is searched for the usual ones.
class NdjsonReader : public PlayReader {
 public:
  NdjsonReader(RecordReader::ReadFn read, const PlayColumns& columns)
      : PlayReader(std::move(read), RecordFormat{'\n', false}, columns) {}

 protected:
  bool Parse(std::span<char> record, PlayRow* row, std::string* error) override;

 private:
  std::string user_;
  std::string item_;
};

}  // namespace seendb::tool
