// common/wire/lines.h: cuts a body that comes in pieces into lines, without copying, and numbers
// them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::wire {

/// Finds lines in bytes that grow at the back and are taken at the front. Threads: one at a time.
class LineCutter {
 public:
  /// What was found.
  enum class Found : uint8_t {
    kLine,      ///< a line (maybe empty), without its end
    kTooLong,   ///< a line over the limit; its bytes are skipped
    kNeedsMore  ///< no further whole line in these bytes
  };

  /// Lines longer than `line_bytes` are skipped.
  explicit LineCutter(size_t line_bytes) : line_bytes_(line_bytes) {}

  /// The next line of `bytes`, beginning at `*taken`, which is moved behind it. With `last`, the
  /// end of `bytes` ends a line. After kNeedsMore the bytes from `*taken` on must come again, in
  /// front of new ones.
  Found Next(std::string_view bytes, bool last, size_t* taken, std::string_view* line);

 private:
  const size_t line_bytes_;
  size_t searched_ = 0;    // bytes behind *taken known to hold no line end
  bool skipping_ = false;  // inside a line that is too long
};

/// Numbers such lines, and passes over blank ones. Threads: one at a time.
class NumberedLines {
 public:
  /// Lines longer than `line_bytes` are refused.
  explicit NumberedLines(size_t line_bytes) : line_bytes_(line_bytes), lines_(line_bytes) {}

  /// Calls `take(number, line)`, the number from 0 on, for each whole line of `bytes`, and
  /// `refuse(number, status)` for each that is too long, until `failed()` is true. `bytes`, `last`:
  /// as LineCutter::Next. The bytes that are done with.
  template <typename Failed, typename Take, typename Refuse>
  size_t Read(std::string_view bytes, bool last, const Failed& failed, const Take& take,
              const Refuse& refuse) {
    size_t taken = 0;
    std::string_view line;
    while (!failed()) {
      const LineCutter::Found found = lines_.Next(bytes, last, &taken, &line);
      if (found == LineCutter::Found::kNeedsMore) break;
      const uint64_t number = next_++;
      if (found == LineCutter::Found::kTooLong) {
        refuse(number,
               Status::InvalidArgument("line over " + std::to_string(line_bytes_) + " bytes"));
      } else if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
        take(number, line);
      }
    }
    return taken;
  }

 private:
  const size_t line_bytes_;
  LineCutter lines_;
  uint64_t next_ = 0;
};

}  // namespace seendb::wire
