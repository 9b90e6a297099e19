// common/wire/lines.h: cuts a body that comes in pieces into lines, without copying.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace seendb::wire
