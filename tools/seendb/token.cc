// seendb token: makes, lists and revokes the tokens of a server, in the file of its setting
// tokens_file.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/time_text.h"
#include "commands.h"
#include "files/token_file.h"
#include "files/tokens.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

using files::Token;
using files::TokenSet;

constexpr int64_t kSecondsOfDay = 86'400;
/// How much of a digest is shown: enough to tell tokens apart.
constexpr size_t kDigestShown = 8;
constexpr char kTakenOver[] = "servers take it over within 5 seconds, or at once by SIGHUP";

struct NewFlags {
  std::string file, name, role, expires, priority;
  std::vector<std::string> collections;
  int64_t days = 0;
  admission::TenantLimits limits;
  double share = 0;
};

std::string MomentText(int64_t at_ms) { return DateText(at_ms, 'T') + "Z"; }

/// When the token is to expire, as the file says it; empty: never.
Result<std::string> ExpiryOf(const NewFlags& flags) {
  const int64_t now_ms = SystemClock()->NowMs();
  if (flags.days > 0) {
    if (!flags.expires.empty()) {
      return Status::InvalidArgument("--days and --expires say the same: give one of them");
    }
    return MomentText((now_ms / 1'000 + flags.days * kSecondsOfDay) * 1'000);
  }
  if (flags.expires.empty()) return std::string();
  const std::optional<int64_t> at_ms = files::ParseMoment(flags.expires);
  if (!at_ms) {
    return Status::InvalidArgument(
        "--expires must be a date and time with its zone (2027-01-31T00:00:00Z)");
  }
  if (*at_ms <= now_ms) return Status::InvalidArgument("--expires lies in the past");
  return flags.expires;
}

/// The limits that there are, as the file names them.
template <typename AnyJson>
void AddLimits(const admission::TenantLimits& limits, AnyJson* to) {
  const auto add = [to](const char* name, double value) {
    if (value > 0) (*to)[name] = value;
  };
  add("requests_per_s", limits.requests_per_s);
  add("decoded_bytes_per_s", limits.decoded_bytes_per_s);
  add("work_ms_per_s", limits.work_ms_per_s);
}

Status RunNew(const Session& session, const NewFlags& flags) {
  const Result<std::string> expires = ExpiryOf(flags);
  if (!expires.ok()) return expires.status();
  const Result<std::string> token = files::MakeToken();
  if (!token.ok()) return token.status();
  nlohmann::ordered_json entry = {
      {"name", flags.name}, {"sha256", files::DigestOf(*token)}, {"role", flags.role}};
  if (!flags.collections.empty()) entry["collections"] = flags.collections;
  if (!expires->empty()) entry["expires"] = *expires;
  AddLimits(flags.limits, &entry);
  if (!flags.priority.empty()) entry["priority"] = flags.priority;
  if (flags.share != 0) entry["share"] = flags.share;
  if (Status added = files::AddToken(flags.file, entry); !added.ok()) return added;
  Status printed;
  if (session.json) {
    Json json = {{"file", flags.file}, {"name", flags.name}, {"token", *token}};
    if (!expires->empty()) json["expires"] = *expires;
    printed = PrintJson(json);
  } else {
    std::fprintf(stderr, "%s has the token %s, shown this once; %s\n",
                 Printable(flags.file).c_str(), Printable(flags.name).c_str(), kTakenOver);
    printed = Print(*token + "\n");
  }
  if (printed.ok()) return printed;
  return Status::IOError(std::string(printed.message()) + "; the token is in " + flags.file +
                         " and nobody has seen it: seendb token revoke --name " + flags.name);
}

/// What limits its requests.
std::string LimitsText(const Token& token) {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (token.limits.requests_per_s > 0) add(FormatRate(token.limits.requests_per_s) + " requests");
  if (token.limits.decoded_bytes_per_s > 0) {
    add(FormatBytes(static_cast<uint64_t>(token.limits.decoded_bytes_per_s)) + "/s");
  }
  if (token.limits.work_ms_per_s > 0) add(FormatRate(token.limits.work_ms_per_s) + " ms of work");
  if (token.priority) {
    add("priority " + std::string(admission::kPriorityNames[static_cast<size_t>(*token.priority)]));
  }
  if (token.share != 1) add("share " + Json(token.share).dump());
  return text.empty() ? "none" : text;
}

std::string ReachText(const Token& token) {
  if (token.collections.empty()) return "all";
  std::string text;
  for (const std::string& one : token.collections) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string ListText(const TokenSet& set, int64_t now_ms) {
  if (set.tokens.empty()) return "no tokens: nobody is let in\n";
  Table table(
      {{"name"}, {"role"}, {"collections"}, {"expires"}, {"state"}, {"limits"}, {"sha256"}});
  for (const Token& token : set.tokens) {
    table.Add({token.name, std::string(files::RoleName(token.role)), ReachText(token),
               token.expires_ms == 0 ? "never" : FormatTimeMs(token.expires_ms),
               token.Expired(now_ms) ? "expired" : "valid", LimitsText(token),
               files::HexOf(token.digest).substr(0, kDigestShown)});
  }
  return table.ToString();
}

Json JsonOf(const Token& token, int64_t now_ms) {
  Json json = {{"name", token.name},
               {"role", files::RoleName(token.role)},
               {"expired", token.Expired(now_ms)},
               {"share", token.share},
               {"sha256_begins", files::HexOf(token.digest).substr(0, kDigestShown)}};
  if (!token.collections.empty()) json["collections"] = token.collections;
  if (token.expires_ms != 0) json["expires"] = MomentText(token.expires_ms);
  AddLimits(token.limits, &json);
  if (token.priority) {
    json["priority"] = admission::kPriorityNames[static_cast<size_t>(*token.priority)];
  }
  return json;
}

Status RunList(const Session& session, const std::string& file) {
  const auto read = files::LoadTokens(file);
  if (!read.ok()) return read.status();
  const int64_t now_ms = SystemClock()->NowMs();
  if (!session.json) return Print(ListText(**read, now_ms));
  Json tokens = Json::array();
  for (const Token& token : (*read)->tokens) tokens.push_back(JsonOf(token, now_ms));
  return PrintJson({{"file", file}, {"tokens", std::move(tokens)}});
}

struct RevokeFlags {
  std::string file, name;
};

Status RunRevoke(const Session& session, const RevokeFlags& flags) {
  if (Status removed = files::RemoveToken(flags.file, flags.name); !removed.ok()) return removed;
  if (session.json) return PrintJson({{"file", flags.file}, {"revoked", flags.name}});
  return Print("the token " + Printable(flags.name) + " is revoked; " + kTakenOver + "\n");
}

void AddFile(Command command, std::string& file) {
  command.Add("--file", file, "The file that the server's setting tokens_file names")
      .Required()
      .TypeName("FILE")
      .NotEmpty();
}

void AddNew(Command group, Session& session) {
  auto flags = std::make_shared<NewFlags>();
  Command command =
      AddCommand(group, session, "new",
                 "Make a token, print it once, and add it to the file (which is made "
                 "where there is none, for its owner alone)",
                 Takes::kNothing, [&session, flags] { return RunNew(session, *flags); });
  AddFile(command, flags->file);
  command.Add("--name", flags->name, "What logs and metrics call it").Required().TypeName("NAME");
  command.Add("--role", flags->role, "What it may do")
      .Required()
      .TypeName("ROLE")
      .OneOf({"read", "write", "admin", "filters"});
  command.Add("--collections", flags->collections, "Those that it reaches; all without the flag")
      .TypeName("NAME");
  command.Add("--days", flags->days, "It expires after so many days")
      .TypeName("DAYS")
      .Range(1, 36'500);
  command.Add("--expires", flags->expires, "It expires then: a date and time with its zone")
      .TypeName("TIME")
      .NotEmpty();
  command.Add("--requests-per-s", flags->limits.requests_per_s, "The most requests a second")
      .TypeName("N")
      .Between(1e-9, 1e9);
  command
      .Add("--decoded-bytes-per-s", flags->limits.decoded_bytes_per_s,
           "The most bytes of bodies a second, decompressed")
      .TypeName("N")
      .Between(1e-9, 1e12);
  command
      .Add("--work-ms-per-s", flags->limits.work_ms_per_s,
           "The most work a second: 500 is half a thread of the server")
      .TypeName("N")
      .Between(1e-9, 1e9);
  command.Add("--priority", flags->priority, "Of its requests under overload, at most")
      .TypeName("PRIORITY")
      .OneOf({"high", "normal", "low"});
  command.Add("--share", flags->share, "Of the server under overload, beside the others' (1)")
      .TypeName("N")
      .Between(1e-9, 1'000);
  command.Examples(
      {"seendb token new --file tokens.json --name player --role write --days 90 > player.token",
       "seendb token new --file tokens.json --name page --role read --collections video article"});
}

}  // namespace

void AddToken(Command app, Session& session) {
  Command group = AddCommand(
      app, session, "token", "The tokens that a server asks for: make, list, revoke",
      Takes::kNothing, [] { return Status::InvalidArgument("say which command: see --help"); });
  group.Examples({"seendb token new --file tokens.json --name operator --role admin"});
  AddNew(group, session);

  auto file = std::make_shared<std::string>();
  Command list = AddCommand(group, session, "list", "List the tokens of a file, as far as it tells",
                            Takes::kNothing, [&session, file] { return RunList(session, *file); });
  AddFile(list, *file);
  list.Examples({"seendb token list --file tokens.json"});

  auto flags = std::make_shared<RevokeFlags>();
  Command revoke =
      AddCommand(group, session, "revoke", "Take a token out of a file; its streams end, too",
                 Takes::kNothing, [&session, flags] { return RunRevoke(session, *flags); });
  AddFile(revoke, flags->file);
  revoke.Add("--name", flags->name, "The token's name").Required().TypeName("NAME");
  revoke.Examples({"seendb token revoke --file tokens.json --name player"});
}

}  // namespace seendb::tool
