// shard/history_cursor.h: where a page of history ended, as the text a client hands back.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace seendb {

/// The last entry of a page, and how many entries of each collection were shown up to it: beyond
/// max_entries none is.
struct HistoryCursor {
  int64_t at_ms = 0;
  std::string collection, item;
  std::map<std::string, uint64_t, std::less<>> shown;

  /// Text that is safe in a URL.
  std::string ToText() const;
  /// False where the text is no cursor.
  bool FromText(std::string_view text);
};

}  // namespace seendb
