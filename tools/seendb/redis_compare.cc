// seendb redis compare: whether what the old store calls seen is seen here.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "database.h"
#include "exit_code.h"
#include "interrupt.h"
#include "progress.h"
#include "redis_commands.h"
#include "redis_comparer.h"
#include "redis_flags.h"
#include "report_json.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

struct CompareFlags {
  RedisFlags redis;
  uint64_t sample = 0;  ///< users; 0: all
};

Json SamplesJson(const std::vector<Difference>& samples) {
  Json list = Json::array();
  for (const Difference& one : samples) {
    Json row = {{"user", one.user}, {"item", one.item}};
    if (one.at_ms) row["at_ms"] = *one.at_ms;
    list.push_back(std::move(row));
  }
  return list;
}

std::string SamplesText(const char* title, const std::vector<Difference>& samples) {
  std::string out = samples.empty() ? "" : title;
  for (const Difference& one : samples) {
    out += "  " + Printable(one.user) + " " + Printable(one.item) +
           (one.at_ms ? " at " + FormatTimeMs(*one.at_ms) : "") + "\n";
  }
  return out;
}

Status PrintTally(const Session& session, const ComparisonTally& tally) {
  if (session.json) {
    return PrintJson({{"users", tally.users},
                      {"members", tally.members},
                      {"outside_window", tally.outside_window},
                      {"checked", tally.checked},
                      {"missing", tally.missing},
                      {"others_checked", tally.others_checked},
                      {"extra", tally.extra},
                      {"degraded", tally.degraded},
                      {"keys_not_read", tally.not_read},
                      {"missing_samples", SamplesJson(tally.missing_samples)},
                      {"extra_samples", SamplesJson(tally.extra_samples)}});
  }
  std::string out = FormatCount(tally.users) + " users, " + FormatCount(tally.members) +
                    " members: " + FormatCount(tally.checked) + " asked, " +
                    FormatCount(tally.outside_window) + " outside the window\n" +
                    FormatCount(tally.missing) + " missing: seen in Redis, unseen here\n" +
                    FormatCount(tally.extra) + " of " + FormatCount(tally.others_checked) +
                    " items of other users are seen here as well (false positives, or newer "
                    "plays)\n";
  if (tally.not_read != 0) out += FormatCount(tally.not_read) + " keys were not read\n";
  out += SamplesText("missing\n", tally.missing_samples);
  return Print(out + SamplesText("extra\n", tally.extra_samples));
}

Status Judge(const ComparisonTally& tally, Session* session) {
  if (tally.missing != 0) {
    session->exit_code = kExitMissing;
    session->exit_name = "missing";
    return Status::NotFound(FormatCount(tally.missing) + " of " + FormatCount(tally.checked) +
                            " members are missing");
  }
  if (tally.degraded != 0) {
    return Status::Unavailable(FormatCount(tally.degraded) +
                               " answers are degraded; nothing is missing in what could be read");
  }
  return {};
}

Status CompareWith(Database& database, Session& session, const CompareFlags& flags,
                   const RedisMeaning& meaning, const RedisSource& source) {
  auto client = source.place().Open();
  if (!client.ok()) return client.status();
  auto policy = PolicyOf(database, CollectionOf(session));
  if (!policy.ok()) return policy.status();
  auto unit = ResolveUnit(flags.redis, meaning, **client);
  if (!unit.ok()) return unit.status();
  const auto form = ResolveForm(flags.redis, meaning, **client);
  if (!form.ok()) return form.status();
  const ComparisonOptions options{
      .users = meaning.users,
      .form = *form,
      .hashes = flags.redis.hashes,
      .unit = *unit,
      .at_ms = meaning.at_ms,
      .kind = meaning.kind,
      .policy = *policy,
      .now_ms = database.engine() ? database.engine()->NowMs() : SystemClock()->NowMs()};
  auto keys = KeysOf(flags.redis, meaning.users, **client);
  if (!keys.ok()) return keys.status();
  auto asker = MakeFilterAsker(database, CollectionOf(session), meaning.kind);
  RedisComparer comparer(**client, *asker, options);
  Progress progress("members");
  KeyPage page;
  for (uint64_t left = flags.sample == 0 ? UINT64_MAX : flags.sample; left > 0;) {
    auto more = (*keys)->Next(&page);
    if (!more.ok()) return more.status();
    if (!*more) break;
    page.keys.resize(std::min<uint64_t>(page.keys.size(), left));
    left -= page.keys.size();
    Status compared = comparer.Compare(page.keys);
    if (!compared.ok()) return compared;
    if (InterruptedBy() != 0) return Status::Unavailable("interrupted");
    progress.Show(flags.sample == 0 ? page.fraction : -1, comparer.tally().members);
  }
  progress.Clear();
  Status printed = PrintTally(session, comparer.tally());
  if (!printed.ok()) return printed;
  if (comparer.tally().users == 0 && comparer.tally().not_read == 0)
    return NoKeyFits(meaning.users, source.name());
  return Judge(comparer.tally(), &session);
}

Status RunCompare(Session& session, const CompareFlags& flags) {
  auto meaning = RedisMeaningOf(flags.redis);
  if (!meaning.ok()) return meaning.status();
  const CatchInterrupts catching;
  auto source = RedisSource::Open(flags.redis);
  if (!source.ok()) return source.status();
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  return (*database)->Close(CompareWith(**database, session, flags, *meaning, **source));
}

}  // namespace

void AddRedisCompare(Command redis, Session& session) {
  auto flags = std::make_shared<CompareFlags>();
  Command command = AddCommand(
      redis, session, "compare",
      "Ask SeenDB about every member within the window; exit code 10 if one is unseen",
      Takes::kFolderOrServer, [&session, flags] { return RunCompare(session, *flags); },
      Collections::kOfFlag);
  AddRedisPlaceFlags(command, &flags->redis);
  AddRedisKeyFlags(command, &flags->redis);
  command.Add("--sample", flags->sample, "Compare the first users that are found, not all")
      .TypeName("N");
  command.Examples(
      {"seendb redis compare --redis redis://localhost --user-from 'watched:{user}'",
       "seendb redis compare --rdb dump.rdb --user-from 'watched:{user}' --sample 100 --json"});
}

}  // namespace seendb::tool
