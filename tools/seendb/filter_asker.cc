#include "filter_asker.h"

#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "report_json.h"
#include "seendb/events.h"

namespace seendb::tool {
namespace {

/// A body ends once it has so many bytes: answers come while it is sent, and must fit what the
/// sockets hold.
constexpr size_t kBodyBytes = 64 << 10;

/// An item that is asked twice is answered once: what was said of its first holds for all.
void SettleRepeats(FilterQuestion* question) {
  std::unordered_map<std::string, size_t> first;
  for (size_t i = 0; i < question->items.size(); ++i) {
    const auto [at, fresh] = first.try_emplace(IdRef(question->items[i]).ToString(), i);
    if (!fresh) question->seen[i] = question->seen[at->second];
  }
}

class EngineAsker : public FilterAsker {
 public:
  EngineAsker(Engine& engine, std::string collection, EventKind kind)
      : engine_(engine),
        collection_(std::move(collection)),
        facts_(kind == EventKind::kPlays ? kFactPlays : kFactImpressions) {}

  Status Ask(std::vector<FilterQuestion>* questions) override {
    for (FilterQuestion& question : *questions) {
      const std::vector<IdRef> items(question.items.begin(), question.items.end());
      FilterRequest request;
      request.collection = collection_;
      request.user = IdRef(question.user);
      request.items = items;
      request.facts = facts_;
      Status status = engine_.Filter(request, &response_);
      if (!status.ok()) return status;
      question.degraded = response_.degraded;
      question.seen.assign(items.size(), true);
      for (const uint32_t unseen : response_.unseen) question.seen[unseen] = false;
      if (response_.duplicates > 0) SettleRepeats(&question);
    }
    return {};
  }

 private:
  Engine& engine_;
  const std::string collection_;
  const uint8_t facts_;
  FilterResponse response_;
};

/// POST /filter of a server, as NDJSON.
class ServerAsker : public FilterAsker {
 public:
  ServerAsker(HttpClient& server, std::string collection, EventKind kind)
      : server_(server),
        collection_(std::move(collection)),
        facts_(kind == EventKind::kPlays ? "plays" : "impressions") {}

  Status Ask(std::vector<FilterQuestion>* questions) override {
    std::string body;
    size_t first = 0;
    for (size_t i = 0; i < questions->size(); ++i) {
      const FilterQuestion& question = (*questions)[i];
      const Json line = {{"user", question.user},
                         {"items", question.items},
                         {"collection", collection_},
                         {"facts", {facts_}}};
      body += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      if (body.size() < kBodyBytes && i + 1 < questions->size()) continue;
      Status status = Send(body, std::span(*questions).subspan(first, i + 1 - first));
      if (!status.ok()) return status;
      first = i + 1;
      body.clear();
    }
    return {};
  }

 private:
  Status Send(const std::string& body, std::span<FilterQuestion> asked) {
    auto response = server_.Send({.method = "POST",
                                  .target = "/filter",
                                  .body = body,
                                  .content_type = "application/x-ndjson"});
    if (!response.ok()) return response.status();
    if (response->status != 200) return StatusOfAnswer(*response);
    std::string_view rest = response->body;
    for (FilterQuestion& question : asked) {
      const size_t end = rest.find('\n');
      const Json answer = ParseAnswer(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (!answer.is_object()) return Status::Unavailable("the server's answer is not whole");
      if (answer.contains("error")) {
        return Status::InvalidArgument(TextOf(answer["error"], "message"));
      }
      Status taken = Take(answer, &question);
      if (!taken.ok()) return taken;
    }
    return {};
  }

  /// The unseen come as they were sent, in their order.
  static Status Take(const Json& answer, FilterQuestion* question) {
    question->degraded = FlagOf(answer, "degraded");
    question->seen.assign(question->items.size(), true);
    size_t at = 0;
    for (const Json& unseen : ListOf(answer, "unseen")) {
      const std::string item = unseen.is_string() ? unseen.get<std::string>() : unseen.dump();
      while (at < question->items.size() && question->items[at] != item) ++at;
      if (at == question->items.size()) {
        return Status::Unavailable("the server's answer names an item that was not asked");
      }
      question->seen[at++] = false;
    }
    if (answer.contains("duplicates")) SettleRepeats(question);
    return {};
  }

  HttpClient& server_;
  const std::string collection_;
  const std::string facts_;
};

}  // namespace

std::unique_ptr<FilterAsker> MakeFilterAsker(Database& database, std::string collection,
                                             EventKind kind) {
  if (HttpClient* server = database.server()) {
    return std::make_unique<ServerAsker>(*server, std::move(collection), kind);
  }
  return std::make_unique<EngineAsker>(*database.engine(), std::move(collection), kind);
}

}  // namespace seendb::tool
