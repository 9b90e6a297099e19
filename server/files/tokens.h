// server/files/tokens.h: who may do what: the bearer tokens of the setting tokens_file.
//
// The file is a JSON array of
//   {"name":"recommender","sha256":"<64 hex digits: the SHA-256 of the token>","role":"write",
//    "collections":["videos"],"expires":"2027-01-31T00:00:00Z","requests_per_s":500,
//    "decoded_bytes_per_s":1e7,"work_ms_per_s":500,"priority":"high","share":2}
// of which name, sha256 and role are needed. A token itself is nowhere but with its client.
// Whatever is wrong is refused with the pointer to it ("/3/role"), and changes nothing.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/tenants.h"
#include "admission/ticket.h"
#include "base/sync.h"
#include "seendb/status.h"

namespace seendb::files {

/// What a client may do. kWrite includes kRead; kAdmin and kFilters include both, and not each
/// other: the key of filters is for those alone who ask them in their own process.
enum class Role : uint8_t { kRead, kWrite, kAdmin, kFilters };
/// Whether who has the role `own` may do what asks for `needed`.
constexpr bool Includes(Role own, Role needed) {
  if (needed == Role::kAdmin || needed == Role::kFilters) return own == needed;
  return own >= needed;
}
/// "read", "write", "admin" or "filters".
std::string_view RoleName(Role role) noexcept;

using admission::Priority;

/// One entry of the file.
struct Token {
  std::string name;
  Role role = Role::kRead;
  std::vector<std::string> collections;  ///< that it reaches; empty: all, and the whole database
  int64_t expires_ms = 0;                ///< since 1970, from then on it is none; 0: never
  admission::TenantLimits limits;        ///< of what it may have a second
  /// Of its requests, and the most that they may ask for; unset: as the route has it, at most
  /// normal where a request asks for another.
  std::optional<Priority> priority;
  double share = 1;  ///< of the server under load, beside the shares of the others
  admission::Tenant* tenant = nullptr;  ///< its account; null: none is kept
  std::array<uint8_t, 32> digest{};     ///< the SHA-256 of the token

  /// Whether it may use the collection.
  bool Reaches(std::string_view collection) const;
  /// Whether it has ended at that time.
  bool Expired(int64_t now_ms) const { return expires_ms != 0 && expires_ms <= now_ms; }
  /// Whether it may do all that `other` may, for as long as either lasts.
  bool HasRightsOf(const Token& other) const;
};

/// A date and time that names its zone, in milliseconds since 1970; nothing for other texts.
std::optional<int64_t> ParseMoment(std::string_view text);

/// Most tokens in a file, and its most bytes.
inline constexpr size_t kMaxTokens = 1'000;
inline constexpr size_t kMaxTokensFileBytes = 1u << 20;

/// A file's tokens. Threads: any.
class TokenSet {
 public:
  using Digest = std::array<uint8_t, 32>;

  /// The entry of a token. Takes as long whether there is one or not. Cost: a SHA-256 and a
  /// comparison of 32 bytes for each entry.
  const Token* Find(std::string_view token) const;
  /// The entry of the token with that SHA-256.
  const Token* FindDigest(const Digest& digest) const;
  /// The entry of that name.
  const Token* FindName(std::string_view name) const;

  /// Whether `token` is an entry of this file itself.
  bool Has(const Token& token) const {
    return !tokens.empty() && !std::less<>()(&token, &tokens.front()) &&
           !std::less<>()(&tokens.back(), &token);
  }

  std::vector<Token> tokens;
  std::vector<Digest> digests;  ///< beside `tokens`
};

/// Reads the text of a file. kInvalidArgument: its field points at what is wrong.
/// Each token has its Tenant of `tenants`, where that is not null.
Result<std::shared_ptr<const TokenSet>> ReadTokens(std::string_view json,
                                                   admission::Tenants* tenants = nullptr);
/// The text of a file, of limited size. One that others may write is refused. kInvalidArgument,
/// kIOError.
Result<std::string> ReadTokensText(const std::string& path);
/// What is wrong with a text, as what is wrong with its file.
Status InFile(const std::string& path, const Status& fault);
/// Reads a file. One that others may write is refused. kInvalidArgument, kIOError.
Result<std::shared_ptr<const TokenSet>> LoadTokens(const std::string& path,
                                                   admission::Tenants* tenants = nullptr);

/// The tokens of now. Threads: any.
class TokenStore {
 public:
  /// Null: none are asked for.
  std::shared_ptr<const TokenSet> Current() const {
    const MutexLock lock(mutex_);
    return tokens_;
  }
  void Set(std::shared_ptr<const TokenSet> tokens) {
    const MutexLock lock(mutex_);
    tokens_ = std::move(tokens);
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::shared_ptr<const TokenSet> tokens_ GUARDED_BY(mutex_);
};

}  // namespace seendb::files
