// seendb load FILE: plays of a CSV, TSV or NDJSON log into a server or a folder.

#include <memory>
#include <string>
#include <utility>

#include "byte_source.h"
#include "commands.h"
#include "database.h"
#include "loader.h"
#include "log_flags.h"
#include "progress.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

struct LoadFlags {
  LogFlags log;
  LoadOptions options;
};

Json RowsJson(const std::vector<RowError>& rows) {
  Json list = Json::array();
  for (const auto& [row, error] : rows) list.push_back({{"row", row}, {"error", error}});
  return list;
}

std::string RowsText(const char* title, const std::vector<RowError>& rows, uint64_t all) {
  if (rows.empty()) return {};
  std::string out = title;
  for (const auto& [row, error] : rows) {
    out += "  row " + FormatCount(row) + ": " + Printable(error) + "\n";
  }
  if (all > rows.size()) out += "  and " + FormatCount(all - rows.size()) + " more\n";
  return out;
}

/// What was loaded: by this run, and, where it went on with an earlier one, in all.
Status PrintSummary(const Session& session, const Loader& loader, const ResumeState& before,
                    double elapsed_s) {
  const ResumeState& now = loader.state();
  const uint64_t plays = now.accepted + now.refused - before.accepted - before.refused;
  const double per_s = elapsed_s > 0 ? static_cast<double>(plays) / elapsed_s : 0;
  if (session.json) {
    return PrintJson({{"rows", now.rows},
                      {"accepted", now.accepted},
                      {"refused", now.refused},
                      {"bad", now.bad},
                      {"resumed_after_row", before.rows},
                      {"elapsed_us", static_cast<uint64_t>(elapsed_s * 1e6)},
                      {"plays_per_s", static_cast<uint64_t>(per_s)},
                      {"bad_rows", RowsJson(loader.bad_rows())},
                      {"refusals", RowsJson(loader.refusals())}});
  }
  std::string out = FormatCount(now.rows) + " rows: " + FormatCount(now.accepted) +
                    " plays accepted, " + FormatCount(now.refused) + " refused, " +
                    FormatCount(now.bad) + " bad rows\n";
  if (before.rows != 0) {
    out += "went on after row " + FormatCount(before.rows) + ", where an earlier load stopped\n";
  }
  out += FormatDurationUs(elapsed_s * 1e6) + ", " + FormatCount(static_cast<uint64_t>(per_s)) +
         " plays/s\n";
  out += RowsText("bad rows\n", loader.bad_rows(), now.bad - before.bad);
  out += RowsText("refused\n", loader.refusals(), now.refused - before.refused);
  return Print(out);
}

Status LoadInto(Database& database, const Session& session, const LoadFlags& flags,
                LogFormat format) {
  auto source = ByteSource::Open(flags.log.file);
  if (!source.ok()) return source.status();
  auto reader = PlayReader::Open([&](char* to, size_t size) { return (*source)->Read(to, size); },
                                 format, flags.log.columns);
  if (!reader.ok()) return reader.status();

  ResumeState state;
  state.file = flags.log.file;
  state.file_bytes = (*source)->file_bytes();
  state.collection = CollectionOf(session);
  if (!flags.options.resume_path.empty()) {
    auto saved = ReadResumeState(flags.options.resume_path);
    if (!saved.ok()) return saved.status();
    Status same = CheckResumable(*saved, state);
    if (!same.ok()) return same;
    state.rows = saved->rows;
    state.accepted = saved->accepted;
    state.refused = saved->refused;
    state.bad = saved->bad;
  }
  const ResumeState before = state;

  auto sink = MakeSink(database, state.collection);
  Loader loader(**reader, *sink, flags.options, state);
  Progress progress("rows", state.rows);
  Status status = loader.Run([&](uint64_t rows) {
    const auto whole = static_cast<double>((*source)->file_bytes());
    const auto read = static_cast<double>((*source)->file_bytes_read());
    progress.Show(whole > 0 ? read / whole : -1, rows);
  });
  progress.Clear();
  Status printed = PrintSummary(session, loader, before, progress.elapsed_s());
  return status.ok() ? printed : status;
}

Status Run(const Session& session, LoadFlags flags) {
  auto format = flags.log.Interpret();
  if (!format.ok()) return format.status();
  flags.options.shift_ms = flags.log.shift_ms;
  auto database = Database::Open(session, Access::kCreate);
  if (!database.ok()) return database.status();
  if (HttpClient* server = (*database)->server()) {
    // A server that is not there at all is no reason to wait and try again.
    auto alive = server->Send({.target = "/healthz"});
    if (!alive.ok()) return alive.status();
  }
  return (*database)->Close(LoadInto(**database, session, flags, *format));
}

}  // namespace

void AddLoad(CLI::App& app, Session& session) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App& command =
      AddCommand(app, session, "load",
                 "Record the plays of a log (with --db in its folder, made where there is none)",
                 Takes::kFolderOrServer, [&session, flags] { return Run(session, *flags); });
  AddLogFlags(command, &flags->log);
  command.add_option("--batch", flags->options.batch_plays, "Plays recorded at once")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  command
      .add_option("--resume", flags->options.resume_path,
                  "Keep the progress in this file and go on from there the next time")
      ->type_name("STATEFILE");
  command.add_flag("--strict", flags->options.strict, "Stop at the first bad row");
  command
      .add_option("--retry", flags->options.retry_s,
                  "Seconds to go on trying while the server is busy or away")
      ->check(CLI::Range(0, 86'400))
      ->type_name("SECONDS");
}

}  // namespace seendb::tool
