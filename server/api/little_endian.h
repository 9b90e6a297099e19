// server/api/little_endian.h: numbers as bytes, the lowest first.

#pragma once

#include <cstdint>
#include <string>

namespace seendb::api {

/// Appends the lowest `bytes` bytes of `value`.
inline void PutLow(uint64_t value, unsigned bytes, std::string* out) {
  for (unsigned i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace seendb::api
