// server/load_watch.h: keeps the admission layer going: its settings, the level of degradation,
// and what the log says of an overload. Reads the settings again, and says in the log what changed.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "admission/admission.h"
#include "ops/config.h"

namespace seendb {

/// See the head of this file. Threads: the one that runs `io`.
class LoadWatch {
 public:
  /// All are borrowed. Warns of variables that set nothing. `threads`: I/O threads, among which the
  /// memory of bodies is divided.
  LoadWatch(boost::asio::io_context* io, const ops::Config& config, size_t threads,
            admission::Admission* admission);

  /// Ticks from now on.
  void Start();
  /// Reads all settings anew, takes the section "admission", and logs what changed: what was taken,
  /// and what a restart will take. Settings that do not fit are logged, and change nothing.
  void Reload();

 private:
  void Use(admission::Settings settings);
  void Tick();

  const ops::Config& config_;
  const size_t threads_;
  ops::Json read_;  // the settings as they were read last
  admission::Admission& admission_;
  boost::asio::steady_timer timer_;
};

}  // namespace seendb
