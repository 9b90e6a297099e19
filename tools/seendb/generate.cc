// seendb generate: an invented play log with the heavy tail of a real one.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "byte_source.h"
#include "commands.h"
#include "heartbeats.h"
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
  int32_t progress_s = 0;  ///< between two reports of a player; 0: plays alone
};

/// A row of the log, its ids still numbers.
struct Row {
  PlayLog::Event play;
  std::optional<Watch> watch;
};
using NextRow = std::function<bool(Row*)>;

void AppendCsv(const PlayRow& play, std::string* out) {
  *out += play.user;
  *out += ',';
  *out += play.item;
  *out += ',';
  *out += std::to_string(*play.at_ms);
  if (play.watch) {
    *out += ',' + std::to_string(play.watch->progress_s.value_or(0));
    *out += ',' + std::to_string(play.watch->duration_s.value_or(0)) + ',';
    *out += play.watch->device;
  }
  *out += '\n';
}

Result<LogFormat> FormatOf(const GenerateFlags& flags) {
  if (!flags.format.empty()) return LogFormatByName(flags.format);
  auto format = LogFormatOfName(flags.out);
  if (format.ok() || flags.out == "-") return format.ok() ? *format : LogFormat::kCsv;
  return format.status();
}

/// What the flags ask for, out of `log`, which must outlive it.
NextRow RowsOf(const GenerateFlags& flags, PlayLog* log) {
  if (flags.progress_s == 0) return [log](Row* row) { return log->Next(&row->play); };
  auto beats = std::make_shared<Heartbeats>(log, flags.log.seed, flags.progress_s);
  return [beats](Row* row) {
    Heartbeat beat;
    if (!beats->Next(&beat)) return false;
    *row = {beat.play, beat.watch};
    return true;
  };
}

Status WriteLog(const GenerateFlags& flags, const NextRow& next, LogFormat format, ByteSink* sink,
                uint64_t* written) {
  Progress progress("rows");
  std::string buffer = format != LogFormat::kCsv ? ""
                       : flags.progress_s == 0   ? "user,item,at\n"
                                                 : "user,item,at,progress_s,duration_s,device\n";
  const auto span_ms = static_cast<double>(flags.log.days) * kDayMs;
  for (Row row; next(&row);) {
    const std::string user = PlayLog::UserName(row.play.user);
    const std::string item = PlayLog::ItemName(row.play.item);
    const PlayRow play{user, item, row.play.at_ms, row.watch};
    format == LogFormat::kCsv ? AppendCsv(play, &buffer) : AppendNdjson(play, &buffer);
    ++*written;
    if (buffer.size() < kWriteBytes) continue;
    Status status = sink->Write(buffer);
    if (!status.ok()) return status;
    buffer.clear();
    const auto passed_ms = static_cast<double>(row.play.at_ms - flags.log.start_ms);
    progress.Show(std::min(1.0, passed_ms / span_ms), *written);
  }
  Status status = sink->Write(buffer);
  return status.ok() ? sink->Finish() : status;
}

/// What was written, on stdout; on stderr where the log itself goes there.
Status PrintSummary(const Session& session, const GenerateFlags& flags, const PlayLog& log,
                    uint64_t rows) {
  const PlayLogOptions& options = flags.log;
  const std::string text =
      session.json
          ? Json({{"plays", log.total()},
                  {"rows", rows},
                  {"users", options.users},
                  {"items", options.items},
                  {"days", options.days},
                  {"start_ms", options.start_ms},
                  {"end_ms", options.start_ms + static_cast<int64_t>(options.days) * kDayMs},
                  {"seed", options.seed},
                  {"out", flags.out}})
                    .dump(2, ' ', false, Json::error_handler_t::replace) +
                "\n"
          : FormatCount(log.total()) + " plays" +
                (flags.progress_s == 0 ? "" : " in " + FormatCount(rows) + " reports") + " of " +
                FormatCount(options.users) + " users over " + FormatCount(options.days) +
                " days from " + FormatTimeMs(options.start_ms) + " UTC, seed " +
                std::to_string(options.seed) + "\n";
  if (flags.out != "-") return Print(text);
  std::fputs(text.c_str(), stderr);
  return {};
}

Status RunGenerate(const Session& session, GenerateFlags flags) {
  const int64_t now_ms = SystemClock()->NowMs();
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
  uint64_t rows = 0;
  Status status = WriteLog(flags, RowsOf(flags, &log), *format, sink->get(), &rows);
  return status.ok() ? PrintSummary(session, flags, log, rows) : status;
}

}  // namespace

void AddGenerate(Command app, Session& session) {
  auto flags = std::make_shared<GenerateFlags>();
  Command command = AddCommand(
      app, session, "generate",
      "Write an invented play log, in time order; the same seed gives the same log everywhere",
      Takes::kNothing, [&session, flags] { return RunGenerate(session, *flags); });
  PlayLogOptions& log = flags->log;
  command.Add("--users", log.users, "Users").ShowDefault();
  command
      .Add("--plays-per-user-median", log.plays_per_user_median,
           "Plays of the middle user; the 99th percentile has 7.5 times as many")
      .ShowDefault();
  command.Add("--days", log.days, "Days the log spans").ShowDefault();
  command.Add("--items", log.items, "Items in the catalogue").ShowDefault();
  command.Add("--start-ms", flags->start_ms,
              "First moment, ms since 1970; by default as many days ago as the log spans");
  command.Add("--seed", log.seed, "Seed").ShowDefault();
  command
      .Add("--progress", flags->progress_s,
           "Write what players report: each play when it begins, every so many seconds, and "
           "when it ends, with progress_s, duration_s and device")
      .Range(1, 3'600)
      .TypeName("SECONDS");
  command.Add("--format", flags->format, "csv or ndjson; by default as --out is named");
  command.Add("--out", flags->out, "File, compressed if it ends in .zst; - for standard output")
      .ShowDefault();
  command.Examples({"seendb generate --users 50 --days 7 --out invented.csv.zst",
                    "seendb generate --users 5 --progress 10 --out beats.ndjson"});
}

}  // namespace seendb::tool
