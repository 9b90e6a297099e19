// POST /reserve: promises to serve items, as far as caps leave room.

#include <string>
#include <utility>
#include <vector>

#include "api/catalog.h"
#include "api/events_call.h"
#include "api/router.h"
#include "api/routes.h"
#include "http/wait.h"
#include "wire/reserve_json.h"

namespace seendb::api {
namespace {

/// The engine's field as one of the body.
Status OfBody(const Status& status) {
  if (status.field() != "/expires") return status;
  return Status(status.code(), std::string(status.message()), "/expires_ms");
}

/// The promise as the log of a cluster has it.
struct ForLog {
  std::string user;
  std::vector<std::string> promised;
};

/// Tries with the turn, or without one: kIncomplete then where `on_turn` gets it later.
Status TryReserve(Call& call, const FilterTurn* turn, const FilterOnTurn* on_turn, ForLog* log) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ReserveCall asked;
  Status status =
      wire::ParseReserve(call.request.body, call.context.max_candidates, &document, &asked);
  if (status.ok()) status = ChooseCollection(call, asked.collection, &asked.request.collection);
  if (!status.ok()) return status;
  call.response.log_tag = call.context.requests.TagOf(asked.request.user);
  // The other replicas are to count from the same time.
  if (call.context.router != nullptr && !asked.request.at_ms) {
    asked.request.at_ms = call.engine().NowMs();
  }
  asked.request.turn = turn;
  asked.request.on_turn = on_turn;
  Reserved reserved;
  status = call.engine().Reserve(asked.request, &reserved);
  if (status.ok()) wire::AppendReserved(asked, reserved, &call.response.body);
  if (status.ok() && call.context.router != nullptr) {
    *log = {asked.request.user.ToString(), wire::PromisedToJson(asked, reserved)};
  }
  if (status.code() == StatusCode::kIncomplete) document.Discard();
  return OfBody(status);
}

}  // namespace

http::Task<> HandleReserve(Call call) {
  if (call.context.router != nullptr && !call.context.router->LogsGroups()) {
    co_return call.Refuse(Status::Unavailable(
        "nodes of a cluster reserve nothing until seendb cluster upgrade --finish"));
  }
  Status status;
  ForLog log;
  FilterTurn turn = co_await http::Given<FilterTurn>([&](const http::Give<FilterTurn>& give) {
    const FilterOnTurn on_turn = give;
    status = TryReserve(call, nullptr, &on_turn, &log);
    if (status.code() != StatusCode::kIncomplete) give(nullptr);
  });
  if (turn != nullptr) {
    if (!co_await http::OnWorker(http::Executor::kEngine)) {
      http::WriteError({503, "busy", "too much work in flight"}, &call.response);
      co_return;
    }
    status = TryReserve(call, &turn, nullptr, &log);
    turn.reset();  // others of the user go on while the log takes it
  }
  if (!status.ok()) co_return call.Refuse(status);
  if (!log.promised.empty()) {
    co_await call.context.router->Reserved(call, std::move(log.user), std::move(log.promised));
  }
}

}  // namespace seendb::api
