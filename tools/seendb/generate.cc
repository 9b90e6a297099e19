// seendb generate: an invented play log with the heavy tail of a real one.

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "byte_source.h"
#include "commands.h"
#include "play_batch.h"
#include "play_log.h"
#include "play_reader.h"
#include "progress.h"
#include "report_json.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr size_t kWriteBytes = 1 << 20;

struct GenerateFlags {
  PlayLogOptions log;
  int64_t start_ms = -1;
  std::string format;
  std::string out = "-";
};

void AppendCsv(const PlayRow& play, std::string* out) {
  *out += play.user;
  *out += ',';
  *out += play.item;
  *out += ',';
  *out += std::to_string(play.at_ms);
  *out += '\n';
}

Result<LogFormat> FormatOf(const GenerateFlags& flags) {
  if (!flags.format.empty()) return LogFormatByName(flags.format);
  auto format = LogFormatOfName(flags.out);
  if (format.ok() || flags.out == "-") return format.ok() ? *format : LogFormat::kCsv;
  return format.status();
}

Status WriteLog(PlayLog* log, LogFormat format, ByteSink* sink) {
  Progress progress("plays");
  std::string buffer = format == LogFormat::kCsv ? "user,item,at\n" : "";
  PlayLog::Event event;
  uint64_t written = 0;
  while (log->Next(&event)) {
    const std::string user = PlayLog::UserName(event.user);
    const std::string item = PlayLog::ItemName(event.item);
    const PlayRow row{user, item, event.at_ms};
    format == LogFormat::kCsv ? AppendCsv(row, &buffer) : AppendNdjson(row, &buffer);
    ++written;
    if (buffer.size() < kWriteBytes) continue;
    Status status = sink->Write(buffer);
    if (!status.ok()) return status;
    buffer.clear();
    progress.Show(static_cast<double>(written) / static_cast<double>(log->total()), written);
  }
  Status status = sink->Write(buffer);
  return status.ok() ? sink->Finish() : status;
}

/// What was written, on stdout; on stderr where the log itself goes there.
Status PrintSummary(const Session& session, const GenerateFlags& flags, const PlayLog& log) {
  const PlayLogOptions& options = flags.log;
  const std::string text =
      session.json
          ? Json({{"plays", log.total()},
                  {"users", options.users},
                  {"items", options.items},
                  {"days", options.days},
                  {"start_ms", options.start_ms},
                  {"end_ms", options.start_ms + static_cast<int64_t>(options.days) * kDayMs},
                  {"seed", options.seed},
                  {"out", flags.out}})
                    .dump(2, ' ', false, Json::error_handler_t::replace) +
                "\n"
          : FormatCount(log.total()) + " plays of " + FormatCount(options.users) + " users over " +
                FormatCount(options.days) + " days from " + FormatTimeMs(options.start_ms) +
                " UTC, seed " + std::to_string(options.seed) + "\n";
  if (flags.out != "-") return Print(text);
  std::fputs(text.c_str(), stderr);
  return {};
}

Status Run(const Session& session, GenerateFlags flags) {
  using std::chrono::system_clock;
  const int64_t now_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
          .count();
  flags.log.start_ms =
      flags.start_ms >= 0 ? flags.start_ms : now_ms - static_cast<int64_t>(flags.log.days) * kDayMs;
  const std::string wrong = PlayLogOptionError(flags.log);
  if (!wrong.empty()) return Status::InvalidArgument(wrong);
  auto format = FormatOf(flags);
  if (!format.ok()) return format.status();
  if (*format == LogFormat::kTsv) return Status::InvalidArgument("--format: csv or ndjson");
  auto sink = ByteSink::Open(flags.out);
  if (!sink.ok()) return sink.status();
  PlayLog log(flags.log);
  Status status = WriteLog(&log, *format, sink->get());
  return status.ok() ? PrintSummary(session, flags, log) : status;
}

}  // namespace

void AddGenerate(CLI::App& app, Session& session) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App& command = AddCommand(
      app, session, "generate",
      "Write an invented play log, in time order; the same seed gives the same log everywhere",
      Takes::kNothing, [&session, flags] { return Run(session, *flags); });
  PlayLogOptions& log = flags->log;
  command.add_option("--users", log.users, "Users")->capture_default_str();
  command
      .add_option("--plays-per-user-median", log.plays_per_user_median,
                  "Plays of the middle user; the 99th percentile has 7.5 times as many")
      ->capture_default_str();
  command.add_option("--days", log.days, "Days the log spans")->capture_default_str();
  command.add_option("--items", log.items, "Items in the catalogue")->capture_default_str();
  command.add_option("--start-ms", flags->start_ms,
                     "First moment, ms since 1970; by default as many days ago as the log spans");
  command.add_option("--seed", log.seed, "Seed")->capture_default_str();
  command.add_option("--format", flags->format, "csv or ndjson; by default as --out is named");
  command
      .add_option("--out", flags->out, "File, compressed if it ends in .zst; - for standard output")
      ->capture_default_str();
}

}  // namespace seendb::tool
