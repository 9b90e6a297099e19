#include "doors.h"

#include <cstdio>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb {

bool OpenDoors(const ops::Config& config, http::Listener* listener) {
  const auto open = [listener](const std::string& at, http::Door door) {
    const auto address = http::ParseHostPort(at);
    return listener->Open(address->first, address->second, door);
  };
  std::optional<std::string> error = open(config.listen, http::Door::kMain);
  if (!error && !config.admin_listen.empty()) {
    error = open(config.admin_listen, http::Door::kAdmin);
  }
  if (!error && !config.unix_listen.empty()) error = listener->OpenUnix(config.unix_listen);
  if (error) ops::Log(ops::LogLevel::kError, "listen_failed", {{"error", *error}});
  return !error;
}

void TellDoors(const ops::Config& config, const http::Listener& listener) {
  const char* const scheme = config.tls ? "https" : "http";
  std::printf("listening on %s://%s\n", scheme, listener.address().c_str());
  if (const std::string& admin = listener.address(http::Door::kAdmin); !admin.empty()) {
    std::printf("admin listening on %s://%s\n", scheme, admin.c_str());
  }
  if (const std::string& path = listener.address(http::Door::kUnix); !path.empty()) {
    std::printf("unix listening on unix:%s\n", path.c_str());
  }
  std::fflush(stdout);
}

}  // namespace seendb
