#include "api/filter.h"

#include "api/filter_binary.h"
#include "api/filter_json.h"
#include "api/media_type.h"
#include "api/routes.h"

namespace seendb::api {
namespace {

using EntryPtr = std::shared_ptr<const CatalogEntry>;

/// The collection asked for.
Status FindEntry(Context& context, const FilterRequest& request, EntryPtr* entry) {
  *entry = context.catalog.Find(request.collection);
  return *entry ? Status::Ok() : Status::NotFound("unknown collection", "/collection");
}

/// Asks the engine, and counts.
Status Ask(Context& context, const FilterRequest& request, const EntryPtr& entry,
           FilterResponse* response) {
  Engine& engine = *context.engine.load(std::memory_order_acquire);
  if (Status status = engine.Filter(request, response); !status.ok()) return status;
  context.sampler.Mention(request.collection, request.user);
  const auto add = [](std::atomic<uint64_t>& to, uint64_t n) {
    to.fetch_add(n, std::memory_order_relaxed);
  };
  add(entry->counters->filters, 1);
  add(entry->counters->candidates, response->examined);
  add(entry->counters->seen, response->seen);
  if (response->degraded) add(entry->counters->degraded, 1);
  return Status::Ok();
}

void HandleBinaryFilter(Call& call) {
  thread_local std::vector<IdRef> items;
  thread_local FilterRequest request;
  thread_local FilterResponse response;
  const std::optional<UnseenForm> form = ParseAccept(call.request.head.accept);
  if (!form) {
    return http::WriteError(
        {406, "not_acceptable",
         "Accept must allow " + std::string(kBitmapType) + " or " + std::string(kIndexesType)},
        &call.response);
  }
  EntryPtr entry;
  Status status = ParseBinaryFilter(call, &request, &items);
  if (status.ok()) status = FindEntry(call.context, request, &entry);
  if (status.ok()) status = Ask(call.context, request, entry, &response);
  if (!status.ok()) return call.Refuse(status);
  WriteBinaryAnswer(request, response, *form, &call.response);
}

}  // namespace

Status AnswerFilter(Context& context, std::string_view json, bool* must_wait, std::string* out) {
  thread_local FilterCall call;
  thread_local FilterResponse response;
  JsonDocument document;
  EntryPtr entry;
  Status status = ParseFilter(json, context.max_candidates, &document, &call);
  if (status.ok()) status = FindEntry(context, call.request, &entry);
  if (!status.ok()) return status;
  if (must_wait != nullptr && call.request.record &&
      entry->policy.durability == Durability::kSync) {
    *must_wait = true;
    return status;
  }
  status = Ask(context, call.request, entry, &response);
  if (status.ok()) AppendFilterAnswer(call, response, entry->policy, out);
  return status;
}

void HandleFilter(Call& call) {
  if (ParseMediaType(call.request.head.content_type) == MediaType::kBinary) {
    return HandleBinaryFilter(call);
  }
  bool* const must_wait =
      call.plan.place == http::Place::kHere ? &call.response.move_to_worker : nullptr;
  const Status status =
      AnswerFilter(call.context, call.request.body, must_wait, &call.response.body);
  if (!status.ok()) call.Refuse(status);
}

}  // namespace seendb::api
