// tests/format/unit/format_testing.h: hex, the project's files, and the two attacks every value
// must withstand: a cut at each byte and each flipped bit.

#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "filter/hash.h"

namespace seendb::test {

/// "12 ab" in lines of sixteen bytes.
inline std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) text.push_back(i % 16 == 0 ? '\n' : ' ');
    text.push_back(kDigits[static_cast<uint8_t>(bytes[i]) >> 4]);
    text.push_back(kDigits[static_cast<uint8_t>(bytes[i]) & 15]);
  }
  return text;
}

/// The bytes of hex text; white space is skipped, and so is the rest of a line from `;` or `#` on.
inline std::string FromHex(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  std::string bytes;
  int high = -1;
  bool comment = false;
  for (const char c : text) {
    if (c == '\n') comment = false;
    if (c == ';' || c == '#') comment = true;
    if (comment || c == ' ' || c == '\n') continue;
    const int value = digit(c);
    if (value < 0) throw std::invalid_argument(std::string("not a hex digit: ") + c);
    if (high < 0) {
      high = value;
    } else {
      bytes.push_back(static_cast<char>(high * 16 + value));
      high = -1;
    }
  }
  if (high >= 0) throw std::invalid_argument("half a byte at the end");
  return bytes;
}

/// A file of the project; tests run in its root folder.
inline std::string ReadProjectFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can't read " + path + "; run in the project's root folder");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every proper prefix of a sound value, and one byte more, must be refused.
inline void ExpectCutsRefused(const std::string& value,
                              const std::function<bool(std::string_view)>& parse) {
  ASSERT_TRUE(parse(value));
  for (size_t size = 0; size < value.size(); ++size) {
    EXPECT_FALSE(parse(std::string_view(value).substr(0, size))) << "cut to " << size;
  }
  EXPECT_FALSE(parse(value + '\0'));
}

/// Every single flipped bit must be refused.
inline void ExpectFlipsRefused(const std::string& value,
                               const std::function<bool(std::string_view)>& parse) {
  ASSERT_TRUE(parse(value));
  for (size_t bit = 0; bit < value.size() * 8; ++bit) {
    std::string flipped = value;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(parse(flipped)) << "bit " << bit;
  }
}

/// The fingerprint of a text id.
inline Fingerprint Fp(const std::string& id) { return FingerprintOf(IdRef(id)); }

}  // namespace seendb::test
