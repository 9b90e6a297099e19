#include "format/day_key.h"

#include <cassert>

namespace seendb {

std::string DayKeyPrefix(std::string_view user) {
  assert(!user.empty() && user.size() <= 255);
  std::string key{kDayKeys, static_cast<char>(user.size())};
  return key.append(user);
}

// A collection's name is ASCII.
std::string DayKeyEnd(std::string_view user) { return DayKeyPrefix(user).append(1, '\xff'); }

std::string DayKey(std::string_view user, std::string_view collection) {
  return DayKeyPrefix(user).append(collection);
}

bool ParseDayKey(std::string_view key, std::string_view* user, std::string_view* collection) {
  if (key.size() < 2 || !IsDayKey(key)) return false;
  const size_t size = static_cast<unsigned char>(key[1]);
  if (size == 0 || key.size() <= 2 + size) return false;
  *user = key.substr(2, size);
  *collection = key.substr(2 + size);
  return true;
}

}  // namespace seendb
