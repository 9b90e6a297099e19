#include "ops/service_manager.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ops/log.h"

namespace seendb::ops {
namespace {

constexpr std::chrono::seconds kAskEvery{1};
constexpr int64_t kEndOpeningMs = 1000;

std::string OpeningStatus(Engine* engine) {
  if (engine == nullptr) return "STATUS=opening the database";
  const EngineStats stats = engine->Stats();
  return "STATUS=opening the database: " + std::to_string(stats.shards_open) + " of " +
         std::to_string(stats.shards_open + stats.shards_opening) + " shards are open";
}

/// 0, or an errno.
int SendDatagram(std::string_view path, std::string_view text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // a name that is in no folder
  const size_t length = offsetof(sockaddr_un, sun_path) + path.size();
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const timeval most{.tv_sec = 1, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
  const ssize_t sent =
      sendto(fd, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address),
             static_cast<socklen_t>(length));
  const int failed = sent < 0 ? errno : 0;
  close(fd);
  return failed;
}

}  // namespace

void TellServiceManager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return;
  if (const int failed = SendDatagram(path, state); failed != 0) {
    Log(LogLevel::kWarn, "service_manager_not_told",
        {{"socket", path}, {"state", state}, {"error", std::generic_category().message(failed)}});
  }
}

void ServiceManager::Opening(std::function<Engine*()> engine) {
  told_ = OpeningStatus(nullptr);
  TellServiceManager(told_);
  opening_.Start("opening", kAskEvery, [this, engine = std::move(engine)] {
    std::string status = OpeningStatus(engine());
    if (status == told_) return;
    TellServiceManager(status);
    told_ = std::move(status);
  });
}

void ServiceManager::Ready(std::string_view address) {
  EndOpening();
  TellServiceManager("READY=1\nSTATUS=serving at " + std::string(address));
}

void ServiceManager::Stopping() {
  EndOpening();
  TellServiceManager("STOPPING=1\nSTATUS=stopping");
}

void ServiceManager::EndOpening() { static_cast<void>(opening_.Stop(kEndOpeningMs)); }

}  // namespace seendb::ops
