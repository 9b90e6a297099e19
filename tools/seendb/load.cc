// seendb load FILE: plays, impressions or exposures of a CSV, TSV or NDJSON log into a server or a
// folder.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/facts.h"
#include "byte_source.h"
#include "commands.h"
#include "database.h"
#include "exit_code.h"
#include "go_on.h"
#include "interrupt.h"
#include "loader.h"
#include "local_zone.h"
#include "log_flags.h"
#include "progress.h"
#include "report_json.h"
#include "row_share.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

struct LoadFlags {
  LogFlags log;
  LoadOptions options;
  std::string max_refused = "0%";
  std::string rejects;  ///< a file; empty: none
  std::string fact = std::string(FactName(Fact::kPlayed));
  std::string surface;                 ///< of exposures; empty: none
  EventKind kind = EventKind::kPlays;  ///< what `fact` says
};

/// Reads what the flags say of the events. kInvalidArgument.
Status TakeFact(LoadFlags* flags) {
  if (flags->fact == FactName(Fact::kServed)) flags->kind = EventKind::kImpressions;
  if (flags->fact == FactName(Fact::kExposed)) flags->kind = EventKind::kExposures;
  if (flags->kind != EventKind::kExposures && !flags->surface.empty()) {
    return Status::InvalidArgument("--surface is of --fact exposed");
  }
  const Status named = CheckSurface(flags->surface);
  if (!named.ok()) return Status::InvalidArgument("--surface: " + std::string(named.message()));
  const auto& watch = flags->log.columns.watch;
  const bool said =
      std::any_of(watch.begin(), watch.end(), [](const auto& s) { return !s.empty(); });
  if (flags->kind == EventKind::kPlays || !said) return {};
  return Status::InvalidArgument("what players report is of --fact played");
}

/// Of a log of which most was refused, and which ends long ago: how it is brought to the present.
std::string ShiftHint(const Loader& loader, int64_t shift_ms) {
  constexpr int64_t kOneDayMs = 86'400'000;
  const ResumeState& now = loader.state();
  if (now.refused <= now.accepted || !loader.newest_ms()) return {};
  const int64_t now_ms = SystemClock()->NowMs();
  constexpr int64_t kYear2000Ms = 946'684'800'000;
  if (const int64_t newest_ms = *loader.newest_ms() - shift_ms; newest_ms < kYear2000Ms) {
    return "the newest play would be of " + FormatTimeMs(newest_ms) +
           " UTC, before there were such logs: is the column of times, or --time-unit, another?\n";
  }
  const int64_t days = (now_ms - *loader.newest_ms()) / kOneDayMs;
  if (days < 1) return {};
  return "the newest play is " + FormatCount(static_cast<uint64_t>(days)) + " days old; --shift " +
         std::to_string(days + shift_ms / kOneDayMs) + "d would bring the log to the present\n";
}

/// What was loaded: by this run, and, where it went on with an earlier one, in all.
Status PrintSummary(const Session& session, const PlayReader& reader, const Loader& loader,
                    const ResumeState& before, double elapsed_s, const LoadFlags& flags) {
  const LogFlags& log = flags.log;
  const std::string events(KindName(flags.kind));
  const std::string& zone = reader.zone().name();
  const ResumeState& now = loader.state();
  const uint64_t plays = now.accepted + now.refused - before.accepted - before.refused;
  const double per_s = elapsed_s > 0 ? static_cast<double>(plays) / elapsed_s : 0;
  if (session.json) {
    Json summary = {{"rows", now.rows}, {"accepted", now.accepted}};
    if (now.outside_window != 0) summary["outside_window"] = now.outside_window;
    summary.update(Json{{"refused", now.refused},
                        {"bad", now.bad},
                        {"resumed_after_row", before.rows},
                        {"interrupted", InterruptedBy() != 0},
                        {"elapsed_us", static_cast<uint64_t>(elapsed_s * 1e6)},
                        {events + "_per_s", static_cast<uint64_t>(per_s)},
                        {"last_row_waits", loader.last_row_waits()},
                        {"columns", reader.ColumnsText()},
                        {"first_row", reader.first_row()},
                        {"local_times", reader.local_times()},
                        {"time_zone", zone},
                        {"odd_ids", loader.odd_ids().ToJson()},
                        {"bad_rows", RowsJson(loader.bad_rows())},
                        {"refusals", RowsJson(loader.refusals())}});
    return PrintJson(summary);
  }
  std::string out = FormatCount(now.rows) + " rows: " + FormatCount(now.accepted) + " " + events +
                    " accepted, " + FormatCount(now.refused) + " refused, " + FormatCount(now.bad) +
                    " bad rows\n";
  if (now.outside_window != 0) {
    out += FormatCount(now.outside_window) +
           " of the accepted are older than the policy's window: no filter counts them\n";
  }
  if (before.rows != 0) {
    out += "went on after row " + FormatCount(before.rows) + "\n";
  }
  out += "read: " + reader.ColumnsText() + "\n";
  if (!reader.first_row().empty()) {
    out += "first row: " + reader.first_row() + (log.shift_ms != 0 ? ", before --shift\n" : "\n");
  }
  if (reader.local_times() != 0) {
    out += FormatCount(reader.local_times()) + " times name no zone: taken for " + zone + "\n";
  }
  if (loader.last_row_waits()) {
    out +=
        "the last row has no line end: it waits for the next load with this state, since it may be "
        "half written; without --resume it is loaded as it is\n";
  }
  out += loader.odd_ids().ToText();
  out += FormatDurationUs(elapsed_s * 1e6) + ", " + FormatCount(static_cast<uint64_t>(per_s)) +
         " " + events + "/s\n";
  out += RowsText("bad rows\n", loader.bad_rows(), now.bad - before.bad);
  out += RowsText("refused\n", loader.refusals(), now.refused - before.refused);
  if (session.clock.empty()) out += ShiftHint(loader, log.shift_ms);
  return Print(out);
}

/// What a load that stopped early says: why, and how the rest is loaded.
Status Stopped(const Status& why, const LoadFlags& flags, const ResumeState& now,
               Session* session) {
  std::string text;
  if (const int signal = InterruptedBy()) {
    session->exit_code = kExitSignal + signal;
    session->exit_name = "interrupted";
    text = "interrupted after row " + FormatCount(now.rows) + "; what was accepted stays";
  } else {
    text = why.message();
  }
  const bool has_state = !flags.options.resume_path.empty();
  text += ". To go on";
  if (flags.log.file == "-") text += ", with the same input from its beginning";
  text += ": " + GoOnLine(session->argv, has_state ? 0 : now.rows);
  return {why.ok() ? StatusCode::kUnavailable : why.code(), text};
}

/// Holds the rows against --max-refused: with a state those of this run and of runs before it that
/// were stopped. A bad row that a finished run has reported fails no later one.
Status Judge(ResumeState state, const std::string& resume_path, double allowed_percent,
             Session* session) {
  const uint64_t wrong = state.refused + state.bad - state.judged_wrong;
  const uint64_t rows = state.accepted - state.judged_accepted + wrong;
  const Status judged = JudgeRows(wrong, rows, allowed_percent, session);
  if (resume_path.empty()) return judged;
  state.judged_accepted = state.accepted;
  state.judged_wrong = state.refused + state.bad;
  const Status written = WriteResumeState(resume_path, state);
  return judged.ok() ? written : judged;
}

Status LoadInto(Database& database, Session& session, LoadFlags flags, LogFormat format,
                double allowed_percent) {
  auto source = ByteSource::Open(flags.log.file);
  if (!source.ok()) return source.status();
  const Status zone = TakeZoneOf(database, CollectionOf(session), &flags.log);
  if (!zone.ok()) return zone;
  auto reader = PlayReader::Open([&](char* to, size_t size) { return (*source)->Read(to, size); },
                                 format, flags.log.columns);
  if (!reader.ok()) return reader.status();

  ResumeState state;
  state.file = flags.log.file;
  state.file_bytes = (*source)->file_bytes();
  state.collection = CollectionOf(session);
  if (!flags.options.resume_path.empty()) {
    state.columns = (*reader)->ColumnsText() + ", times in " + flags.log.time_unit;
    const std::string& name = (*reader)->zone().name();
    if (name != "UTC") state.columns += ", of " + name;
    if (!flags.log.date_order.empty()) state.columns += ", dates " + flags.log.date_order;
    if (flags.kind != EventKind::kPlays) {
      state.columns += ", as " + std::string(KindName(flags.kind));
      if (!flags.surface.empty()) state.columns += " on " + flags.surface;
    }
    auto saved = ReadResumeState(flags.options.resume_path);
    if (!saved.ok()) return saved.status();
    Status same = CheckResumable(*saved, state);
    if (!same.ok()) return same;
    state.rows = saved->rows;
    state.accepted = saved->accepted;
    state.refused = saved->refused;
    state.bad = saved->bad;
    state.outside_window = saved->outside_window;
    state.position = saved->position;
    state.hash = saved->hash;
    state.judged_accepted = saved->judged_accepted;
    state.judged_wrong = saved->judged_wrong;
    // Before the first row, not behind it: the state must be one that can be written.
    if (Status written = WriteResumeState(flags.options.resume_path, *saved); !written.ok()) {
      return written;
    }
  }
  std::unique_ptr<RejectFile> rejects;
  if (!flags.rejects.empty()) {
    std::error_code absent;
    if (std::filesystem::equivalent(flags.rejects, flags.log.file, absent)) {
      return Status::InvalidArgument("--rejects: that is the log itself");
    }
    if (std::filesystem::equivalent(flags.rejects, flags.options.resume_path, absent)) {
      return Status::InvalidArgument("--rejects: that is the file of --resume");
    }
    const bool go_on = state.rows != 0 || flags.options.skip_rows != 0;
    auto opened = RejectFile::Open(flags.rejects, go_on);
    if (!opened.ok()) return opened.status();
    rejects = std::move(opened).value();
    flags.options.rejects = rejects.get();
    (*reader)->KeepRows();
  }
  auto sink = MakeSink(database, state.collection, flags.kind, flags.surface);
  Loader loader(**reader, *sink, flags.options, state);
  const ResumeState before = loader.state();
  loader.SetStop([] { return InterruptedBy() != 0; });
  Progress progress("rows", before.rows);
  Status status = loader.Run([&](uint64_t rows) {
    const auto whole = static_cast<double>((*source)->file_bytes());
    const auto read = static_cast<double>((*source)->file_bytes_read());
    progress.Show(whole > 0 ? read / whole : -1, rows);
  });
  progress.Clear();
  Status printed = PrintSummary(session, **reader, loader, before, progress.elapsed_s(), flags);
  const ResumeState& now = loader.state();
  const bool interrupted = loader.stopped() || (!status.ok() && InterruptedBy() != 0);
  // A full disk, too: what was read stays, the rest can be loaded once there is room.
  const bool sink_failed = status.code() == StatusCode::kBusy ||
                           status.code() == StatusCode::kUnavailable || loader.disk_failed();
  if (interrupted || sink_failed) return Stopped(status, flags, now, &session);
  if (!status.ok() || !printed.ok()) return status.ok() ? printed : status;
  return Judge(now, flags.options.resume_path, allowed_percent, &session);
}

Status RunLoad(Session& session, LoadFlags flags) {
  if (Status fact = TakeFact(&flags); !fact.ok()) return fact;
  auto format = flags.log.Interpret();
  if (!format.ok()) return format.status();
  const auto allowed_percent = ParsePercent(flags.max_refused);
  if (!allowed_percent.ok()) return allowed_percent.status();
  const CatchInterrupts catching;
  flags.options.shift_ms = flags.log.shift_ms;
  auto database = Database::Open(session, Access::kCreate);
  if (!database.ok()) return database.status();
  if (HttpClient* server = (*database)->server()) {
    // A server that is not there at all is no reason to wait and try again.
    auto alive = server->Send({.target = "/healthz"});
    if (!alive.ok()) return alive.status();
  }
  return (*database)->Close(LoadInto(**database, session, flags, *format, *allowed_percent));
}

}  // namespace

void AddLoad(Command app, Session& session) {
  auto flags = std::make_shared<LoadFlags>();
  Command command = AddCommand(
      app, session, "load",
      "Record the plays, or what else was served or exposed, of a log (with --db in its folder, "
      "made "
      "where there is none)",
      Takes::kFolderOrServer, [&session, flags] { return RunLoad(session, *flags); },
      Collections::kOfFlag);
  AddLogFlags(command, &flags->log);
  command
      .Add("--fact", flags->fact,
           "What the log's rows are: played, served (impressions) or exposed (really on screen)")
      .OneOf({"played", "served", "exposed"});
  command.Add("--surface", flags->surface, "Of --fact exposed: where all of it was on screen")
      .TypeName("NAME")
      .NotEmpty();
  command.Add("--batch", flags->options.batch_plays, "Plays recorded at once")
      .Range(1, 100'000)
      .TypeName("N");
  command
      .Add("--resume", flags->options.resume_path,
           "Keep the progress in this file and go on from there the next time")
      .TypeName("STATEFILE")
      .NotEmpty();
  command.Add("--skip", flags->options.skip_rows, "Pass over so many rows, the header not counted")
      .TypeName("N");
  command
      .Add("--item-separator", flags->log.columns.item_separator,
           "A row's item is a text with several ids, with this between them; each is a play")
      .TypeName("TEXT");
  AddMaxRefused(command, &flags->max_refused);
  command
      .Add("--rejects", flags->rejects,
           "Write every refused or bad row to this file, as NDJSON: row, line, why, text (a batch "
           "of "
           "which many were refused is sent twice)")
      .TypeName("FILE")
      .NotEmpty();
  command.AddFlag("--strict", flags->options.strict, "Stop at the first bad row");
  command
      .Add("--retry", flags->options.retry_s,
           "Seconds to go on trying while the server is busy or away")
      .Range(0, 86'400)
      .TypeName("SECONDS");
  command.Examples({"seendb load plays.csv",
                    "seendb load shown.ndjson --fact exposed --surface home",
                    "seendb load plays.csv.gz --db db --resume state.json",
                    "seendb load log.txt --delimiter ';' --user-column 'User ID' --max-refused 1%",
                    "tail -n +2 plays.csv | seendb load - --format csv --no-header"});
}

}  // namespace seendb::tool
