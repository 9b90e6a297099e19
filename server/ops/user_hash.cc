#include "ops/user_hash.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace seendb::ops {

uint64_t HashUser(const HashKey& key, const IdRef& user) noexcept {
  if (!user.is_number()) return SipHash(key, user.text());
  std::array<char, kMaxDecimalDigits> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), user.number()).ptr;
  return SipHash(key, {digits.data(), static_cast<size_t>(end - digits.data())});
}

std::string HashText(uint64_t hash) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace seendb::ops
