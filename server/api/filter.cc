#include "api/filter.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "api/filter_binary.h"
#include "api/load_cut.h"
#include "api/old_cut.h"
#include "api/router.h"
#include "api/routes.h"
#include "wire/filter_json.h"
#include "wire/media_type.h"

namespace seendb::api {
namespace {

using EntryPtr = std::shared_ptr<const CatalogEntry>;

/// The collection asked for.
Status FindEntry(Context& context, const FilterRequest& request, const files::Token* caller,
                 EntryPtr* entry) {
  if (Status may = MayUse(caller, request.collection); !may.ok()) return may;
  if (request.record) {
    if (Status may = MayWrite(caller, "/record"); !may.ok()) return may;
  }
  *entry = context.catalog.Find(request.collection);
  if (*entry) return Status::Ok();
  return context.catalog.Unknown(request.collection, "/collection");
}

/// What is answered where no replica of the user can be asked: all is unseen, but what is excluded.
void AnswerUnread(const FilterRequest& request, FilterResponse* response) {
  *response = FilterResponse();
  const auto text_of = [](const IdRef& id) { return id.ToString(); };
  std::set<std::string> excluded;
  std::transform(request.exclude.begin(), request.exclude.end(),
                 std::inserter(excluded, excluded.end()), text_of);
  std::unordered_set<std::string> known;
  for (uint32_t i = 0; i < request.items.size(); ++i) {
    if (request.limit > 0 && response->unseen.size() == request.limit) break;
    std::string item = text_of(request.items[i]);
    const bool kept = !excluded.contains(item);
    ++response->examined;
    if (!known.insert(std::move(item)).second) {
      ++response->duplicates;
    } else if (kept) {
      response->unseen.push_back(i);
    } else {
      ++response->excluded;
    }
    if (request.explain) {
      response->reasons.push_back({kept ? ReasonKind::kUnseen : ReasonKind::kExcluded});
    }
  }
}

/// Asks the engine, or nobody, where no replica can be asked. `lacks`: as Call::lacks.
Status AskEngine(Engine& engine, const FilterRequest& request, std::string_view lacks,
                 FilterResponse* response) {
  if (lacks.empty()) return engine.Filter(request, response);
  if (request.on_error == OnError::kFail) {
    return Status::Unavailable(lacks == kLacksPartition
                                   ? "no replica of the user's partition can be asked"
                                   : "the replica did not come as far as SeenDB-Position in time");
  }
  FilterRequest reads = request;
  if (lacks == kLacksPartition) reads.record = false;  // it is not for this node to lead
  Status status = engine.Filter(reads, response);
  if (lacks == kLacksPartition && status.code() == StatusCode::kUnavailable) {
    AnswerUnread(request, response);
  } else if (status.ok()) {
    lacks = kLacksBehind;  // this node has the user, as of some time ago
  } else {
    return status;
  }
  response->degraded = true;
  response->missing.emplace_back(lacks);
  return Status::Ok();
}

/// Asks for as much as the load allows.
Status AskByLoad(Context& context, FilterRequest* request, const FilterWait& wait,
                 const EntryPtr& entry, FilterResponse* response) {
  Engine& engine = *context.engine.load(std::memory_order_acquire);
  const LoadCut cut(context.admission.degrade(), wait.priority, entry->policy.on_load, request);
  if (Status status = AskEngine(engine, *request, wait.lacks, response); !status.ok()) {
    return status;
  }
  if (cut.Tell(response)) context.admission.CountDegraded();
  return Status::Ok();
}

void CompareWithOldStore(const Context& context, const FilterRequest& request,
                         const FilterResponse& response) {
  migration::Migration* const migration = context.migrations->Find(request.collection);
  if (migration != nullptr) migration->Answered(request, response);
}

/// Asks for what the old store does not know, and counts. The request is as before afterwards.
Status Ask(Context& context, FilterRequest* request, const FilterWait& wait, const EntryPtr& entry,
           FilterResponse* response) {
  OldCut old(wait.old, request);
  if (Status got = old.Check(); !got.ok()) {
    *response = {};  // it may be another request's
    return got;
  }
  const Status status = AskByLoad(context, request, wait, entry, response);
  if (!status.ok()) return status;
  old.Tell(response);
  if (context.migrations != nullptr) CompareWithOldStore(context, *request, *response);
  context.sampler.Mention(request->collection, request->user);
  const auto add = [](std::atomic<uint64_t>& to, uint64_t n) {
    to.fetch_add(n, std::memory_order_relaxed);
  };
  add(entry->counters->filters, 1);
  add(entry->counters->candidates, response->examined);
  add(entry->counters->seen, response->seen);
  if (response->degraded) add(entry->counters->degraded, 1);
  return Status::Ok();
}

/// A deadline counts from the request's first byte. One that has passed asks for what needs no
/// reading.
void Spend(int64_t us, FilterRequest* request) {
  if (request->deadline_us == 0) return;
  request->deadline_us = std::max<int64_t>(1, request->deadline_us - us);
}

/// Whether the old store is to be asked before SeenDB: then `*wait` has the question.
bool AsksOldStore(const Context& context, const FilterRequest& request, FilterWait* wait) {
  if (context.migrations == nullptr || wait->old != nullptr) return false;
  migration::Migration* const migration = context.migrations->Find(request.collection);
  if (migration == nullptr) return false;
  const migration::Migration::Need need = migration->NeedOf(request);
  if (need == migration::Migration::Need::kDegraded) {
    wait->old = std::make_shared<const migration::OldAnswer>();
  }
  if (need != migration::Migration::Need::kOldStore) return false;
  wait->migration = migration;
  std::chrono::microseconds budget = migration->budget();
  if (request.deadline_us != 0) {
    const int64_t left_us = std::max<int64_t>(0, request.deadline_us - wait->age_us);
    budget = std::min(budget, std::chrono::microseconds(left_us));
  }
  migration::Question& question = wait->question.emplace();
  question.user = request.user.ToString();
  question.items.reserve(request.items.size());
  for (const IdRef& item : request.items) question.items.push_back(item.ToString());
  question.until = std::chrono::steady_clock::now() + budget;
  return true;
}

/// Asks while no other recording request of the user is under way: waits for the turn without a
/// thread. The deadline goes on meanwhile.
Status AskInTurn(Context& context, FilterRequest* request, const EntryPtr& entry, FilterWait* wait,
                 FilterResponse* response) {
  http::Waiting::Came came = wait->waiting->Take();
  if (wait->age_us == 0) Spend(came.waited_us, request);  // else it has the wait in it
  const FilterOnTurn on_turn = wait->waiting->Resume();
  request->turn = came.given == nullptr ? nullptr : &came.given;
  request->on_turn = &on_turn;
  wait->later_us = request->deadline_us;
  Status asked = Ask(context, request, *wait, entry, response);
  if (response->needs_disk) wait->waiting->GiveBack(std::move(came));  // its turn stays its own
  return asked;
}

/// What was recorded goes into the log of a cluster, too.
void TellServed(Router* router, const FilterRequest& request, const FilterResponse& response) {
  std::vector<IdRef> items;
  items.reserve(response.unseen.size());
  for (const uint32_t index : response.unseen) items.push_back(request.items[index]);
  router->Served(request.user, request.collection, items, response.recorded_at_ms);
}

/// Asks, in the user's turn where the request records, and tells the log of a cluster what was
/// recorded. kIncomplete: `*wait` says what it waits for (AnswerFilter), and nothing was done.
Status AskInTurnAndTell(Context& context, FilterRequest* request, FilterWait* wait, EntryPtr* entry,
                        FilterResponse* response) {
  if (Status found = FindEntry(context, *request, wait->caller, entry); !found.ok()) return found;
  if (AsksOldStore(context, *request, wait)) return Status(StatusCode::kIncomplete, "");
  if (wait->for_disk != nullptr && request->record &&
      (*entry)->policy.durability == Durability::kSync) {
    *wait->for_disk = true;
    return Status(StatusCode::kIncomplete, "");
  }
  Spend(wait->age_us, request);
  request->memory_only = wait->for_disk != nullptr;
  const bool in_turn = request->record && wait->waiting != nullptr;
  Status status = in_turn ? AskInTurn(context, request, *entry, wait, response)
                          : Ask(context, request, *wait, *entry, response);
  if (status.ok() && context.router != nullptr && request->record && response->recorded) {
    TellServed(context.router, *request, *response);
  }
  if (status.code() == StatusCode::kIncomplete && response->needs_disk) *wait->for_disk = true;
  return status;
}

Status AnswerBinary(Call& call, UnseenForm form, FilterWait* wait) {
  thread_local std::vector<IdRef> ids;
  thread_local FilterRequest request;
  thread_local FilterResponse response;
  Status status = ParseBinaryFilter(call, &request, &ids);
  if (!status.ok()) return status;
  wait->log_tag = call.context.requests.TagOf(request.user);
  EntryPtr entry;
  status = AskInTurnAndTell(call.context, &request, wait, &entry, &response);
  if (status.ok()) WriteBinaryAnswer(request, response, form, &call.response);
  return status;
}

void HandleOnce(Call& call, FilterWait* wait) {
  wait->waiting = call.request.waiting;
  wait->caller = call.caller();
  wait->age_us = call.request.age_us;
  wait->priority = call.plan.ticket.priority;
  wait->lacks = call.lacks;
  if (call.plan.executor == http::Executor::kInline) wait->for_disk = &call.response.move_to_worker;
  Status status;
  if (wire::IsBinary(call.request.head.content_type)) {
    const std::optional<UnseenForm> form = ParseAccept(call.request.head.accept);
    if (!form) {
      return http::WriteError(
          {406, "not_acceptable",
           "Accept must allow " + std::string(kBitmapType) + " or " + std::string(kIndexesType)},
          &call.response);
    }
    status = AnswerBinary(call, *form, wait);
  } else {
    status = AnswerFilter(call.context, call.request.body, wait, &call.response.body);
  }
  call.response.log_tag = wait->log_tag;
  if (call.response.move_to_worker || wait->question) return;
  if (status.code() == StatusCode::kIncomplete) {
    call.response.later = true;
    call.response.later_us = wait->later_us;
  } else if (!status.ok()) {
    call.Refuse(status);
  }
}

/// A request that waits for the old store: what is needed of it to begin anew.
struct HeldFilter {
  explicit HeldFilter(const Call& call)
      : context(call.context), head(call.request.head), body(call.request.body) {
    body_size = body.size();
    body.append(http::kBodyPadding, '\0');
    head.connection = nullptr;  // it may be gone by then
    plan.route = call.plan.route;
    plan.executor = http::Executor::kEngine;
    plan.query = call.plan.query;
    plan.caller = call.plan.caller;
    plan.ticket = call.plan.ticket;
    age_us = call.request.age_us;
  }

  Context& context;
  http::Plan plan;
  http::RequestHead head;
  std::string body;
  size_t body_size = 0;
  int64_t age_us = 0;
  std::chrono::steady_clock::time_point held_at = std::chrono::steady_clock::now();
};

void HandleHeld(const HeldFilter& held, std::shared_ptr<const migration::OldAnswer> old,
                http::Response* response) {
  const auto waited = std::chrono::steady_clock::now() - held.held_at;
  const http::Request request{
      .head = held.head,
      .body = std::string_view(held.body).substr(0, held.body_size),
      .age_us =
          held.age_us + std::chrono::duration_cast<std::chrono::microseconds>(waited).count()};
  Call call{held.context, held.plan, request, *response};
  FilterWait wait;
  wait.old = std::move(old);
  HandleOnce(call, &wait);
}

/// Asks the old store, and answers afterwards. No thread is held meanwhile.
void AskOldStore(Call& call, FilterWait* wait) {
  const auto held = std::make_shared<const HeldFilter>(call);
  const auto reply = std::make_shared<http::Reply>(call.Defer());
  wait->migration->Ask(*std::move(wait->question), [held, reply](auto old) {
    const bool posted = reply->Post(http::Executor::kEngine, [held, old](http::Reply to) {
      http::Response response;
      HandleHeld(*held, old, &response);
      to.Send(std::move(response));
    });
    if (posted) return;
    http::Response refused;
    http::WriteError({503, "busy", "too much work in flight"}, &refused);
    reply->Send(std::move(refused));
  });
}

/// The same where the caller is to have the answer on this thread, which then waits for as long.
void AwaitOldStore(Call& call, FilterWait* wait) {
  std::promise<std::shared_ptr<const migration::OldAnswer>> told;
  wait->migration->Ask(*std::move(wait->question), [&told](auto old) { told.set_value(old); });
  wait->question.reset();
  wait->old = told.get_future().get();
  HandleOnce(call, wait);
}

}  // namespace

Status AnswerFilter(Context& context, std::string_view json, FilterWait* wait, std::string* out) {
  thread_local wire::FilterCall call;
  thread_local FilterResponse response;
  wire::JsonDocument document(&context.unsafe_integers);
  Status status = wire::ParseFilter(json, context.max_candidates, &document, &call);
  if (!status.ok()) return status;
  wait->log_tag = context.requests.TagOf(call.request.user);
  EntryPtr entry;
  status = AskInTurnAndTell(context, &call.request, wait, &entry, &response);
  if (status.ok()) wire::AppendFilterAnswer(call, response, entry->policy, out);
  if (status.code() == StatusCode::kIncomplete) document.Discard();
  return status;
}

void HandleFilter(Call& call) {
  FilterWait wait;
  HandleOnce(call, &wait);
  if (!wait.question) return;
  if (call.request.reply_to == nullptr) return AwaitOldStore(call, &wait);
  AskOldStore(call, &wait);
}

}  // namespace seendb::api
