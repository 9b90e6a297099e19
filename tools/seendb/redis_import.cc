// seendb redis import: the members of an old store's keys into a server or a folder.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "database.h"
#include "exit_code.h"
#include "go_on.h"
#include "import_notes.h"
#include "interrupt.h"
#include "log_flags.h"
#include "progress.h"
#include "redis_ages.h"
#include "redis_commands.h"
#include "redis_flags.h"
#include "redis_importer.h"
#include "report_json.h"
#include "row_share.h"
#include "scratch_redis.h"
#include "state_file.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

struct ImportFlags {
  RedisFlags redis;
  RedisImportOptions options;
  double rate = 0;
  double slow_ms = 20;
  std::string max_refused = "0%";
  bool yes = false;  ///< members that no filter will count are meant
};

/// Refuses an import of members that the policy keeps and no filter reads, unless --yes says so.
Status AskOfAges(Database& database, const Session& session, const ImportFlags& flags,
                 const RedisMeaning& meaning, redis::Client& client) {
  const redis::ScoreUnit unit = flags.options.unit;
  if (flags.yes || meaning.kind != EventKind::kPlays || IsReadOnce(flags.redis)) return {};
  const auto policy = PolicyOf(database, CollectionOf(session));
  if (!policy.ok()) return {};  // to whom it is not shown, or where it is not there: see the import
  const int64_t now_ms =
      database.engine() != nullptr ? database.engine()->NowMs() : SystemClock()->NowMs();
  const Unread unread = UnreadBy(*policy, now_ms);
  if (unit != redis::ScoreUnit::kNone) {
    auto keys = KeysOf(flags.redis, meaning.users, client);
    if (!keys.ok()) return keys.status();
    const Status ages = CheckAges(client, **keys, meaning.users, unit, unread);
    if (!ages.ok()) return ages;
  }
  const auto at_ms = flags.options.at_ms;
  if (!at_ms || *at_ms < unread.begin_ms || *at_ms >= unread.end_ms) return {};
  return Status::InvalidArgument("--at " + flags.redis.at +
                                 " is before the window of the collection's policy, which begins "
                                 "at " +
                                 FormatTimeMs(unread.end_ms) +
                                 " UTC: no filter would count what has that time; say --yes if it "
                                 "is meant");
}

/// What the state is of: all but where the database is.
Json IdentityOf(const Session& session, const ImportFlags& flags, const std::string& source,
                const RedisImportOptions& options) {
  Json identity = {{"import", "redis"},
                   {"source", source},
                   {"keys", KeysText(flags.redis, options.users)},
                   {"collection", CollectionOf(session)},
                   {"user_from", options.users.ToText()},
                   {"kind", flags.redis.kind},
                   {"score_unit", redis::ScoreUnitName(options.unit)}};
  if (!options.form.empty()) identity["form"] = options.form;
  if (options.hashes) identity["hashes"] = true;
  if (options.at_ms) identity["at"] = *options.at_ms;
  if (flags.redis.at == "now") identity["at_now"] = true;
  return identity;
}

/// kInvalidArgument where `saved` is the state of something else.
Status CheckSame(const Json& saved, const Json& identity, const std::string& path) {
  if (saved.empty()) return {};
  if (TextOf(saved, "import") != "redis") {
    return Status::InvalidArgument(path + " is not the state of a redis import; name another");
  }
  for (const char* const name : {"source", "keys", "collection", "user_from", "kind", "score_unit",
                                 "form", "hashes", "at_now", "at"}) {
    const Json before = saved.value(name, Json());
    const Json now = identity.value(name, Json());
    if (before == now) continue;
    return Status::InvalidArgument(path + " is the state of another import: " + name + " was " +
                                   OneLine(before) + ", and is " + OneLine(now) +
                                   "; to import anew, remove it or name another");
  }
  return {};
}

std::string ByReason(const std::map<std::string, uint64_t>& counts) {
  std::string out;
  for (const auto& [reason, count] : counts) {
    out += (out.empty() ? "" : ", ") + reason + " " + FormatCount(count);
  }
  return out.empty() ? out : " (" + out + ")";
}

/// Whether the flags choose all keys of the users.
bool ReadsAll(const RedisFlags& flags, const redis::KeyTemplate& users) {
  return flags.keys.empty() && flags.topic.topic.empty() &&
         (flags.match.empty() || flags.match == users.Pattern());
}

/// `not_noted`: why users were not noted as imported; empty: they were.
Status PrintSummary(const Session& session, const RedisTally& before, const RedisTally& now,
                    const Pace& pace, const std::string& not_noted, double elapsed_s) {
  const auto members = static_cast<double>(now.members - before.members);
  const double per_s = elapsed_s > 0 ? members / elapsed_s : 0;
  if (session.json) {
    Json summary = ToJson(now);
    summary.update(Json{{"resumed_after_users", before.users},
                        {"interrupted", InterruptedBy() != 0},
                        {"slow_answers", pace.slow()},
                        {"elapsed_us", static_cast<uint64_t>(elapsed_s * 1e6)},
                        {"members_per_s", static_cast<uint64_t>(per_s)},
                        {"users_noted", not_noted.empty()},
                        {"problems", ProblemsJson(now)}});
    return PrintJson(summary);
  }
  std::string out = FormatCount(now.users) + " users, " + FormatCount(now.members) +
                    " members: " + FormatCount(now.accepted) + " accepted, " +
                    FormatCount(now.refused) + " refused" + ByReason(now.refused_by) + "\n";
  if (now.outside_window != 0) {
    out += FormatCount(now.outside_window) +
           " of the accepted are older than the policy's window: no filter counts them\n";
  }
  if (now.absent_keys != 0) out += FormatCount(now.absent_keys) + " keys are not there\n";
  if (now.bad_keys != 0) {
    out += FormatCount(now.bad_keys) + " keys were not read" + ByReason(now.bad_by) + "\n";
  }
  if (before.users != 0) out += "went on after " + FormatCount(before.users) + " users\n";
  out += FormatDurationUs(elapsed_s * 1e6) + ", " + FormatCount(static_cast<uint64_t>(per_s)) +
         " members/s\n";
  if (pace.slow() != 0) {
    out += "Redis answered slowly " + FormatCount(pace.slow()) + " times; the import slowed down\n";
  }
  if (!not_noted.empty()) out += "users were not noted as imported: " + Printable(not_noted) + "\n";
  for (const Problem& problem : now.problems) {
    out += "  " + Printable(problem.what) + ": " + Printable(problem.why) + "\n";
  }
  return Print(out);
}

/// What an import that stopped early says: why, and how the rest is imported.
Status Stopped(const Status& why, const ImportFlags& flags, Session* session) {
  std::string text = std::string(why.message());
  if (const int signal = InterruptedBy()) {
    session->exit_code = kExitSignal + signal;
    session->exit_name = "interrupted";
    text = "interrupted; what was accepted stays";
  }
  text += ". To go on: " + GoOnLine(session->argv, 0);
  if (flags.options.state.empty()) text += " (from the beginning: there is no --state FILE)";
  return {why.ok() ? StatusCode::kUnavailable : why.code(), text};
}

Status ImportInto(Database& database, Session& session, ImportFlags flags, const RedisPlace& place,
                  const std::string& source, double allowed_percent) {
  auto client = place.Open();
  if (!client.ok()) return client.status();
  auto meaning = RedisMeaningOf(flags.redis);
  if (!meaning.ok()) return meaning.status();
  RedisImportOptions& options = flags.options;
  options.users = meaning->users;
  options.at_ms = meaning->at_ms;

  Json saved = Json::object();
  if (!options.state.empty()) {
    auto read = ReadStateFile(options.state);
    if (!read.ok()) return read.status();
    saved = std::move(read).value();
  }
  if (meaning->at_now && saved.contains("at_now") &&
      saved.value("at", Json()).is_number_integer()) {
    options.at_ms = saved["at"].get<int64_t>();  // when it began
  }
  if (!meaning->unit && saved.contains("score_unit")) {
    auto known = redis::ScoreUnitByName(TextOf(saved, "score_unit"));
    if (known.ok()) meaning->unit = *known;
  }
  // What went on before goes on so.
  const bool begun = saved.contains("source");
  const auto form = begun && flags.redis.form.empty()
                        ? Result<std::string>(TextOf(saved, "form"))
                        : ResolveForm(flags.redis, *meaning, **client);
  if (!form.ok()) return form.status();
  options.form = *form;
  options.hashes = flags.redis.hashes;
  auto unit = ResolveUnit(flags.redis, *meaning, **client);
  if (!unit.ok()) return unit.status();
  options.unit = *unit;
  if (Status ages = begun ? Status() : AskOfAges(database, session, flags, *meaning, **client);
      !ages.ok()) {
    return ages;
  }
  const EventKind kind = meaning->kind;
  // The notes are of plays.
  ImportNoter noter;
  if (kind == EventKind::kPlays) {
    auto opened = ImportNoter::Open(database, session, options.users.ToText());
    if (!opened.ok()) return opened.status();
    noter = std::move(opened).value();
  }
  options.identity = IdentityOf(session, flags, source, options);
  const Json place_before = saved.value("place", Json());
  const bool begun_here = place_before.is_null() || TextOf(saved, "notes") == noter.notes();
  options.identity["notes"] = begun_here ? noter.notes() : "of several";
  Status same = CheckSame(saved, options.identity, options.state);
  if (!same.ok()) return same;

  auto keys = KeysOf(flags.redis, options.users, **client);
  if (!keys.ok()) return keys.status();
  if (place_before.is_object()) {
    Status there = (*keys)->GoTo(place_before);
    if (!there.ok()) return there;
  }
  const RedisTally before = TallyOfJson(saved.value("counts", Json::object()));

  using std::chrono::steady_clock;
  Pace pace(flags.rate, flags.slow_ms,
            std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count());
  // Of a server each thread has its own connection; a folder is open once.
  const auto make_sink = [&]() -> Result<std::unique_ptr<PlaySink>> {
    if (database.engine() != nullptr) return MakeSink(database, CollectionOf(session), kind);
    auto server = OpenServer(session);
    if (!server.ok()) return server.status();
    return MakeServerSink(std::move(server).value(), CollectionOf(session), kind);
  };
  const std::string not_noted = kind == EventKind::kPlays ? noter.off() : "they are impressions";
  const auto make_notes = [&] {
    return not_noted.empty() ? noter.Make() : Result(std::unique_ptr<ImportNotes>());
  };
  RedisImporter importer(
      options, **keys, pace, before, [&] { return place.Open(); }, make_sink, make_notes);
  Progress progress("members", before.members);
  Status status =
      importer.Run([&](double fraction, uint64_t members) { progress.Show(fraction, members); });
  progress.Clear();
  const RedisTally now = importer.tally();
  Status printed = PrintSummary(session, before, now, pace, not_noted, progress.elapsed_s());
  if (InterruptedBy() != 0 || WorthRetrying(status)) return Stopped(status, flags, &session);
  if (!status.ok() || !printed.ok()) return status.ok() ? printed : status;
  const bool scanned = flags.redis.keys.empty() && flags.redis.topic.topic.empty();
  if (scanned && now.users + now.bad_keys + now.absent_keys == 0) {
    return NoKeyFits(options.users, source);
  }
  const uint64_t wrong = now.refused + now.bad_keys;
  const Status judged = JudgeRows(wrong, now.members + now.bad_keys, allowed_percent, &session);
  if (!judged.ok() || !not_noted.empty() || !ReadsAll(flags.redis, options.users)) return judged;
  if (!begun_here) {
    return session.json ? Status()
                        : Print(
                              "not everybody counts as imported there: the import began "
                              "elsewhere; import without the state\n");
  }
  auto notes = noter.Make();
  return notes.ok() ? (*notes)->NoteEverybody() : notes.status();
}

Status RunImport(Session& session, const ImportFlags& flags) {
  const auto allowed_percent = ParsePercent(flags.max_refused);
  if (!allowed_percent.ok()) return allowed_percent.status();
  auto meaning = RedisMeaningOf(flags.redis);  // before anything is opened
  if (!meaning.ok()) return meaning.status();
  const CatchInterrupts catching;
  auto source = RedisSource::Open(flags.redis);
  if (!source.ok()) return source.status();
  auto database = Database::Open(session, Access::kCreate);
  if (!database.ok()) return database.status();
  if (HttpClient* server = (*database)->server()) {
    // A server that is not there at all is no reason to wait and try again.
    auto alive = server->Send({.target = "/healthz"});
    if (!alive.ok()) return alive.status();
  }
  return (*database)->Close(ImportInto(**database, session, flags, (*source)->place(),
                                       (*source)->name(), *allowed_percent));
}

}  // namespace

void AddRedisImport(Command redis, Session& session) {
  auto flags = std::make_shared<ImportFlags>();
  Command command = AddCommand(
      redis, session, "import",
      "Record the members of the users' keys (with --db in its folder, made where there is none)",
      Takes::kFolderOrServer, [&session, flags] { return RunImport(session, *flags); },
      Collections::kOfFlag);
  AddRedisPlaceFlags(command, &flags->redis);
  AddRedisKeyFlags(command, &flags->redis);
  RedisImportOptions& options = flags->options;
  command
      .Add("--state", options.state,
           "Keep the progress in this file and go on from there the next time")
      .TypeName("STATEFILE")
      .NotEmpty();
  command
      .Add("--rate", flags->rate,
           "Members per second at most (as fast as it goes; slower by itself while Redis is slow)")
      .Range(0, 1'000'000'000)
      .TypeName("N");
  command.Add("--slow-ms", flags->slow_ms, "Redis is slow where a PING takes longer than that")
      .Range(1, 60'000)
      .ShowDefault();
  command.Add("--parallel", options.parallel, "Keys are read by so many threads")
      .Range(1, 64)
      .ShowDefault();
  command.Add("--batch", options.batch_plays, "Members recorded at once")
      .Range(1, 100'000)
      .TypeName("N");
  command
      .Add("--retry", options.retry_s,
           "Seconds to go on trying while the server or Redis is busy or away")
      .Range(0, 86'400)
      .TypeName("SECONDS");
  AddMaxRefused(command, &flags->max_refused);
  command.AddFlag("--yes", flags->yes,
                  "Import members from before the policy's window, too, which no filter counts");
  command.Examples(
      {"seendb redis import --redis redis://localhost --user-from 'watched:{user}' --state s.json",
       "seendb redis import --redis redis://localhost --user-from 'watched:{user}' --rate 50000",
       "seendb redis import --redis redis://localhost --keys keys.txt --user-from "
       "'watched:{user}' --db db",
       "seendb redis import --rdb dump.rdb --user-from 'watched:{user}' --max-refused 1%"});
}

}  // namespace seendb::tool
