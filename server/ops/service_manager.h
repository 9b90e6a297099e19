// server/ops/service_manager.h: tells systemd how far the server is, as sd_notify(3) does.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ops/periodic.h"
#include "seendb/engine.h"

namespace seendb::ops {

/// Sends one datagram, such as "READY=1", to the socket that the variable NOTIFY_SOCKET names (a
/// path, or a name behind '@'). Does nothing where the variable is not set: the server was not
/// started by a unit of Type=notify. Logs what fails; waits a second at most. Threads: any.
void TellServiceManager(std::string_view state);

/// Keeps a unit's state and `systemctl status` true of this process. Threads: one.
class ServiceManager {
 public:
  /// Tells the status of the opening, now and when more shards are open: each second another thread
  /// asks `engine`, until Ready or Stopping. It is null as long as the number of shards is not
  /// known.
  void Opening(std::function<Engine*()> engine);
  /// The unit has started: the server serves at `address`.
  void Ready(std::string_view address);
  /// The server is stopping, whatever made it.
  void Stopping();

 private:
  void EndOpening();

  std::string told_;  // by opening_ alone once it has started
  Periodic opening_;
};

}  // namespace seendb::ops
