#include "wire/lines.h"

namespace seendb::wire {

LineCutter::Found LineCutter::Next(std::string_view bytes, bool last, size_t* taken,
                                   std::string_view* line) {
  while (true) {
    const std::string_view rest = bytes.substr(*taken);
    const size_t end = rest.find('\n', searched_);
    const bool ends = end != std::string_view::npos || (last && !rest.empty());
    const size_t length = end != std::string_view::npos ? end : rest.size();
    if (skipping_) {
      *taken += end != std::string_view::npos ? end + 1 : rest.size();
      searched_ = 0;
      if (end == std::string_view::npos) return Found::kNeedsMore;
      skipping_ = false;
      continue;
    }
    if (length > line_bytes_) {
      *taken += end != std::string_view::npos ? end + 1 : length;
      skipping_ = end == std::string_view::npos;
      searched_ = 0;
      return Found::kTooLong;
    }
    if (!ends) {
      searched_ = rest.size();
      return Found::kNeedsMore;
    }
    *line = rest.substr(0, length);
    *taken += end != std::string_view::npos ? end + 1 : length;
    searched_ = 0;
    return Found::kLine;
  }
}

}  // namespace seendb::wire
