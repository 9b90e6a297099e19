#include "seendb/id.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "base/utf8.h"

namespace seendb {
namespace {

constexpr bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }

/// True when all eight bytes are ASCII digits; then `*value` is the number they spell.
bool ParseEightDigits(const char* text, uint64_t* value) noexcept {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) {  // little-endian by construction, one load where it is so
    word |= static_cast<uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  }
  constexpr uint64_t kHighNibbles = 0xF0F0F0F0F0F0F0F0ULL;
  constexpr uint64_t kZeros = 0x3030303030303030ULL;
  constexpr uint64_t kSixes = 0x0606060606060606ULL;
  if ((word & kHighNibbles) != kZeros || ((word + kSixes) & kHighNibbles) != kZeros) return false;
  word -= kZeros;
  word = word * 10 + (word >> 8);  // pairs, in the even bytes
  constexpr uint64_t kPairs = 0x000000FF000000FFULL;
  constexpr uint64_t kEvenWeights = 100 + (1'000'000ULL << 32);
  constexpr uint64_t kOddWeights = 1 + (10'000ULL << 32);
  *value = ((word & kPairs) * kEvenWeights + ((word >> 16) & kPairs) * kOddWeights) >> 32;
  return true;
}

/// True when `text` is a canonical decimal that fits 64 bits; then `*number` is its value.
bool ParseCanonicalDecimal(std::string_view text, uint64_t* number) noexcept {
  if (text.empty() || text.size() > kMaxDecimalDigits || !IsDigit(text[0])) return false;
  if (text[0] == '0' && text.size() > 1) return false;
  uint64_t value = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t eight = 0;
    if (!ParseEightDigits(text.data() + i, &eight)) return false;
    value = value * 100'000'000 + eight;
  }
  for (; i < text.size(); ++i) {
    if (!IsDigit(text[i])) return false;
    const auto digit = static_cast<uint64_t>(text[i] - '0');
    if (i + 1 == kMaxDecimalDigits && value > (std::numeric_limits<uint64_t>::max() - digit) / 10) {
      return false;
    }
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

}  // namespace

void IdRef::MakeNumber() noexcept {
  uint64_t number = 0;
  if (ParseCanonicalDecimal(text(), &number)) *this = IdRef(number);
}

Status IdRef::Validate() const {
  if (is_number_) return Status::Ok();
  if (size_ == 0) return Status::InvalidArgument("id is empty");
  if (size_ > kMaxIdBytes) {
    return Status::InvalidArgument("id is longer than " + std::to_string(kMaxIdBytes) + " bytes");
  }
  if (!IsUtf8(text())) return Status::InvalidArgument("id is not valid UTF-8");
  return Status::Ok();
}

void IdRef::AppendTo(std::string* out) const {
  if (!is_number_) {
    out->append(text());
    return;
  }
  char digits[kMaxDecimalDigits];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number_).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

std::string IdRef::ToString() const {
  std::string text;
  AppendTo(&text);
  return text;
}

}  // namespace seendb
