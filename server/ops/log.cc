#include "ops/log.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace seendb::ops {
namespace {

constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 4> kLevels = {{
    {"debug", spdlog::level::debug},
    {"info", spdlog::level::info},
    {"warn", spdlog::level::warn},
    {"error", spdlog::level::err},
}};

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("seendb",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

}  // namespace

std::string TimeText(int64_t at_ms) {
  const std::time_t seconds = static_cast<std::time_t>(at_ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  const size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof(text) - length, ".%03dZ", static_cast<int>(at_ms % 1000));
  return text;
}

int64_t MachineTimeMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

bool StartLog(std::string_view level) {
  for (const auto& [name, value] : kLevels) {
    if (name != level) continue;
    Logger().set_level(value);
    return true;
  }
  return false;
}

bool Logs(LogLevel level) {
  return Logger().should_log(kLevels.at(static_cast<size_t>(level)).second);
}

void Log(LogLevel level, std::string_view event, const nlohmann::ordered_json& fields) {
  const auto& [name, value] = kLevels.at(static_cast<size_t>(level));
  if (!Logger().should_log(value)) return;
  nlohmann::ordered_json line = {
      {"ts", TimeText(MachineTimeMs())}, {"level", name}, {"event", event}};
  for (const auto& [key, field] : fields.items()) line[key] = field;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  Logger().log(value, spdlog::string_view_t(text.data(), text.size()));
}

void Log(LogLevel level, std::string_view event) {
  Log(level, event, nlohmann::ordered_json::object());
}

}  // namespace seendb::ops
