// server/ops/log.h: the log: one JSON object a line on stderr,
// `{"ts":"2026-11-20T08:00:00.123Z","level":"info","event":"ready","port":7373}`.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace seendb::ops {

/// Severities, lowest first.
enum class LogLevel { kDebug, kInfo, kWarn, kError };

/// Starts logging at "debug", "info", "warn" or "error"; false for another word.
bool StartLog(std::string_view level);

/// Whether lines of this level are written.
bool Logs(LogLevel level);

/// A time in ms since 1970, as lines have it: "2026-11-20T08:00:00.123Z".
std::string TimeText(int64_t at_ms);
/// The machine's clock, in ms since 1970.
int64_t MachineTimeMs();

/// Writes one line: the event's name and the members of the object `fields`. Threads: any.
void Log(LogLevel level, std::string_view event, const nlohmann::ordered_json& fields);
/// The same without fields.
void Log(LogLevel level, std::string_view event);

}  // namespace seendb::ops
