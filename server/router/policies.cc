// The part of ClusterRouter that changes policies: they are records of what the cluster is, which
// every node reads. Called on threads that may wait.

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "api/commands.h"
#include "api/status_http.h"
#include "router/answers.h"
#include "router/router.h"
#include "wire/json_text.h"

namespace seendb::router {
namespace {

using api::Call;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kCommitMost{5'000}, kKnownMost{5'000}, kAskMost{1'000};
constexpr std::chrono::milliseconds kPause{20};
constexpr unsigned kNotFound = 404;

/// As the engine tells of it.
Policy Told(Policy policy) {
  policy.max_filter_bytes = EffectiveMaxFilterBytes(policy);
  return policy;
}

/// Waits until this node's engine has the collection of the fold; null: until it has none.
bool AwaitHere(Engine& engine, std::string_view name, const cluster::MetaCollection* wanted,
               Clock::time_point until) {
  while (true) {
    const std::vector<CollectionInfo> all = engine.Collections();
    const auto found = std::find_if(
        all.begin(), all.end(), [name](const CollectionInfo& info) { return info.name == name; });
    const bool is_there = found != all.end();
    const bool as_wanted =
        wanted == nullptr ? !is_there
                          : is_there && found->making == static_cast<uint64_t>(wanted->made_by) &&
                                Told(found->policy) == Told(wanted->policy);
    if (as_wanted) return true;
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(kPause);
  }
}

/// Whether it names what nodes read from log records of version 3 on alone.
bool IsOfFacts(const PolicyPatch& patch) {
  return patch.counts || patch.caps || patch.exposed_is_seen || patch.exposures.recent ||
         patch.exposures.days;
}

void TellPending(const std::vector<std::string>& pending, std::string* body) {
  if (pending.empty()) return;
  std::string list = "[";
  for (const std::string& node : pending) {
    if (list.size() > 1) list += ',';
    wire::AppendJsonString(node, &list);
  }
  AddMember("pending", list + "]", body);
}

}  // namespace

void ClusterRouter::AnswerPolicy(Call& call, const api::Route& route) {
  if (route.method == http::Method::kPut) return PutPolicy(call);
  DeletePolicy(call);
}

void ClusterRouter::PutPolicy(Call& call) {
  const std::string& name = call.plan.arguments.front();
  Status status = ValidateCollectionName(name);
  if (!status.ok()) {
    return call.Refuse(Status::InvalidArgument(std::string(status.message()), "/name"));
  }
  if (Status may = api::MayUse(call.caller(), name, "/name"); !may.ok()) return call.Refuse(may);
  const std::string_view body = call.request.body.empty() ? "{}" : call.request.body;
  const Result<PolicyPatch> patch = PolicyPatchFromJson(body);
  if (!patch.ok()) return call.Refuse(patch.status());
  // Nodes that do not know a member stop reading at a record that has it.
  if (IsOfFacts(*patch) && !LogsGroups()) {
    return call.Refuse(Status::Unavailable(
        "policies of a cluster have no counts, caps and exposures until seendb cluster upgrade "
        "--finish"));
  }
  const cluster::CollectionRecord record{
      .name = name, .patch = std::string(body), .at_ms = call.engine().NowMs()};
  const Result<cluster::Meta> fold = node_.commit(record, kCommitMost);
  if (!fold.ok()) return call.Refuse(fold.status());
  const auto made = fold->collections().find(name);
  if (made == fold->collections().end()) {
    return call.Refuse(Status::Unavailable("the collection is gone again"));
  }
  const auto until = Clock::now() + kKnownMost;
  const std::string told = ReportToJson(CollectionInfo{name, Told(made->second.policy)});
  std::vector<std::string> pending = AwaitNodes(name, told, until, call.request.head.trace);
  if (!AwaitHere(call.engine(), name, &made->second, until)) pending.push_back(node_.name);
  context_.catalog.Renew(&call.engine());
  call.response.body = told;
  TellPending(pending, &call.response.body);
}

void ClusterRouter::DeletePolicy(Call& call) {
  const std::string& name = call.plan.arguments.front();
  if (Status may = api::MayUse(call.caller(), name, "/name"); !may.ok()) return call.Refuse(may);
  if (Status asked = api::CheckDeletion(call, name); !asked.ok()) return call.Refuse(asked);
  const cluster::CollectionGoneRecord record{.name = name, .at_ms = call.engine().NowMs()};
  const Result<cluster::Meta> fold = node_.commit(record, kCommitMost);
  if (!fold.ok()) return call.Refuse(fold.status());
  const auto until = Clock::now() + kKnownMost;
  std::vector<std::string> pending = AwaitNodes(name, {}, until, call.request.head.trace);
  if (!AwaitHere(call.engine(), name, nullptr, until)) pending.push_back(node_.name);
  context_.catalog.Renew(&call.engine());
  call.response.body = "{\"deleted\":true,\"name\":\"" + name + "\"}";
  TellPending(pending, &call.response.body);
}

/// Waits until the other nodes that are up answer so to GET /collections/{name}; empty: until they
/// have no such collection. Those that do not.
std::vector<std::string> ClusterRouter::AwaitNodes(const std::string& name,
                                                   const std::string& wanted,
                                                   Clock::time_point until,
                                                   const http::TraceContext& trace) {
  peers::Headers headers = {{"SeenDB-Hop", "1"}};
  AddTrace(trace, &headers);
  const auto table = node_.table();
  std::map<std::string, std::string> open;
  if (table != nullptr) open = table->up();
  while (!open.empty()) {
    std::map<std::string, std::future<peers::PeerAnswer>> asked;
    for (const auto& [node, url] : open) {
      auto answer = std::make_shared<std::promise<peers::PeerAnswer>>();
      asked[node] = answer->get_future();
      client_.Ask({.node = node,
                   .url = url,
                   .method = "GET",
                   .target = "/collections/" + name,
                   .headers = headers,
                   .timeout = kAskMost},
                  [answer](peers::PeerAnswer came) { answer->set_value(std::move(came)); });
    }
    for (auto& [node, answer] : asked) {
      const peers::PeerAnswer came = answer.get();
      const bool knows = wanted.empty() ? came.status == kNotFound : came.body == wanted;
      if (knows) open.erase(node);
    }
    if (open.empty() || Clock::now() >= until) break;
    std::this_thread::sleep_for(kPause);
  }
  std::vector<std::string> pending;
  pending.reserve(open.size());
  for (const auto& [node, url] : open) pending.push_back(node);
  return pending;
}

}  // namespace seendb::router
