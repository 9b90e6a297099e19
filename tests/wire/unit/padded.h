// tests/wire/unit/padded.h: a body as the listener hands it over, with bytes behind it that
// may be read but mean nothing.

#pragma once

#include <string>
#include <string_view>

#include "wire/json_read.h"

namespace seendb::test {

/// Owns a body and its padding; the padding is hostile on purpose.
class Padded {
 public:
  explicit Padded(std::string_view body) : bytes_(body), size_(body.size()) {
    for (size_t i = 0; i < wire::kPadding; ++i) bytes_ += "\",]}9"[i % 5];
  }
  std::string_view view() const { return std::string_view(bytes_).substr(0, size_); }

 private:
  std::string bytes_;
  size_t size_;
};

}  // namespace seendb::test
