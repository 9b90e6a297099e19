// seendb check USER ITEM...: which items the user has seen, and why. The items may come from a
// file.

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "byte_source.h"
#include "commands.h"
#include "database.h"
#include "record_reader.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// Items that are asked about at once.
constexpr size_t kItemsAtOnce = 5'000;

struct Question {
  std::string user;
  std::vector<std::string> items;
  std::string from;  ///< a file with more of them; empty: none
};

/// Appends the lines of a file to `items`.
Status ReadItems(const std::string& path, std::vector<std::string>* items) {
  auto source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  RecordReader lines([&](char* to, size_t size) { return (*source)->Read(to, size); },
                     {.delimiter = '\n', .quoted = false});
  std::span<char> line;
  for (;;) {
    const RecordKind kind = lines.Next(&line);
    if (kind == RecordKind::kEnd) return {};
    if (kind == RecordKind::kFailed) return lines.status();
    if (kind != RecordKind::kRecord) return Status::InvalidArgument(path + ": a line is too long");
    items->emplace_back(line.data(), line.size());
  }
}

/// The reason of one item as the server writes it; empty for an unseen one.
std::string ReasonText(const Reason& reason, const Policy& policy) {
  switch (reason.kind) {
    case ReasonKind::kUnseen:
    case ReasonKind::kRefuted:  // only where verification is asked for
    case ReasonKind::kRefutedImpression:
      return {};
    case ReasonKind::kOldStore:  // of a server alone
      return "old_store";
    case ReasonKind::kExcluded:
    case ReasonKind::kJudged:  // only where a request has a judge
    case ReasonKind::kTooMany:
      return "excluded";
    case ReasonKind::kImpression:
      return "impression";
    case ReasonKind::kMarked:
      return "mark:" + std::string(reason.group);
    case ReasonKind::kSame:
      return "same:" + std::string(reason.group);
    case ReasonKind::kCapped:
      return "cap:" + std::string(reason.group);
    case ReasonKind::kInSet:  // of a server alone: it has the sets
      return "set:" + std::string(reason.group);
    case ReasonKind::kExposed:
      return "exposed";
    case ReasonKind::kRing:
      return "ring";
    case ReasonKind::kPlay:
      return "play:" + BucketLabel(policy, reason.bucket_index);
  }
  return "unknown";
}

Json Answer(const Session& session, const Question& question,
            const std::vector<std::string>& reasons, bool degraded, Json missing) {
  Json items = Json::array();
  for (size_t i = 0; i < question.items.size(); ++i) {
    Json item = {{"item", question.items[i]}, {"seen", !reasons[i].empty()}};
    if (!reasons[i].empty()) item["reason"] = reasons[i];
    items.push_back(std::move(item));
  }
  return {{"user", question.user},
          {"collection", CollectionOf(session)},
          {"items", std::move(items)},
          {"degraded", degraded},
          {"missing", std::move(missing)}};
}

Result<Json> AskServer(HttpClient& server, const Session& session, const Question& question) {
  const Json body = {{"user", question.user},
                     {"items", question.items},
                     {"collection", CollectionOf(session)},
                     {"explain", true}};
  const std::string text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  auto answer = server.Call({.method = "POST", .target = "/filter", .body = text});
  if (!answer.ok()) return answer.status();
  std::vector<std::string> reasons;
  const Json given = answer->value("reasons", Json::object());
  for (const std::string& item : question.items) reasons.push_back(TextOf(given, item));
  return Answer(session, question, reasons, FlagOf(*answer, "degraded"),
                ListOf(*answer, "missing"));
}

Result<Json> AskEngine(Engine& engine, const Session& session, const Question& question) {
  const std::string name = CollectionOf(session);
  Policy policy;
  for (const CollectionInfo& collection : engine.Collections()) {
    if (collection.name == name) policy = collection.policy;
  }
  std::vector<IdRef> items(question.items.begin(), question.items.end());
  FilterRequest request;
  request.collection = name;
  request.user = IdRef(question.user);
  request.items = items;
  request.explain = true;
  FilterResponse response;
  Status status = engine.Filter(request, &response);
  if (!status.ok()) return status;
  std::vector<std::string> reasons;
  for (const Reason& reason : response.reasons) reasons.push_back(ReasonText(reason, policy));
  reasons.resize(question.items.size());
  return Answer(session, question, reasons, response.degraded, response.missing);
}

std::string AnswerText(const Json& answer) {
  Table table({{"item"}, {"verdict"}, {"why"}});
  uint64_t seen = 0;
  for (const Json& item : ListOf(answer, "items")) {
    seen += FlagOf(item, "seen") ? 1 : 0;
    table.Add(
        {TextOf(item, "item"), FlagOf(item, "seen") ? "seen" : "unseen", TextOf(item, "reason")});
  }
  std::string out = table.ToString() + FormatCount(seen) + " of " +
                    FormatCount(ListOf(answer, "items").size()) + " seen by " +
                    Printable(TextOf(answer, "user")) + "\n";
  if (!FlagOf(answer, "degraded")) return out;
  out += "degraded: an unseen item may have been seen; could not read";
  for (const Json& label : ListOf(answer, "missing")) {
    if (label.is_string()) out += " " + label.get<std::string>();
  }
  return out + "\n";
}

Result<Json> AskAtOnce(Database& database, const Session& session, const Question& question) {
  if (HttpClient* server = database.server()) return AskServer(*server, session, question);
  return AskEngine(*database.engine(), session, question);
}

/// The answers to all items, asked for in pieces, as one.
Result<Json> Ask(Database& database, const Session& session, const Question& question) {
  Json whole;
  for (size_t at = 0; at < question.items.size(); at += kItemsAtOnce) {
    const auto begin = question.items.begin() + static_cast<ptrdiff_t>(at);
    const size_t count = std::min(kItemsAtOnce, question.items.size() - at);
    const Question piece{question.user, {begin, begin + static_cast<ptrdiff_t>(count)}, {}};
    auto answer = AskAtOnce(database, session, piece);
    if (!answer.ok()) return answer;
    if (at == 0) {
      whole = std::move(answer).value();
      continue;
    }
    for (const Json& item : ListOf(*answer, "items")) whole["items"].push_back(item);
    whole["degraded"] = FlagOf(whole, "degraded") || FlagOf(*answer, "degraded");
    Json& missing = whole["missing"];
    for (const Json& label : ListOf(*answer, "missing")) {
      if (std::find(missing.begin(), missing.end(), label) == missing.end()) {
        missing.push_back(label);
      }
    }
  }
  return whole;
}

Status RunCheck(const Session& session, Question question) {
  if (!question.from.empty()) {
    Status read = ReadItems(question.from, &question.items);
    if (!read.ok()) return read;
  }
  if (question.items.empty()) {
    return Status::InvalidArgument(question.from.empty() ? "say which items, or --from FILE"
                                                         : question.from + " has no items");
  }
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  auto answer = Ask(**database, session, question);
  if (!answer.ok()) return (*database)->Close(answer.status());
  return (*database)->Close(session.json ? PrintJson(*answer) : Print(AnswerText(*answer)));
}

}  // namespace

void AddCheck(Command app, Session& session) {
  auto question = std::make_shared<Question>();
  Command command = AddCommand(
      app, session, "check", "Tell of each item whether the user has seen it, and why",
      Takes::kFolderOrServer, [&session, question] { return RunCheck(session, *question); },
      Collections::kOfFlag);
  command.Add("user", question->user, "The user's id").Required().TypeName("USER");
  command.Add("items", question->items, "The items' ids").TypeName("ITEM...");
  command
      .Add("--from", question->from,
           "And the items of this file, an id per line, as it stands there (load takes off quotes "
           "and "
           "blanks around it); plain, gzip or zstd; - for standard input")
      .TypeName("FILE")
      .NotEmpty();
  command.Examples({"seendb check u1 v1 v2", "seendb check u1 --from items.txt --db db",
                    "cut -d, -f2 plays.csv | seendb check u1 --from -"});
}

}  // namespace seendb::tool
