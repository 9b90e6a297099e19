// tests/fuzz/sealed_input.h: bytes that get past tag and checksum. A fuzzer finds no checksum, so
// the first byte of an input says whether the rest is a whole value (even) or a body (odd), which
// is given its tag and checksum here.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes.h"

namespace seendb::fuzz {

/// The value an input stands for; empty for an empty input.
inline std::string ValueOf(std::string_view input, Tag tag) {
  if (input.empty()) return {};
  const bool is_body = (static_cast<uint8_t>(input[0]) & 1) != 0;
  input.remove_prefix(1);
  if (!is_body) return std::string(input);
  std::string value(1, static_cast<char>(tag));
  value.append(input);
  Seal32(&value);
  return value;
}

}  // namespace seendb::fuzz
