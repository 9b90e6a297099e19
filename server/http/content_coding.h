// server/http/content_coding.h: the content codings (RFC 9110, 8.4) of bodies and answers: which
// one a request's body has, and which one its answer gets. Decoder and Encoder do the work.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace seendb::http {

/// How a body is compressed.
enum class Coding : uint8_t { kIdentity, kGzip, kZstd };

/// What a refusal of another Content-Encoding names as accepted.
inline constexpr std::string_view kCodingsAccepted = "gzip, zstd and identity";

/// The name as in Content-Encoding ("gzip").
std::string_view CodingName(Coding coding) noexcept;

/// The coding that a Content-Encoding header names: empty or "identity", "gzip" or "x-gzip",
/// "zstd". Nothing for any other one, and for lists.
std::optional<Coding> ParseContentEncoding(std::string_view header) noexcept;

/// The coding that an Accept-Encoding header (empty: none) likes best: the highest q that is not 0,
/// zstd before gzip where both have it. kIdentity where neither is asked for, or identity is liked
/// better. `*` stands for gzip. A member that is malformed counts as not there.
Coding ChooseCoding(std::string_view accept_encoding) noexcept;

}  // namespace seendb::http
