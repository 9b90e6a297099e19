// text/sha256.h: the SHA-256 of bytes that come piece by piece (FIPS 180-4), as text.

#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's

namespace seendb::text {

/// The number of hexadecimal digits of a SHA-256.
inline constexpr size_t kSha256Digits = 64;

/// Threads: one.
class Sha256 {
 public:
  Sha256();
  void Add(std::string_view bytes);
  /// The checksum of all that was added, in lower-case hexadecimal digits. Nothing may be added
  /// afterwards.
  std::string Digits();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// Whether the text could be one: so many lower-case hexadecimal digits.
bool IsSha256(std::string_view text);

}  // namespace seendb::text
