#include "base/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace seendb {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080ULL;

}  // namespace

size_t Utf8SequenceLength(std::string_view text) noexcept {
  const auto* const p = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned lead = p[0];
  size_t length = 0;
  unsigned second_min = 0x80;
  unsigned second_max = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) second_min = 0xA0;
    if (lead == 0xED) second_max = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) second_min = 0x90;
    if (lead == 0xF4) second_max = 0x8F;
  }
  if (length == 0 || length > text.size() || p[1] < second_min || p[1] > second_max) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((p[i] & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

bool IsUtf8(std::string_view text) noexcept {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  size_t left = text.size();
  while (left > 0) {
    uint64_t word = 0;
    while (left >= sizeof(word)) {
      std::memcpy(&word, p, sizeof(word));
      if ((word & kHighBits) != 0) break;
      p += sizeof(word);
      left -= sizeof(word);
    }
    while (left > 0 && *p < 0x80) {
      ++p;
      --left;
    }
    if (left == 0) break;
    const size_t length = Utf8SequenceLength({reinterpret_cast<const char*>(p), left});
    if (length == 0) return false;
    p += length;
    left -= length;
  }
  return true;
}

bool IsAscii(std::string_view text) noexcept {
  unsigned char all = 0;  // one byte, so that the compiler can vectorize the loop
  for (const char c : text) all = static_cast<unsigned char>(all | static_cast<unsigned char>(c));
  return all < 0x80;
}

std::string_view Utf8Prefix(std::string_view text, size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0u) == 0x80u) --most;
  return text.substr(0, most);
}

}  // namespace seendb
