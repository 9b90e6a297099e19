// tests/support/poison.h: bytes that are no value: noise, cut short, flipped, and, worst, changed
// with a checksum that fits again.

#pragma once

#include <random>
#include <string>

#include "format/bytes.h"

namespace seendb {

/// `size` random bytes.
inline std::string Noise(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

/// A value with a few bytes changed, or cut short, or extended; the checksum no longer fits.
inline std::string Damaged(std::mt19937_64& random, std::string value) {
  switch (random() % 3) {
    case 0:
      value.resize(random() % value.size());
      break;
    case 1:
      value += Noise(random, 1 + random() % 9);
      break;
    default:
      value[random() % value.size()] ^= static_cast<char>(1 + random() % 255);
      break;
  }
  return value;
}

/// A value with bytes of its head changed and the checksum made to fit.
inline std::string Forged(std::mt19937_64& random, std::string value) {
  value.resize(value.size() < 5 ? 1 : value.size() - 4);
  const size_t head = std::min<size_t>(value.size(), 24);
  for (size_t i = 0; i <= random() % 4; ++i) {
    const size_t at = 1 + random() % head;
    if (at >= value.size()) {
      value += Noise(random, 1);
    } else {
      value[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
  }
  if (random() % 4 == 0) value.resize(1 + random() % value.size());
  Seal32(&value);
  return value;
}

/// A sound value as a newer version would write it: under the next tag.
inline std::string Newer(std::string value) {
  value.resize(value.size() - 4);
  ++value[0];
  Seal32(&value);
  return value;
}

}  // namespace seendb
