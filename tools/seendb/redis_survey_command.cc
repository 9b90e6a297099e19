// seendb redis survey: looks through an old store, before anything is moved.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "interrupt.h"
#include "key_forms.h"
#include "key_set.h"
#include "progress.h"
#include "redis/key_reader.h"
#include "redis_commands.h"
#include "redis_flags.h"
#include "redis_survey.h"
#include "report_json.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

/// Keys whose memory is asked for: the first of a page, and no more than these.
constexpr uint64_t kMemorySamples = 1'000;
constexpr size_t kGuessKeys = 1'000;
/// Keys that are asked when they expire: the first ones.
constexpr size_t kExpirySamples = 1'000;

/// Walks the keys into the books.
class Surveyor {
 public:
  Surveyor(redis::Client& client, std::optional<redis::KeyTemplate> users)
      : client_(client), reader_(client), users_(std::move(users)) {
    reader_.ReadHashes();
  }

  Status Take(const std::vector<std::string>& page) {
    std::vector<std::string> keys;
    for (const std::string& key : page) {
      if (!met_.Add(key)) continue;  // SCAN gave it twice
      if (users_ && !users_->UserOf(key)) {
        survey_.AddOther("not " + users_->ToText());
        continue;
      }
      if (users_) forms_.Add(key, *users_->UserOf(key));
      keys.push_back(key);
      if (names_.size() < kGuessKeys) names_.push_back(key);
    }
    std::vector<redis::KeyInfo> found;
    Status status = keys.empty() ? Status() : reader_.Look(keys, &found);
    if (!status.ok()) return status;
    std::vector<redis::KeyInfo> sets, hashes;
    for (redis::KeyInfo& key : found) {
      switch (key.kind) {
        case redis::KeyKind::kZset:
          sets.push_back(std::move(key));
          break;
        case redis::KeyKind::kHash:
          hashes.push_back(std::move(key));
          break;
        case redis::KeyKind::kList:
        case redis::KeyKind::kSet:
          survey_.AddPlain(key.type, key.length);
          break;
        case redis::KeyKind::kOther:
          survey_.AddOther(key.type);
          break;
        case redis::KeyKind::kAbsent:  // it expired meanwhile
          break;
      }
    }
    status = LookAtExpiry(keys);
    if (status.ok() && !sets.empty()) status = LookAtEnds(keys, sets);
    return status.ok() && !hashes.empty() ? LookIntoHashes(keys, hashes) : status;
  }

  const RedisSurvey& survey() const { return survey_; }
  /// Of the keys that fit the template that was given; of a guessed one, of the first keys.
  KeyForms forms() const {
    const auto guessed = users();
    if (users_ || !guessed) return forms_;
    KeyForms forms;
    for (const std::string& name : names_) {
      if (const auto user = guessed->UserOf(name)) forms.Add(name, *user);
    }
    return forms;
  }
  /// The template that was given, else the guessed one.
  std::optional<redis::KeyTemplate> users() const {
    return users_ ? users_ : redis::GuessTemplate(names_);
  }

 private:
  /// The oldest and the newest member of each, and the memory of the first.
  Status LookAtEnds(const std::vector<std::string>& keys, const std::vector<redis::KeyInfo>& sets) {
    redis::Pipeline pipeline;
    for (const redis::KeyInfo& set : sets) {
      const std::string& name = keys[set.key];
      pipeline.Add({"ZRANGE", name, "0", "0", "WITHSCORES"}, name);
      pipeline.Add({"ZRANGE", name, "-1", "-1", "WITHSCORES"}, name);
    }
    if (sampled_ < kMemorySamples) {
      const std::string& name = keys[sets.front().key];
      pipeline.Add({"MEMORY", "USAGE", name}, name);
    }
    auto replies = client_.Run(pipeline);
    if (!replies.ok()) return replies.status();
    for (size_t i = 0; i < sets.size(); ++i) {
      const auto oldest = (*replies)[2 * i].elements();
      const auto newest = (*replies)[2 * i + 1].elements();
      if (oldest.size() != 2 || newest.size() != 2) continue;  // it is gone
      survey_.AddZset(sets[i].length, EndOf(oldest), EndOf(newest));
    }
    if (replies->size() > 2 * sets.size()) {
      ++sampled_;
      const size_t at = 2 * sets.size();
      const auto bytes = static_cast<uint64_t>((*replies)[at].integer());
      if (bytes != 0) survey_.AddMemory(bytes, sets.front().length);
    }
    return {};
  }

  /// Which of the first keys expire. A user of Redis who may not ask is left without an answer.
  Status LookAtExpiry(const std::vector<std::string>& keys) {
    if (asked_expiry_ >= kExpirySamples) return {};
    redis::Pipeline pipeline;
    for (const std::string& key : keys) pipeline.Add({"PTTL", key}, key);
    auto replies = client_.Run(pipeline);
    if (!replies.ok()) return replies.status();
    constexpr long long kForEver = -1;
    for (const redis::Reply& reply : *replies) {
      if (!reply.is_error() && reply.integer() >= kForEver) {
        survey_.AddExpiry(reply.integer() != kForEver);
      }
    }
    asked_expiry_ += keys.size();
    return {};
  }

  /// Some fields of each, all of a small one.
  Status LookIntoHashes(const std::vector<std::string>& keys,
                        const std::vector<redis::KeyInfo>& hashes) {
    redis::Pipeline pipeline;
    for (const redis::KeyInfo& hash : hashes) {
      pipeline.Add({"HSCAN", keys[hash.key], "0", "COUNT", "100"}, keys[hash.key]);
    }
    auto replies = client_.Run(pipeline);
    if (!replies.ok()) return replies.status();
    for (size_t i = 0; i < hashes.size(); ++i) {
      const auto parts = (*replies)[i].elements();
      if ((*replies)[i].is_error()) return (*replies)[i].status();
      if (parts.size() != 2) continue;  // it is gone
      const auto pairs = redis::Reply::ElementsOf(*parts[1]);
      std::vector<RedisSurvey::End> ends;
      for (size_t at = 0; at + 2 <= pairs.size(); at += 2) {
        const auto value = redis::ParseScore(redis::Reply::TextOf(*pairs[at + 1]));
        if (value) ends.push_back({redis::Reply::TextOf(*pairs[at]), *value});
      }
      if (ends.empty()) continue;
      const auto [oldest, newest] = std::minmax_element(
          ends.begin(), ends.end(),
          [](const auto& one, const auto& other) { return one.score < other.score; });
      survey_.AddHash(hashes[i].length, *oldest, *newest);
    }
    return {};
  }

  static RedisSurvey::End EndOf(std::span<redisReply* const> pair) {
    return {redis::Reply::TextOf(*pair[0]),
            redis::ParseScore(redis::Reply::TextOf(*pair[1])).value_or(0)};
  }

  redis::Client& client_;
  redis::KeyReader reader_;
  const std::optional<redis::KeyTemplate> users_;
  KeySet met_;
  std::vector<std::string> names_;
  KeyForms forms_;
  uint64_t sampled_ = 0;
  size_t asked_expiry_ = 0;
  RedisSurvey survey_;
};

std::string Share(const Json& counts) {
  std::string out;
  for (const auto& [name, count] : counts.items()) {
    out += (out.empty() ? "" : ", ") + FormatCount(count.get<uint64_t>()) + " " + Printable(name);
  }
  return out.empty() ? "none" : out;
}

std::string ReportText(const Json& report) {
  Facts facts;
  facts.Add("source", TextOf(report, "source"));
  facts.Add("keys", TextOf(report, "keys"));
  facts.Add("user from",
            report.contains("user_from")
                ? TextOf(report, "user_from")
                : "unknown: no form fits every key (one may have no user); say --user-from");
  facts.Add("users", FormatCount(CountOf(report, "users")));
  facts.Add("members", FormatCount(CountOf(report, "members")));
  facts.Add("types", Share(report["types"]));
  facts.Add("other keys", Share(report["other_keys"]));
  facts.Add("score unit", TextOf(report, "score_unit"));
  if (report.contains("oldest_ms")) {
    facts.Add("oldest", FormatTimeMs(TimeOf(report, "oldest_ms")));
    facts.Add("newest", FormatTimeMs(TimeOf(report, "newest_ms")));
  }
  if (report.contains("integer_members")) {
    facts.Add("members are", FlagOf(report, "integer_members") ? "integers" : "text");
  }
  const Json& lengths = report["lengths"];
  facts.Add("members per user", "median " + FormatCount(CountOf(lengths, "p50")) + ", 90% " +
                                    FormatCount(CountOf(lengths, "p90")) + ", 99% " +
                                    FormatCount(CountOf(lengths, "p99")) + ", longest " +
                                    FormatCount(CountOf(lengths, "max")));
  facts.Add("Redis's memory", "about " + FormatBytes(CountOf(report, "memory_bytes")));
  facts.Add("policy", OneLine(report["policy"]));
  facts.Add("disk", "about " + FormatBytes(CountOf(report, "disk_bytes")));
  if (report.contains("expiring_share")) {
    const double share = report["expiring_share"].get<double>();
    facts.Add("keys that expire", FormatPercent(share) + " of a sample");
  }
  facts.Add("import", "about " +
                          FormatDurationUs(static_cast<double>(CountOf(report, "import_s")) * 1e6) +
                          " without --rate");
  std::string out = facts.ToString();
  for (const Json& note : ListOf(report, "notes")) out += note.get<std::string>() + "\n";
  out += "to move it:\n  " + TextOf(report, "import_command") + "\n";
  return out;
}

/// The text as one word of a shell.
std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The command that imports what was surveyed. What is not known is left to be filled in.
std::string ImportCommand(const RedisFlags& flags, const Surveyor& surveyor, const Json& report) {
  std::string command = "seendb redis import";
  command += flags.rdb.empty() ? " --redis " + Quoted(TextOf(report, "source"))
                               : " --rdb " + Quoted(flags.rdb);
  const auto users = surveyor.users();
  command += " --user-from " + Quoted(users ? users->ToText() : "...{user}...");
  if (!flags.match.empty() && (!users || flags.match != users->Pattern())) {
    command += " --match " + Quoted(flags.match);
  }
  if (surveyor.forms().size() > 1) command += " --form " + Quoted(surveyor.forms().First());
  const auto add = [&command](const char* flag, const std::string& value) {
    if (!value.empty()) command += std::string(" ") + flag + " " + Quoted(value);
  };
  add("--redis-password-file", flags.password_file);
  add("--redis-ca", flags.ca);
  add("--redis-certificate", flags.certificate);
  const Json& types = report["types"];
  if (types.contains("hash") && !types.contains("zset")) command += " --hashes";
  const std::string unit = TextOf(report, "score_unit");
  command += " --score-unit " + unit;
  if (unit == "none" || types.contains("list") || types.contains("set")) command += " --at now";
  return command + " --state import.json";
}

Status RunSurvey(const Session& session, const RedisFlags& flags) {
  std::optional<redis::KeyTemplate> users;
  if (!flags.user_from.empty()) {
    auto parsed = redis::KeyTemplate::Parse(flags.user_from, "--user-from");
    if (!parsed.ok()) return parsed.status();
    users = std::move(parsed).value();
  }
  const std::string pattern = !flags.match.empty() ? flags.match : users ? users->Pattern() : "*";
  const CatchInterrupts catching;
  auto source = RedisSource::Open(flags);
  if (!source.ok()) return source.status();
  auto client = (*source)->place().Open();
  if (!client.ok()) return client.status();
  auto keys = ScanKeys(**client, pattern);
  Surveyor surveyor(**client, users);
  Progress progress("members");
  KeyPage page;
  for (;;) {
    auto more = keys->Next(&page);
    if (!more.ok()) return more.status();
    if (!*more) break;
    Status taken = surveyor.Take(page.keys);
    if (!taken.ok()) return taken;
    if (InterruptedBy() != 0) return Status::Unavailable("interrupted");
    progress.Show(page.fraction, surveyor.survey().members());
  }
  progress.Clear();
  Json report = {{"source", (*source)->name()}, {"keys", "match " + pattern}};
  if (const auto shape = surveyor.users()) report["user_from"] = shape->ToText();
  report.update(surveyor.survey().Report(SystemClock()->NowMs()));
  if (surveyor.forms().size() > 1) {
    report["forms"] = surveyor.forms().ToJson();
    report["notes"].push_back("the users' ids have several forms: " + surveyor.forms().ToText() +
                              "; an import asks which are users', by --form");
  }
  report["import_command"] = ImportCommand(flags, surveyor, report);
  return session.json ? PrintJson(report) : Print(ReportText(report));
}

}  // namespace

void AddRedisSurvey(Command redis, Session& session) {
  auto flags = std::make_shared<RedisFlags>();
  Command command =
      AddCommand(redis, session, "survey",
                 "Count users and members, and say which policy and how much disk they need",
                 Takes::kNothing, [&session, flags] { return RunSurvey(session, *flags); });
  AddRedisPlaceFlags(command, flags.get());
  command.Add("--match", flags->match, "The keys of this pattern (those that fit --user-from)")
      .TypeName("PATTERN")
      .NotEmpty();
  command
      .Add("--user-from", flags->user_from,
           "Where the user's id is in a key: 'watched:{user}' (guessed)")
      .TypeName("TEMPLATE")
      .NotEmpty();
  command.Examples({"seendb redis survey --redis redis://localhost --match 'watched:*'",
                    "seendb redis survey --rdb dump.rdb --user-from 'watched:{user}' --json"});
}

}  // namespace seendb::tool
