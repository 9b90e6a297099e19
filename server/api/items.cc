// The store of items: PUT and GET /items/schema, POST /items as one JSON document, POST /items/get,
// GET /admin/items. Lines of NDJSON are in item_stream.cc.

#include "api/items.h"

#include <nlohmann/json.hpp>

#include "api/routes.h"
#include "wire/items_json.h"

namespace seendb::api {
namespace {

/// Applies what the body says and makes the answer.
Status Take(Call& call) {
  const Result<ItemDoor::Opened> opened = call.context.items.Use();
  if (!opened.ok()) return opened.status();
  wire::JsonDocument document(&call.context.unsafe_integers);
  std::vector<ItemUpdate> updates;
  Status read = wire::ParseItemUpdates(call.request.body, *opened->types, &document, &updates);
  if (!read.ok()) return read;
  const Result<ItemReport> report = call.context.items.Apply(opened->store, updates);
  if (!report.ok()) return report.status().WithFieldPrefix("/items");
  wire::ItemsTaken taken{report->applied, report->refused.size(), report->stale};
  for (const ItemRefusal& refusal : report->refused) {
    if (taken.refusals.size() == kMaxItemRefusals) break;
    Status status = refusal.status;
    taken.refusals.push_back({refusal.position, std::move(status).WithFieldPrefix("/items")});
  }
  AnswerItemsTaken(taken, &call.response);
  return {};
}

Status Read(Call& call) {
  const Result<ItemDoor::Opened> opened = call.context.items.Use();
  if (!opened.ok()) return opened.status();
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ItemsAsked asked;
  Status read = wire::ParseItemsAsked(call.request.body, &document, &asked);
  if (!read.ok()) return read;
  const Result<std::vector<Item>> items = opened->store->Get(asked.ids, asked.fields);
  if (!items.ok()) return items.status();
  wire::AppendItems(asked, *items, &call.response.body);
  return {};
}

}  // namespace

void AnswerItemsTaken(const wire::ItemsTaken& taken, http::Response* response) {
  constexpr unsigned kNothingTaken = 422;
  if (taken.accepted == 0 && taken.refused > 0) {
    response->status = kNothingTaken;
    response->error_code = "all_refused";
  }
  wire::AppendItemsTaken(taken, &response->body);
}

void HandleItems(Call& call) {
  if (const Status status = Take(call); !status.ok()) call.Refuse(status);
}

void HandleItemsGet(Call& call) {
  if (const Status status = Read(call); !status.ok()) call.Refuse(status);
}

void HandleItemSchema(Call& call) {
  const Result<ItemDoor::Opened> opened = call.context.items.Use();
  if (!opened.ok()) return call.Refuse(opened.status());
  wire::AppendItemSchema(opened->store->Fields(), &call.response.body);
}

void HandlePutItemSchema(Call& call) {
  std::vector<ItemField> fields;
  Status status = wire::ParseItemSchema(call.request.body, &fields);
  if (!status.ok()) return call.Refuse(status);
  status = call.context.items.PutSchema(fields);
  if (!status.ok()) return call.Refuse(status.WithFieldPrefix("/fields"));
  wire::AppendItemSchema(fields, &call.response.body);
}

void HandleItemsState(Call& call) {
  const Result<ItemDoor::Opened> opened = call.context.items.Use();
  if (!opened.ok()) return call.Refuse(opened.status());
  const std::optional<ops::ItemsState> state = call.context.items.State();
  const ItemStoreStats& store = state->store;
  call.response.body = nlohmann::ordered_json{
      {"fields", state->fields},
      {"items", store.items},
      {"remembered", store.remembered},
      {"record_bytes", store.record_bytes},
      {"memory_bytes", store.memory_bytes},
      {"bytes_limit", state->bytes_limit},
      {"dictionary_texts", store.dictionary_texts},
      {"damaged", store.damaged},
      {"damaged_ids", store.damaged_ids},
      {"load_ms", store.load_ms},
      {"accepted", state->accepted},
      {"refused", state->refused},
      {"stale",
       state->stale}}.dump();
}

}  // namespace seendb::api
