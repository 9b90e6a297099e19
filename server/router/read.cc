#include "router/read.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"

namespace seendb::router {
namespace {

using cluster::Holder;
using cluster::NodeState;
using cluster::PartitionRoutes;
using peers::PeerAnswer;
using Clock = std::chrono::steady_clock;

/// A replica is not waited for longer while there is another one.
constexpr std::chrono::milliseconds kTryMost{1'500};
/// Silence for less says nothing of a node.
constexpr std::chrono::milliseconds kPatience{500};
/// For the tick of a takeover.
constexpr std::chrono::milliseconds kBarrierMost{1'000};
constexpr unsigned kUnauthorized = 401, kMisdirected = 421, kUnavailable = 503;

std::chrono::milliseconds Until(Clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(then - Clock::now());
}

}  // namespace

std::string ErrorCodeOf(const PeerAnswer& answer) {
  if (answer.status < 400) return {};
  const auto json = ParseOutside(answer.body);
  const auto pointer = nlohmann::json::json_pointer("/error/code");
  if (!json.is_object() || !json.contains(pointer) || !json.at(pointer).is_string()) return {};
  return json.at(pointer).get<std::string>();
}

Read::Read(const ReadParts& parts, ReadAsk ask)
    : parts_(parts), ask_(std::move(ask)), table_(parts.node.table()) {
  if (table_ == nullptr || ask_.partition >= table_->partitions()) return;
  const PartitionRoutes& routes = table_->of(ask_.partition);
  if (ask_.here_alone) {
    const auto own = std::find_if(routes.reads.begin(), routes.reads.end(),
                                  [](const Holder& route) { return route.here; });
    candidates_.push_back(own != routes.reads.end() ? *own : Holder{.here = true});
  } else if (ask_.leader_alone) {
    if (routes.leader) candidates_.push_back(*routes.leader);
  } else {
    candidates_ = routes.reads;
  }
}

void Read::Next(Done done) {
  done_ = std::move(done);
  Try();
}

void Read::End(ReadEnd end) { std::exchange(done_, nullptr)(std::move(end)); }

void Read::Try() {
  if (has_more() && (Clock::now() < ask_.until || candidates_[at_].here)) {
    const Holder& route = candidates_[at_++];
    return route.here ? Here(route.behind_ms) : AskPeer(route);
  }
  at_ = candidates_.size();
  if (last_) {
    return End({.kind = ReadEnd::Kind::kAnswer, .answer = *std::exchange(last_, {})});
  }
  End({.kind = ReadEnd::Kind::kNobody});
}

void Read::AskPeer(const Holder& route) {
  peers::PeerRequest request = ask_.request;
  request.node = route.node;
  request.url = route.url;
  request.timeout = std::max(Until(ask_.until), std::chrono::milliseconds(1));
  if (has_more()) {
    request.timeout = std::min(request.timeout, kTryMost);
  } else if (ask_.leader_alone) {  // it may wait for a tick, and for a position
    const auto position_ms = std::chrono::milliseconds(ask_.next_offset > 0 ? ask_.deadline_ms : 0);
    request.timeout = std::min(request.timeout, kTryMost + kBarrierMost + position_ms);
  }
  request.headers.emplace_back("SeenDB-Timeout-Ms", std::to_string(request.timeout.count()));
  if (ask_.failover || table_->of(ask_.partition).taken_over) {
    request.headers.emplace_back("SeenDB-Failover", "1");
  }
  if (tries_ > 0) request.headers.emplace_back("SeenDB-Attempt", std::to_string(tries_));
  const bool patient = request.timeout >= kPatience;
  parts_.client.Ask(std::move(request),
                    [self = shared_from_this(), route, patient](PeerAnswer answer) {
                      self->Take(route, patient, std::move(answer));
                    });
}

void Read::Take(const Holder& route, bool patient, PeerAnswer answer) {
  switch (answer.kind) {
    case PeerAnswer::Kind::kAnswered:
      // The other node refuses this one, not its caller: an authority was replaced, say.
      if (answer.status == kUnauthorized) {
        parts_.node.note(route.node, Met::kRefused);
        return Failed();
      }
      parts_.node.note(route.node, Met::kServed);
      if (answer.status == kUnavailable || answer.status == kMisdirected) {
        return TakeRefusal(std::move(answer));
      }
      parts_.budget.Answered();
      return End({.kind = ReadEnd::Kind::kAnswer, .answer = std::move(answer)});
    case PeerAnswer::Kind::kRefused:
      parts_.node.note(route.node, Met::kRefused);
      return Failed();
    case PeerAnswer::Kind::kBroken:
      parts_.node.note(route.node, Met::kLost);
      return Failed();
    case PeerAnswer::Kind::kTimedOut:
      if (patient) parts_.node.note(route.node, Met::kLost);
      if (LooksUp(route.node) && !Pays()) at_ = candidates_.size();
      return Failed();
    case PeerAnswer::Kind::kFull:
      if (!Pays()) at_ = candidates_.size();
      return Try();
  }
}

/// A node that has too much to do is not relieved by asking another one, unless that is paid for.
/// What a node can't tell is asked elsewhere.
void Read::TakeRefusal(PeerAnswer answer) {
  const bool elsewhere = answer.status == kMisdirected || ErrorCodeOf(answer) == "unavailable";
  last_ = std::move(answer);
  if (last_->status == kMisdirected) last_.reset();
  if (elsewhere) {
    ask_.failover = true;
    FindNewLeader();
  } else if (!has_more() || !Pays()) {
    at_ = candidates_.size();
  }
  Try();
}

/// A node that is gone costs the others nothing more than it did before: its requests are not
/// second tries. One that is silent and looks alive may have too much to do.
bool Read::LooksUp(const std::string& node) const {
  const auto now = parts_.node.table();
  return (now == nullptr ? table_ : now)->up().contains(node);
}

void Read::Failed() {
  ask_.failover = true;
  FindNewLeader();
  Try();
}

/// Where only the acting primary may answer: who that is by now, unless it was asked already.
void Read::FindNewLeader() {
  if (!ask_.leader_alone) return;
  const auto now = parts_.node.table();
  if (now == nullptr || ask_.partition >= now->partitions()) return;
  const std::optional<Holder>& leader = now->of(ask_.partition).leader;
  if (!leader) return;
  const bool asked = std::any_of(candidates_.begin(), candidates_.end(),
                                 [&](const Holder& route) { return route.node == leader->node; });
  if (!asked) candidates_.push_back(*leader);
  table_ = now;
}

bool Read::Pays() {
  if (!parts_.budget.Take()) return false;
  ++tries_;
  return true;
}

void Read::Here(int64_t behind_ms) {
  const PartitionRoutes& routes = table_->of(ask_.partition);
  if (!parts_.takeovers.Needed(ask_.partition, routes, ask_.failover, Clock::now())) {
    const bool doubt = parts_.takeovers.InDoubt(ask_.partition, routes, ask_.failover);
    return AwaitPosition(behind_ms, doubt);
  }
  const auto until = std::min(ask_.until, Clock::now() + kBarrierMost);
  parts_.node.barrier(ask_.partition, until,
                      [self = shared_from_this(), behind_ms](const Status& status) {
                        Takeovers& takeovers = self->parts_.takeovers;
                        const uint32_t partition = self->ask_.partition;
                        if (status.ok()) {
                          takeovers.Applied(partition, self->table_->of(partition));
                        } else {
                          takeovers.Failed(partition, Clock::now());
                        }
                        self->AwaitPosition(behind_ms, !status.ok());  // without Kafka it reads on
                      });
}

void Read::AwaitPosition(int64_t behind_ms, bool in_doubt) {
  const auto here = [behind_ms, in_doubt](std::string_view lacks) {
    return ReadEnd{
        .kind = ReadEnd::Kind::kHere, .lacks = lacks, .in_doubt = in_doubt, .behind_ms = behind_ms};
  };
  if (ask_.next_offset <= 0) return End(here({}));
  const auto until =
      std::min(ask_.until, Clock::now() + std::chrono::milliseconds(ask_.deadline_ms));
  parts_.node.await(ask_.partition, ask_.next_offset, until,
                    [self = shared_from_this(), here](bool came) {
                      self->End(here(came ? std::string_view() : api::kLacksBehind));
                    });
}

}  // namespace seendb::router
