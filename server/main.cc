// seendb-server: begins the parts of the process and ends them. The port opens first; the database
// is opened and replayed behind it; then one line on stdout says where it listens. SIGTERM or
// SIGINT: no new requests, those in flight are finished, everything is synced, exit 0.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api/audit.h"
#include "check_config.h"
#include "descriptors.h"
#include "doors.h"
#include "load_watch.h"
#include "ops/config.h"
#include "ops/exit_codes.h"
#include "ops/log.h"
#include "ops/private_process.h"
#include "process.h"
#include "server_watch.h"
#include "version.h"

namespace seendb {
namespace {

using ops::Log;
using ops::LogLevel;

/// How long a node of a cluster that starts lets connections wait.
constexpr std::chrono::seconds kHeldMost{10};

/// The control thread: runs a process once, from its first signal to its last.
class Control {
 public:
  explicit Control(const ops::Config& config)
      : config_(config),
        process_(config_, &io_),
        load_watch_(&io_, config_, ThreadsOf(config_), &process_.context().admission),
        watch_(&io_, &process_.secrets()),
        signals_(io_, SIGTERM, SIGINT),
        hangups_(io_, SIGHUP),
        leave_timer_(io_),
        admit_timer_(io_) {}

  int Run() {
    if (const std::optional<int> code = process_.Prepare()) return *code;
    if (!OpenDoors(config_, &process_.listener())) return ops::kExitFailure;
    process_.manager().Opening([this] { return process_.engine(); });
    if (const std::string& exposed = process_.context().exposed; !exposed.empty()) {
      Log(LogLevel::kWarn, "exposed", {{"problem", exposed}});
    }
    process_.listener().Start(/*held=*/process_.is_node());
    AdmitLater();
    RenewOnHangup();
    load_watch_.Start();
    Log(LogLevel::kInfo, "opening",
        {{"db", config_.db}, {"listen", process_.listener().address()}});
    AwaitSignal();
    std::promise<Status> opened;
    opened_ = opened.get_future();
    std::thread opener([this, &opened] {
      const Status status = process_.Open();
      opened.set_value(status);
      boost::asio::post(io_, [this, status] { Opened(status); });
    });
    io_.run();
    const int code = Shutdown();  // does not return while the engine opens for ever
    opener.join();
    return code;
  }

 private:
  /// A node that starts makes clients wait rather than fail, until it knows whom to ask.
  void AdmitLater() {
    admit_timer_.expires_after(kHeldMost);
    admit_timer_.async_wait(
        [this](const boost::system::error_code&) { process_.listener().Admit(); });
  }

  void RenewOnHangup() {
    hangups_.async_wait([this](const boost::system::error_code& ec, int) {
      if (ec) return;
      process_.secrets().Renew(/*all=*/true);
      load_watch_.Reload();
      if (const auto& audit = process_.context().audit) audit->Reopen();
      RenewOnHangup();
    });
  }

  void Opened(const Status& status) {
    if (stopping_) return;
    if (!status.ok()) {
      Log(LogLevel::kError, "open_failed",
          {{"db", config_.db},
           {"code", StatusCodeName(status.code())},
           {"error", status.message()}});
      exit_code_ = ops::ExitCodeOf(status.code());
      return io_.stop();
    }
    process_.Start();
    watch_.Start([this] { return process_.Problems(); }, process_.told());
  }

  void AwaitSignal() {
    signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
      if (!ec) Signalled(signal);
    });
  }

  /// With a delay, /readyz says so before requests are refused, so that whoever sends them can look
  /// for another server. A second signal cuts it short.
  void Signalled(int signal) {
    const int64_t delay_ms = config_.limits.shutdown_delay_ms;
    const bool leaves = process_.context().health->phase() == ops::Phase::kReady && delay_ms > 0;
    Log(LogLevel::kInfo, leaves ? "leaving" : "stopping", {{"signal", signal}});
    process_.Depart();
    if (!leaves) return StopNow();
    process_.context().health->Set(ops::Phase::kLeaving);
    leave_timer_.expires_after(std::chrono::milliseconds(delay_ms));
    leave_timer_.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) StopNow();
    });
    AwaitSignal();
  }

  void StopNow() {
    stopping_ = true;
    process_.context().health->Set(ops::Phase::kStopping);
    io_.stop();
  }

  int Shutdown() {
    process_.context().health->Set(ops::Phase::kStopping);
    process_.manager().Stopping();
    process_.Leave();
    const int64_t grace_ms = config_.limits.shutdown_ms;
    if (opened_.wait_for(std::chrono::milliseconds(grace_ms)) != std::future_status::ready) {
      Log(LogLevel::kWarn, "stopped_while_opening");
      _exit(process_.SyncAtOnce().ok() ? ops::kExitOk : ops::kExitFailure);
    }
    if (const auto running = process_.Stop(grace_ms)) {
      // An engine can't be closed under a running call; synced, it can be left as it is.
      Log(LogLevel::kWarn, "work_cut_off", {{"part", *running}});
      _exit(process_.SyncAtOnce().ok() ? ops::kExitOk : ops::kExitFailure);
    }
    if (process_.close_failed()) exit_code_ = ops::kExitFailure;
    Log(LogLevel::kInfo, "stopped", {{"exit_code", exit_code_}});
    return exit_code_;
  }

  const ops::Config& config_;
  boost::asio::io_context io_;
  Process process_;
  LoadWatch load_watch_;
  ServerWatch watch_;
  boost::asio::signal_set signals_, hangups_;
  boost::asio::steady_timer leave_timer_, admit_timer_;
  std::future<Status> opened_;
  bool stopping_ = false;
  int exit_code_ = ops::kExitOk;
};

}  // namespace
}  // namespace seendb

int main(int argc, char** argv) {
  const seendb::ops::CommandLine line = seendb::ops::ReadCommandLine(
      argc, argv, std::string(seendb::kServerVersion) + " (" + seendb::kServerCommit + ")");
  if (!line.config) {
    std::fputs(line.output.c_str(), line.exit_code == 0 ? stdout : stderr);
    return line.exit_code;
  }
  if (line.check_config) return seendb::CheckConfig(*line.config);
  std::signal(SIGPIPE, SIG_IGN);
  seendb::ops::Config config = *line.config;
  seendb::ops::StartLog(config.log_level);
  seendb::ops::KeepPrivate(config.core_dumps);  // what people watched, and keys
  seendb::FitConnections(&config.limits);
  return seendb::Control(config).Run();
}
