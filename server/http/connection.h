// server/http/connection.h: what is known of a connection, one for all its requests.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace seendb::http {

/// Which of the listener's doors a connection came in by.
enum class Door : uint8_t { kMain, kAdmin, kUnix };
/// How many there are.
inline constexpr size_t kDoors = 3;

/// See the head of this file. Threads: those of one request at a time.
struct Connection {
  Door door = Door::kMain;
  int family = 0;         ///< AF_INET, AF_INET6 or AF_UNIX
  bool secure = false;    ///< under TLS
  std::string peer = {};  ///< the client's address, or "unix"; empty: it was gone at once
  std::string certificate_name =
      {};  ///< common name of the client's verified certificate; empty: none
  std::shared_ptr<const void> known =
      {};  ///< the application's own: who the client has shown to be
};

}  // namespace seendb::http
