#include "router/router.h"

#include <functional>
#include <utility>

#include "http/wait.h"
#include "router/answers.h"
#include "router/event_lines.h"
#include "router/filter_lines.h"
#include "router/mark_lines.h"
#include "router/user_of.h"

namespace seendb::router {
namespace {

using api::Call;
using api::Route;
using api::Spread;
using cluster::RoutingTable;

constexpr std::string_view kDirect = "direct";
/// Between two tries of what Kafka did not take.
constexpr std::chrono::milliseconds kServedPause{500};

/// Says who would answer.
void Misdirect(const RoutingTable& table, http::Response* response) {
  http::WriteError({421, "misdirected", "another node has the user; GET /cluster says which"},
                   response);
  AddMember("placement_offset", std::to_string(table.placement_offset()), &response->body);
}

Status NotAtNodes(const Route& route) {
  return Status::Incompatible("nodes of a cluster don't take " + std::string(route.path) +
                              " yet: its log has no record for it");
}

void NobodyAnswers(http::Response* response) {
  http::WriteError({503, "unavailable", "no replica of the user's partition can be asked"},
                   response);
}

}  // namespace

ClusterRouter::ClusterRouter(api::Context* context, RouterNode node, peers::PeerClient* client)
    : context_(*context),
      node_(std::move(node)),
      client_(*client),
      writer_(&node_, client, [context] { return context->engine.load()->NowMs(); }),
      served_(&writer_, kServedPause) {}

void ClusterRouter::FillMetrics(ops::MetricsSnapshot* to) const {
  const auto read = [](const std::atomic<uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  to->router = ops::RouterCounts{read(counters_.proxied), read(counters_.retried),
                                 read(counters_.unreachable), served_.dropped()};
}

http::Task<> ClusterRouter::Handle(Call& call) {
  const Route& route = api::Routes()[static_cast<size_t>(call.plan.route)];
  switch (route.spread) {
    case Spread::kNode:
      return route.Answer(call);
    case Spread::kRead:
    case Spread::kFilter:
    case Spread::kTurn:
      return AnswerRead(call, route);
    case Spread::kEvents:
      return AnswerEvents(call, route);
    case Spread::kCommand:
      return AnswerCommand(call, route);
    case Spread::kPolicy:
      AnswerPolicy(call, route);
      break;
    case Spread::kNowhere:
      call.Refuse(NotAtNodes(route));
      break;
  }
  return {};
}

/// Where this node has the user, and nothing is to be waited for, its handler answers as at a
/// server by itself.
http::Task<> ClusterRouter::AnswerRead(Call& call, const Route& route) {
  const auto table = node_.table();
  const auto question = QuestionOf(call, call.engine());
  if (table == nullptr || !question || question->partition >= table->partitions()) {
    return route.Answer(call);  // which says what is wrong
  }
  if (const Status way = route.check_way ? route.check_way(call) : Status(); !way.ok()) {
    call.Refuse(way);
    return {};
  }
  const http::RequestHead& head = call.request.head;
  ReadAsk ask;
  ask.partition = question->partition;
  ask.leader_alone = question->record || route.spread == Spread::kTurn;
  ask.here_alone = head.routing.hop;
  ask.failover = head.routing.failover;
  ask.until = UntilOf(head, call.request.age_us);
  if (question->deadline_ms) ask.deadline_ms = *question->deadline_ms;
  const Result<Positions> positions = ParsePosition(head.routing.position);
  if (!positions.ok()) {
    call.Refuse(positions.status());
    return {};
  }
  if (const auto at = positions->find(ask.partition); at != positions->end()) {
    ask.next_offset = at->second;
  }
  const Place place = PlaceOf(*table, ask);
  if (head.routing.route == kDirect && !place.first) {
    Misdirect(*table, &call.response);
    return {};
  }
  if (place.answers && route.AnswersWhole()) return AnswerHere(call, route, std::move(ask));
  return AskReplicas(call, route, std::move(ask));
}

ClusterRouter::Place ClusterRouter::PlaceOf(const RoutingTable& table, const ReadAsk& ask) const {
  const cluster::PartitionRoutes& routes = table.of(ask.partition);
  const bool first = ask.leader_alone ? routes.leader && routes.leader->here
                                      : !routes.reads.empty() && routes.reads.front().here;
  const bool waits = ask.next_offset > 0 || takeovers_.InDoubt(ask.partition, routes, ask.failover);
  return {first, (first || ask.here_alone) && !waits};
}

/// Asks another replica where this node can't tell, or where it has waited and another one is to
/// answer by now.
http::Task<> ClusterRouter::AnswerHere(Call call, const Route& route, ReadAsk ask) {
  bool left = false;
  const auto look = [&] {
    const auto table = node_.table();
    left =
        table == nullptr || ask.partition >= table->partitions() || !PlaceOf(*table, ask).answers;
    return !left;
  };
  const std::function<bool()> still_here = std::ref(look);
  call.still_here = &still_here;
  co_await route.Answer(call);
  call.still_here = nullptr;
  http::Response& response = call.response;
  if (left || (CanNotTell(response) && !ask.here_alone)) {
    response.Clear();
    co_return co_await AskReplicas(call, route, std::move(ask));
  }
  const auto table = node_.table();
  for (const cluster::Holder& own : table->of(ask.partition).reads) {
    if (own.here) TellBehind(own.behind_ms, &response);
  }
}

/// Asks one replica after the other, this node among them, until one can tell.
http::Task<> ClusterRouter::AskReplicas(Call call, const Route& route, ReadAsk ask) {
  ask.request = ToPeer(call);
  const auto read = std::make_shared<Read>(Parts(), std::move(ask));
  http::Response& response = call.response;
  call.at_worker = true;
  while (true) {
    ReadEnd ended = co_await http::Given<ReadEnd>(
        [&read](http::Give<ReadEnd> give) { read->Next(std::move(give)); });
    const bool is_here = ended.kind == ReadEnd::Kind::kHere;
    if (ended.kind == ReadEnd::Kind::kAnswer) {
      counters_.proxied.fetch_add(1, std::memory_order_relaxed);
      response = ToResponse(std::move(ended.answer));
      co_return;
    }
    if (is_here && !route.AnswersWhole()) continue;  // a stream: not after a wait
    if (!is_here) {
      counters_.unreachable.fetch_add(1, std::memory_order_relaxed);
      if (route.spread != Spread::kFilter) co_return NobodyAnswers(&response);
    }
    if (!co_await http::OnWorker(http::Executor::kEngine)) {
      http::WriteError({503, "busy", "too much work in flight"}, &response);
      co_return;
    }
    const std::string_view in_answer =
        route.spread == Spread::kFilter ? ended.lacks_of_filter() : ended.lacks;
    call.lacks = is_here ? in_answer : api::kLacksPartition;
    if (!call.lacks.empty() && route.spread != Spread::kFilter) {
      http::WriteError(
          {503, "unavailable", "the replica did not come as far as SeenDB-Position in time"},
          &response);
    } else {
      co_await route.Answer(call);
    }
    if (is_here && CanNotTell(response) && read->has_more()) {
      counters_.retried.fetch_add(1, std::memory_order_relaxed);
      response.Clear();
      continue;
    }
    co_return TellBehind(ended.behind_ms, &response);
  }
}

bool ClusterRouter::TakesStream(const http::RequestHead& head, const http::Plan& plan) {
  const Engine* const engine = context_.engine.load(std::memory_order_acquire);
  const auto table = node_.table();
  if (head.routing.hop || engine == nullptr || table == nullptr || plan.arguments.empty()) {
    return false;
  }
  const uint32_t partition = engine->ShardOf(IdRef(plan.arguments.front()));
  if (partition >= table->partitions()) return false;
  const auto& reads = table->of(partition).reads;
  return reads.empty() || !reads.front().here;
}

std::unique_ptr<http::BodyStream> ClusterRouter::Stream(const http::RequestHead& head,
                                                        const http::Plan& plan, Status* refusal) {
  const Route& route = api::Routes()[static_cast<size_t>(plan.route)];
  if (route.spread == Spread::kFilter) return FilterLines::Make(this, head, plan);
  if (route.spread == Spread::kEvents) return EventLines::Make(this, head, plan, refusal);
  if (route.spread == Spread::kCommand) return MarkLines::Make(this, head, plan, refusal);
  if (route.spread == Spread::kNowhere) *refusal = NotAtNodes(route);
  return nullptr;
}

}  // namespace seendb::router
