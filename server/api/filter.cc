#include "api/filter.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "api/filter_binary.h"
#include "api/filter_items.h"
#include "api/load_cut.h"
#include "api/old_cut.h"
#include "api/router.h"
#include "api/routes.h"
#include "api/united.h"
#include "http/wait.h"
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

/// Takes from a request whose answer will be degraded, as it was not asked of all, that seen
/// candidates come back: what is not known may be younger than their gap.
class RepeatsCut {
 public:
  RepeatsCut(bool cuts, FilterRequest* request) : request_(*request), asked_(request->question) {
    if (!cuts || asked_ == nullptr || !asked_->when_short) return;
    question_ = *asked_;
    question_.when_short.reset();
    request_.question = &question_;
  }
  RepeatsCut(const RepeatsCut&) = delete;
  RepeatsCut& operator=(const RepeatsCut&) = delete;
  /// The request is as it was.
  ~RepeatsCut() { request_.question = asked_; }

 private:
  FilterRequest& request_;
  const seendb::Question* const asked_;
  seendb::Question question_;
};

/// Asks for as much as the load allows.
Status AskByLoad(Context& context, FilterRequest* request, const FilterWait& wait,
                 const EntryPtr& entry, FilterResponse* response) {
  Engine& engine = *context.engine.load(std::memory_order_acquire);
  const LoadCut cut(context.admission.degrade(), wait.priority, entry->policy.on_load, request);
  const bool old_is_silent =
      (wait.old != nullptr && !wait.old->got) || OldStoreMayKnow(context, *request);
  const RepeatsCut repeats(cut.cuts() || old_is_silent || !wait.lacks.empty(), request);
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
  if (wait.items_behind && request->on_error == OnError::kFail) {
    *response = {};
    return Status::Unavailable("could not be read: items, which are behind their topic");
  }
  const Status status = AskByLoad(context, request, wait, entry, response);
  if (!status.ok()) return status;
  old.Tell(response);
  if (wait.items_behind) {
    response->degraded = true;
    response->missing.emplace_back("items");
  }
  if (OldStoreMayKnow(context, *request)) {
    if (request->on_error == OnError::kFail) {
      return Status::Unavailable("could not be read: old_store");
    }
    response->degraded = true;
    response->missing.emplace_back("old_store");
  }
  // The old store knows nothing of what a judge drops.
  if (context.migrations != nullptr && request->judge == nullptr && request->collections.empty()) {
    CompareWithOldStore(context, *request, *response);
  }
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
  if (context.migrations == nullptr || wait->old != nullptr || !CountsOwn(request)) return false;
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
  http::Waiting::Came came = std::exchange(wait->came, {});
  if (wait->age_us == 0) Spend(came.waited_us, request);  // else it has the wait in it
  const FilterOnTurn on_turn = wait->waiting->Resume();
  request->turn = came.given == nullptr ? nullptr : &came.given;
  request->on_turn = &on_turn;
  wait->later_us = request->deadline_us;
  Status asked = Ask(context, request, *wait, entry, response);
  if (response->needs_disk) wait->came = std::move(came);  // its turn stays its own
  return asked;
}

/// What was recorded goes into the log of a cluster, too: as it was recorded here, so that it
/// counts once.
void TellServed(Router* router, const FilterRequest& request, const FilterResponse& response) {
  std::vector<Impression> items;
  items.reserve(response.unseen.size() + response.repeats.size());
  const bool grouped =
      request.count_groups && request.question != nullptr && !request.question->groups.empty();
  for (const std::vector<uint32_t>* returned : {&response.unseen, &response.repeats}) {
    for (const uint32_t index : *returned) {
      Impression& one = items.emplace_back();
      one.user = request.user;
      one.item = request.items[index];
      one.at_ms = response.recorded_at_ms;
      if (!grouped) continue;
      one.of = request.question->groups[index].of;
      one.same_as = request.question->groups[index].same_as;
    }
  }
  router->Served(request.user, request.collection, items, response.recorded_at_ms);
}

/// Asks, in the user's turn where the request records, and tells the log of a cluster what was
/// recorded. kIncomplete: `*wait` says what it waits for (AnswerFilter), and nothing was done.
Status AskInTurnAndTell(Context& context, FilterRequest* request, FilterWait* wait, EntryPtr* entry,
                        FilterResponse* response) {
  if (Status found = FindEntry(context, *request, wait->caller, entry); !found.ok()) return found;
  if (AsksOldStore(context, *request, wait)) return Status(StatusCode::kIncomplete, "");
  if (wait->memory_alone && request->record && (*entry)->policy.durability == Durability::kSync) {
    wait->needs_disk = true;
    return Status(StatusCode::kIncomplete, "");
  }
  Spend(wait->age_us, request);
  request->memory_only = wait->memory_alone;
  // Else the other replicas would not know of it.
  request->count_groups =
      context.router == nullptr || (request->record && context.router->LogsGroups());
  const bool in_turn = request->record && wait->waiting != nullptr;
  Status status = in_turn ? AskInTurn(context, request, *entry, wait, response)
                          : Ask(context, request, *wait, *entry, response);
  if (status.ok() && context.router != nullptr && request->record && response->recorded) {
    TellServed(context.router, *request, *response);
  }
  if (status.code() == StatusCode::kIncomplete && response->needs_disk) wait->needs_disk = true;
  return status;
}

bool ItemsAreBehind(const Context& context) {
  const Engine* const engine = context.engine.load(std::memory_order_acquire);
  return engine != nullptr && context.items.IsBehind(engine->NowMs());
}

Status AnswerBinary(Call& call, UnseenForm form, FilterWait* wait) {
  thread_local std::vector<IdRef> ids;
  thread_local FilterRequest request;
  thread_local FilterResponse response;
  Status status = ParseBinaryFilter(call, &request, &ids);
  std::vector<std::string_view> collections;
  if (status.ok()) status = ReadCollections(call, &collections);
  request.collections = collections;
  United united;
  if (status.ok()) status = united.Find(call.context, request, wait->caller);
  if (!status.ok()) return status;
  wait->log_tag = call.context.requests.TagOf(request.user);
  Question question;
  std::vector<ExcludedSet> sets;
  SetDoor::Held held;
  status = ReadExcludedSets(call, &sets);
  if (status.ok()) status = call.context.sets.Find(sets, &held);
  if (!status.ok()) return status;
  question.exclude_sets = sets;
  request.question = sets.empty() ? nullptr : &question;
  EntryPtr entry;
  status = AskInTurnAndTell(call.context, &request, wait, &entry, &response);
  if (status.ok()) WriteBinaryAnswer(request, response, form, &call.response);
  return status;
}

/// Asks the old store.
auto OldStoreSays(FilterWait* wait) {
  using Old = std::shared_ptr<const migration::OldAnswer>;
  return http::Given<Old>([wait](http::Give<Old> give) {
    wait->migration->Ask(*std::exchange(wait->question, {}), std::move(give));
  });
}

/// One request through its tries.
struct Tries {
  FilterWait wait;
  std::optional<UnseenForm> form;  // of a binary one
  http::Executor executor = http::Executor::kInline;
};

/// False: it waits for what `tries->wait` says.
bool TryFilter(Call& call, Tries* tries) {
  FilterWait& wait = tries->wait;
  wait.age_us = call.request.age_us;
  wait.memory_alone = tries->executor == http::Executor::kInline;
  wait.needs_disk = false;
  const Status status =
      tries->form ? AnswerBinary(call, *tries->form, &wait)
                  : AnswerFilter(call.context, call.request.body, &wait, &call.response.body);
  call.response.log_tag = wait.log_tag;
  if (status.code() == StatusCode::kIncomplete) return false;
  if (!status.ok()) call.Refuse(status);
  return true;
}

/// Waits, and tries again.
http::Task<> FilterLater(Call call, Tries tries) {
  FilterWait& wait = tries.wait;
  bool at_worker = call.at_worker;
  do {
    if (wait.question) {
      wait.old = co_await OldStoreSays(&wait);
      at_worker = true;
    } else if (!wait.needs_disk) {
      wait.came = co_await http::Resumed(wait.later_us);
    }
    if (wait.needs_disk || at_worker) tries.executor = http::Executor::kEngine;
    if (!at_worker) {
      co_await http::Turn(tries.executor);
      if (call.still_here != nullptr && !(*call.still_here)()) co_return;
    } else if (!co_await http::OnWorker(tries.executor)) {
      http::WriteError({503, "busy", "too much work in flight"}, &call.response);
      co_return;
    }
  } while (!TryFilter(call, &tries));
}

}  // namespace

Status AnswerFilter(Context& context, std::string_view json, FilterWait* wait, std::string* out) {
  thread_local wire::FilterCall call;
  thread_local FilterResponse response;
  wire::JsonDocument document(&context.unsafe_integers);
  Status status = wire::ParseFilter(json, context.max_candidates, &document, &call);
  if (!status.ok()) return status;
  wait->log_tag = context.requests.TagOf(call.request.user);
  FilterItems items;
  if (Status begun = items.Begin(context, &call); !begun.ok()) return begun;
  wait->items_behind = items.asks() && ItemsAreBehind(context);
  SetDoor::Held held;
  if (Status found = context.sets.Find(call.sets, &held); !found.ok()) return found;
  United united;
  if (Status found = united.Find(context, call.request, wait->caller); !found.ok()) return found;
  call.policies = united.policies();
  EntryPtr entry;
  if (wait->memory_alone && FilterItems::TellsMuch(call)) {
    wait->needs_disk = true;
    status = Status(StatusCode::kIncomplete, "");
  } else {
    status = AskInTurnAndTell(context, &call.request, wait, &entry, &response);
  }
  std::string members;
  if (status.ok()) items.AppendFields(call, response, &members);
  if (status.ok()) wire::AppendFilterAnswer(call, response, entry->policy, members, out);
  if (status.code() == StatusCode::kIncomplete) document.Discard();
  return status;
}

http::Task<> HandleFilter(Call call) {
  Tries tries;
  tries.wait.waiting = call.request.waiting;
  tries.wait.caller = call.caller();
  tries.wait.priority = call.plan.ticket.priority;
  tries.wait.lacks = call.lacks;
  tries.executor = call.at_worker ? http::Executor::kEngine : call.plan.executor;
  if (wire::IsBinary(call.request.head.content_type)) {
    tries.form = ParseAccept(call.request.head.accept);
    if (!tries.form) {
      http::WriteError(
          {406, "not_acceptable",
           "Accept must allow " + std::string(kBitmapType) + " or " + std::string(kIndexesType)},
          &call.response);
      return {};
    }
  }
  if (TryFilter(call, &tries)) return {};  // no coroutine for what need not wait
  return FilterLater(call, std::move(tries));
}

}  // namespace seendb::api
