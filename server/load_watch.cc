#include "load_watch.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "ops/log.h"
#include "ops/settings_text.h"

namespace seendb {
namespace {

using ops::Log;
using ops::LogLevel;

constexpr std::chrono::milliseconds kTickEvery{100};
constexpr char kSection[] = "admission";

void TellUnknownVariables(const ops::Config& config) {
  for (const std::string& why : config.given.unknown) {
    Log(LogLevel::kWarn, "unknown_variable", {{"problem", why}});
  }
}

double Seconds(admission::Duration of) { return std::chrono::duration<double>(of).count(); }

}  // namespace

LoadWatch::LoadWatch(boost::asio::io_context* io, const ops::Config& config, size_t threads,
                     admission::Admission* admission)
    : config_(config),
      threads_(threads),
      read_(config.given.document),
      admission_(*admission),
      timer_(*io) {
  TellUnknownVariables(config);
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
  const ops::GivenSettings& start = config_.given;
  ops::Config config;
  const Status status = ops::ReadAllSettings(start.file, ops::OwnVariables(), start.flags, &config);
  if (!status.ok()) {
    Log(LogLevel::kError, "settings_refused",
        {{"config", start.file}, {"error", status.ToString()}});
    return;
  }
  TellUnknownVariables(config);
  Use(config.admission);
  const auto is_ours = [](const std::string& key) { return key.starts_with(kSection); };
  std::vector<std::string> taken = ops::ChangedSettings(read_, config.given.document);
  std::erase_if(taken, std::not_fn(is_ours));
  std::vector<std::string> waiting = ops::ChangedSettings(start.document, config.given.document);
  std::erase_if(waiting, is_ours);
  read_ = std::move(config.given.document);
  Log(LogLevel::kInfo, "admission_settings", {{"config", start.file}, {"changed", taken}});
  if (waiting.empty()) return;
  Log(LogLevel::kWarn, "settings_need_restart", {{"config", start.file}, {"keys", waiting}});
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
