#include "router/router.h"

#include <utility>

#include "router/answers.h"
#include "router/event_lines.h"
#include "router/filter_lines.h"
#include "router/held_request.h"
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

void ClusterRouter::Handle(Call& call) {
  const Route& route = api::Routes()[static_cast<size_t>(call.plan.route)];
  switch (route.spread) {
    case Spread::kNode:
      return route.handle(call);
    case Spread::kRead:
    case Spread::kFilter:
      return AnswerRead(call, route);
    case Spread::kEvents:
      return AnswerEvents(call, route);
    case Spread::kCommand:
      return AnswerCommand(call, route);
    case Spread::kPolicy:
      return AnswerPolicy(call, route);
  }
}

/// Where this node has the user, and nothing is to be waited for, its handler answers as at a
/// server by itself.
void ClusterRouter::AnswerRead(Call& call, const Route& route) {
  const auto table = node_.table();
  const auto question = QuestionOf(call, call.engine());
  if (table == nullptr || !question || question->partition >= table->partitions()) {
    return route.handle(call);  // which says what is wrong
  }
  const http::RequestHead& head = call.request.head;
  ReadAsk ask;
  ask.partition = question->partition;
  ask.leader_alone = question->record;
  ask.here_alone = head.routing.hop;
  ask.failover = head.routing.failover;
  ask.until = UntilOf(head, call.request.age_us);
  if (question->deadline_ms) ask.deadline_ms = *question->deadline_ms;
  const Result<Positions> positions = ParsePosition(head.routing.position);
  if (!positions.ok()) return call.Refuse(positions.status());
  if (const auto at = positions->find(ask.partition); at != positions->end()) {
    ask.next_offset = at->second;
  }
  const cluster::PartitionRoutes& routes = table->of(ask.partition);
  const bool is_here = ask.leader_alone ? routes.leader && routes.leader->here
                                        : !routes.reads.empty() && routes.reads.front().here;
  if (head.routing.route == kDirect && !is_here) return Misdirect(*table, &call.response);
  const bool waits = ask.next_offset > 0 || takeovers_.InDoubt(ask.partition, routes, ask.failover);
  if ((is_here || ask.here_alone) && !waits && AnswerHere(call, route, ask)) return;
  Defer(call, route, std::move(ask));
}

/// False: this node can't tell, and another replica is to be asked.
bool ClusterRouter::AnswerHere(Call& call, const Route& route, const ReadAsk& ask) {
  if (route.handle == nullptr) return false;
  route.handle(call);
  http::Response& response = call.response;
  if (response.move_to_worker || response.later) return true;
  if (CanNotTell(response) && !ask.here_alone) {
    response.Clear();
    return false;
  }
  const auto table = node_.table();
  for (const cluster::Holder& own : table->of(ask.partition).reads) {
    if (own.here) TellBehind(own.behind_ms, &response);
  }
  return true;
}

void ClusterRouter::Defer(Call& call, const Route& route, ReadAsk ask) {
  const auto held = std::make_shared<HeldRequest>(call);
  ask.request = held->ToPeer();
  held->reply = call.Defer();
  const auto end = [this, held, &route](const std::shared_ptr<Read>& read, ReadEnd ended) {
    http::Response response;
    switch (ended.kind) {
      case ReadEnd::Kind::kAnswer:
        counters_.proxied.fetch_add(1, std::memory_order_relaxed);
        return held->reply.Send(ToResponse(std::move(ended.answer)));
      case ReadEnd::Kind::kNobody: {
        counters_.unreachable.fetch_add(1, std::memory_order_relaxed);
        if (route.spread != Spread::kFilter) {
          NobodyAnswers(&response);
          return held->reply.Send(std::move(response));
        }
        break;
      }
      case ReadEnd::Kind::kHere:
        if (route.handle == nullptr) return read->Next();  // a stream: not after a wait
        break;
    }
    const bool is_here = ended.kind == ReadEnd::Kind::kHere;
    const std::string_view in_answer =
        route.spread == Spread::kFilter ? ended.lacks_of_filter() : ended.lacks;
    const std::string_view lacks = is_here ? in_answer : api::kLacksPartition;
    auto job = [this, held, read, &route, lacks, is_here,
                behind_ms = ended.behind_ms](http::Reply reply) {
      http::Response here;
      const bool fails = !lacks.empty() && route.spread != Spread::kFilter;
      if (fails) {
        http::WriteError(
            {503, "unavailable", "the replica did not come as far as SeenDB-Position in time"},
            &here);
      } else {
        held->Run(route, lacks, &here);
      }
      held->reply = std::move(reply);
      if (is_here && CanNotTell(here) && read->has_more()) {
        counters_.retried.fetch_add(1, std::memory_order_relaxed);
        return read->Next();
      }
      TellBehind(behind_ms, &here);
      held->reply.Send(std::move(here));
    };
    if (held->reply.Post(http::Executor::kEngine, std::move(job))) return;
    http::WriteError({503, "busy", "too much work in flight"}, &response);
    held->reply.Send(std::move(response));
  };
  std::make_shared<Read>(Parts(), std::move(ask), end)->Next();
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
  return nullptr;
}

}  // namespace seendb::router
