// seendb check USER ITEM...: which items the user has seen, and why.

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

struct Question {
  std::string user;
  std::vector<std::string> items;
};

/// The reason of one item as the server writes it; empty for an unseen one.
std::string ReasonText(const Reason& reason, const Policy& policy) {
  switch (reason.kind) {
    case ReasonKind::kUnseen:
    case ReasonKind::kRefuted:  // only where verification is asked for
      return {};
    case ReasonKind::kExcluded:
      return "excluded";
    case ReasonKind::kImpression:
      return "impression";
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

std::string Text(const Json& answer) {
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

Status Run(const Session& session, const Question& question) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  HttpClient* server = (*database)->server();
  auto answer = server != nullptr ? AskServer(*server, session, question)
                                  : AskEngine(*(*database)->engine(), session, question);
  if (!answer.ok()) return (*database)->Close(answer.status());
  return (*database)->Close(session.json ? PrintJson(*answer) : Print(Text(*answer)));
}

}  // namespace

void AddCheck(CLI::App& app, Session& session) {
  auto question = std::make_shared<Question>();
  CLI::App& command =
      AddCommand(app, session, "check", "Tell of each item whether the user has seen it, and why",
                 Takes::kFolderOrServer, [&session, question] { return Run(session, *question); });
  command.add_option("user", question->user, "The user's id")->required()->type_name("USER");
  command.add_option("items", question->items, "The items' ids")->required()->type_name("ITEM...");
}

}  // namespace seendb::tool
