// text/base64.h: bytes as text (RFC 4648, with padding).

#pragma once

#include <string>
#include <string_view>

namespace seendb::text {

/// Precondition: below 1 GiB.
std::string Base64Of(std::string_view bytes);

}  // namespace seendb::text
