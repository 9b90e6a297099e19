#include "load_watch.h"

#include <algorithm>
#include <chrono>

#include "ops/log.h"

namespace seendb {
namespace {

using ops::Log;
using ops::LogLevel;

constexpr std::chrono::milliseconds kTickEvery{100};

double Seconds(admission::Duration of) { return std::chrono::duration<double>(of).count(); }

}  // namespace

LoadWatch::LoadWatch(boost::asio::io_context* io, const ops::Config& config, size_t threads,
                     admission::Admission* admission)
    : config_(config), threads_(threads), admission_(*admission), timer_(*io) {
  Use(config.admission);
}

/// Of the memory for bodies one tenant may hold half, as long as others are there.
void LoadWatch::Use(admission::Settings settings) {
  const http::Limits& limits = config_.limits;
  settings.tenant_bytes = std::max(limits.body_bytes, limits.inflight_bytes / 2 / threads_);
  admission_.Set(settings);
}

void LoadWatch::Start() {
  timer_.expires_after(kTickEvery);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    Tick();
    Start();
  });
}

void LoadWatch::Reload() {
  if (config_.file.empty()) return;
  ops::Config read;
  if (const Status status = ops::ReadConfigFile(config_.file, &read); !status.ok()) {
    Log(LogLevel::kError, "settings_refused",
        {{"config", config_.file}, {"error", status.ToString()}});
    return;
  }
  Use(read.admission);
  Log(LogLevel::kInfo, "admission_settings", {{"config", config_.file}});
}

void LoadWatch::Tick() {
  const admission::Time now = std::chrono::steady_clock::now();
  const admission::Admission::Change change = admission_.Tick(now);
  if (change.began) {
    Log(LogLevel::kWarn, "overload",
        {{"load", admission_.Load(/*full=*/true, now)}, {"level", admission_.degrade().level()}});
  }
  if (change.level) Log(LogLevel::kInfo, "degrade_level", {{"level", *change.level}});
  if (change.ended) {
    Log(LogLevel::kWarn, "overload_over",
        {{"lasted_s", Seconds(change.lasted)},
         {"refused", change.refused},
         {"answered", change.answered},
         {"degraded", change.degraded}});
  }
}

}  // namespace seendb
