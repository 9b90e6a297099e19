// common/wire/media_type.h: which bodies the server reads.

#pragma once

#include <cstdint>
#include <string_view>

namespace seendb::wire {

/// What a Content-Type header says of a body.
enum class MediaType : uint8_t { kJson, kNdjson, kBinary, kOther };

/// The type; none given means JSON. A charset other than UTF-8 makes it kOther.
MediaType ParseMediaType(std::string_view header);
inline bool IsBinary(std::string_view header) {
  return ParseMediaType(header) == MediaType::kBinary;
}

}  // namespace seendb::wire
