#include "text/sha256.h"

#include <algorithm>
#include <array>
#include <new>

#include <openssl/evp.h>

namespace seendb::text {

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

// These calls fail where memory is short, or where the library has no SHA-256: none goes on then.
Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
}

void Sha256::Add(std::string_view bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) throw std::bad_alloc();
}

std::string Sha256::Digits() {
  static constexpr char kHex[] = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) throw std::bad_alloc();
  std::string digits;
  for (unsigned int i = 0; i < size; ++i) {
    digits += kHex[bytes.at(i) >> 4];
    digits += kHex[bytes.at(i) & 15];
  }
  return digits;
}

bool IsSha256(std::string_view text) {
  return text.size() == kSha256Digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace seendb::text
