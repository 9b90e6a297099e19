#include "api/filter.h"

#include "api/filter_json.h"
#include "api/routes.h"

namespace seendb::api {

Status AnswerFilter(Context& context, std::string_view json, bool* must_wait, std::string* out) {
  thread_local FilterCall call;
  thread_local FilterResponse response;
  JsonDocument document;
  Status status = ParseFilter(json, context.max_candidates, &document, &call);
  if (!status.ok()) return status;
  const auto entry = context.catalog.Find(call.request.collection);
  if (!entry) return Status::NotFound("unknown collection", "/collection");
  if (must_wait != nullptr && call.request.record &&
      entry->policy.durability == Durability::kSync) {
    *must_wait = true;
    return Status::Ok();
  }
  Engine& engine = *context.engine.load(std::memory_order_acquire);
  status = engine.Filter(call.request, &response);
  if (!status.ok()) return status;
  AppendFilterAnswer(call, response, entry->policy, out);

  context.sampler.Mention(call.request.collection, call.request.user);
  const auto add = [](std::atomic<uint64_t>& to, uint64_t n) {
    to.fetch_add(n, std::memory_order_relaxed);
  };
  add(entry->counters->filters, 1);
  add(entry->counters->candidates, response.examined);
  add(entry->counters->seen, response.seen);
  if (response.degraded) add(entry->counters->degraded, 1);
  return Status::Ok();
}

void HandleFilter(Call& call) {
  bool* const must_wait =
      call.plan.place == http::Place::kHere ? &call.response.move_to_worker : nullptr;
  const Status status =
      AnswerFilter(call.context, call.request.body, must_wait, &call.response.body);
  if (!status.ok()) call.Refuse(status);
}

}  // namespace seendb::api
