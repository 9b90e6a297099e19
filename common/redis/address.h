// redis/address.h: where a Redis is, out of a URL, and how one logs in.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/client_stream.h"
#include "seendb/status.h"

namespace seendb::redis {

/// Where a Redis (or Valkey) listens, and as whom it is asked.
struct Address {
  net::StreamTarget target;
  std::string user;      ///< of an ACL; empty: the default user
  std::string password;  ///< empty: none. In no message and no text
  uint32_t database = 0;

  /// The URL without the password and the user: for messages, logs and answers.
  std::string ToText() const;
};

/// Reads "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]", the same with rediss (TLS), or
/// "unix:PATH[?db=N]" (unix://PATH too). User and password may have %XX; HOST may be a bracketed
/// IPv6 address; the port is 6379 by default. kInvalidArgument, whose message begins with
/// `named_by`, the flag or setting that the URL is from, and has no part of the URL before the `@`.
Result<Address> ParseAddress(std::string_view url, std::string_view named_by);

/// `text` with what stands before the `@` of each URL of Redis in it taken out: for messages that
/// repeat what somebody wrote.
std::string HideCredentials(std::string_view text);

/// The slot, 0 to 16,383, of a key in a Redis Cluster: CRC16 (XMODEM) of the key, or of what stands
/// between its first `{` and the next `}`, if that is not empty.
uint16_t SlotOf(std::string_view key) noexcept;
inline constexpr uint16_t kSlots = 16'384;

}  // namespace seendb::redis
