// /users/{user}/history and /users/{user}/recording: what a user watched, read, looked up and taken
// away.

#include "seendb/history.h"

#include <algorithm>
#include <span>

#include "api/commands.h"
#include "api/paging.h"
#include "api/routes.h"
#include "base/facts.h"
#include "migration/observer.h"
#include "wire/history_json.h"

namespace seendb::api {
namespace {

constexpr std::string_view kCollectionPointer = "/collection";

/// The engine's "/collections/0" and "/items/0" where the request names them otherwise.
Status Renamed(const Status& status, std::string_view from, std::string_view to) {
  if (status.ok() || !status.field().starts_with(from)) return status;
  return Status(status.code(), std::string(status.message()), std::string(to));
}

/// ?collection=a,b.
std::vector<std::string_view> SplitNames(std::string_view names) {
  std::vector<std::string_view> split;
  while (true) {
    const size_t comma = names.find(',');
    split.push_back(names.substr(0, comma));
    if (comma == std::string_view::npos) return split;
    names.remove_prefix(comma + 1);
  }
}

/// Those that a request names; none stand for all.
Status MayUseThese(const files::Token* caller, const std::vector<std::string_view>& collections) {
  Status may = collections.empty() ? MayUseAll(caller) : Status::Ok();
  for (size_t i = 0; i < collections.size() && may.ok(); ++i) {
    may = MayUse(caller, collections[i]);
  }
  return may;
}

/// Whether the answer is that these collections keep no history: then it is written, and the status
/// of the read, which found none, is ok.
bool SaysKeptNone(Call& call, std::span<const std::string_view> collections, Status* status) {
  const bool read = status->ok() || status->code() == StatusCode::kNotFound;
  if (!read || !call.context.catalog.KeepNoHistory(collections)) return false;
  wire::AppendKeptNone(&call.response.body);
  *status = Status::Ok();
  return true;
}

Status AnswerHistory(Call& call) {
  HistoryRequest request;
  size_t limit = request.limit;
  Status status = PathId(call.plan, 0, "/user", &request.user);
  if (status.ok()) status = ReadPage(call, kMaxHistoryLimit, &limit, &request.cursor);
  if (!status.ok()) return status;
  request.limit = static_cast<uint32_t>(limit);
  std::vector<std::string_view> collections;
  if (const auto names = call.Query("collection")) collections = SplitNames(*names);
  status = MayUseThese(call.caller(), collections);
  if (!status.ok()) return status;
  request.collections = collections;
  HistoryPage page;
  status = call.engine().ReadHistory(request, &page);
  if (SaysKeptNone(call, collections, &status)) return status;
  if (!status.ok()) return Renamed(status, "/collections", kCollectionPointer);
  wire::AppendPage(page, &call.response.body);
  return status;
}

Status AnswerLookup(Call& call) {
  IdRef user;
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ItemsCall asked;
  HistoryLookup found;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (status.ok()) status = wire::ParseItems(call.request.body, &document, &asked);
  if (status.ok()) status = MayUse(call.caller(), asked.collection);
  if (status.ok()) {
    status = call.engine().LookupHistory(user, asked.collection, asked.items, &found);
    if (SaysKeptNone(call, {&asked.collection, 1}, &status)) return status;
  }
  if (status.ok()) wire::AppendLookup(found, &call.response.body);
  return status;
}

Status AnswerItem(Call& call) {
  IdRef user, item;
  HistoryLookup found;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (status.ok()) status = PathId(call.plan, 1, "/item", &item);
  if (status.ok()) {
    const std::string_view collection = call.Query("collection").value_or("default");
    if (Status may = MayUse(call.caller(), collection); !may.ok()) return may;
    status = call.engine().LookupHistory(user, collection, {&item, 1}, &found);
  }
  if (!status.ok()) return Renamed(status, "/items", "/item");
  if (found.entries.empty() || !found.entries.front()) {
    if (!found.degraded) return Status::NotFound("not in the history", "/item");
    return Status::Unavailable("not found, but not everything could be read");
  }
  std::string& body = call.response.body;
  body.push_back('{');
  wire::AppendEntryMembers(*found.entries.front(), &body);
  wire::AppendDegraded(found.degraded, found.missing, &body);
  body.push_back('}');
  return status;
}

Status ReadDelete(const Call& call, wire::JsonDocument* document, IdRef* user,
                  wire::ItemsCall* asked) {
  Status status = PathId(call.plan, 0, "/user", user);
  if (status.ok()) status = wire::ParseItems(call.request.body, document, asked);
  if (status.ok()) status = MayUse(call.caller(), asked->collection);
  return status;
}

Status AnswerDelete(Call& call) {
  IdRef user;
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ItemsCall asked;
  std::vector<std::string_view> same_as;
  asked.same_as = &same_as;
  Status status = ReadDelete(call, &document, &user, &asked);
  if (status.ok()) {
    status = call.engine().DeleteHistory(user, asked.collection, asked.items, {}, same_as);
  }
  const auto entry = call.context.catalog.Find(asked.collection);
  if (status.ok() && entry) {
    migration::Observer(call.context.migrations).Deleted(entry->policy, user, asked);
  }
  if (status.ok()) call.response.body = "{\"deleted\":true}";
  return status;
}

Status ReadClear(const Call& call, wire::JsonDocument* document, IdRef* user,
                 wire::ClearCall* clear) {
  Status status = PathId(call.plan, 0, "/user", user);
  if (status.ok()) status = wire::ParseClear(call.request.body, document, clear);
  if (!status.ok()) return status;
  status = MayUseThese(call.caller(), {clear->collections.begin(), clear->collections.end()});
  return Renamed(status, kCollectionPointer, "/collections");
}

Status AnswerClear(Call& call) {
  IdRef user;
  wire::JsonDocument document;
  wire::ClearCall clear;
  Status status = ReadClear(call, &document, &user, &clear);
  if (status.ok()) {
    status = call.engine().ClearHistory(user,
                                        {.collections = clear.collections, .filter = clear.filter});
  }
  if (status.ok() && clear.filter) {
    status = migration::Observer(call.context.migrations).Cleared(user, clear.collections);
  }
  if (status.ok()) call.response.body = "{\"cleared\":true}";
  return status;
}

Status ReadRecording(const Call& call, wire::JsonDocument* document, IdRef* user, bool* paused) {
  Status status = PathId(call.plan, 0, "/user", user);
  if (status.ok()) status = wire::ParseRecording(call.request.body, document, paused);
  return status;
}

Status AnswerRecording(Call& call, IdRef user) {
  const Result<Recording> recording = call.engine().GetRecording(user);
  if (recording.ok()) wire::AppendRecording(*recording, &call.response.body);
  return recording.status();
}

}  // namespace

void HandleHistory(Call& call) {
  if (const Status status = AnswerHistory(call); !status.ok()) call.Refuse(status);
}

void HandleHistoryLookup(Call& call) {
  if (const Status status = AnswerLookup(call); !status.ok()) call.Refuse(status);
}

void HandleHistoryItem(Call& call) {
  if (const Status status = AnswerItem(call); !status.ok()) call.Refuse(status);
}

void HandleHistoryDelete(Call& call) {
  if (const Status status = AnswerDelete(call); !status.ok()) call.Refuse(status);
}

void HandleHistoryClear(Call& call) {
  if (const Status status = AnswerClear(call); !status.ok()) call.Refuse(status);
}

void HandleRecording(Call& call) {
  IdRef user;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (status.ok()) status = AnswerRecording(call, user);
  if (!status.ok()) call.Refuse(status);
}

Status CheckHistoryDelete(const Call& call, bool* lifts_groups) {
  IdRef user;
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ItemsCall asked;
  std::vector<std::string_view> same_as;
  asked.same_as = &same_as;
  Status status = ReadDelete(call, &document, &user, &asked);
  if (status.ok()) status = CheckGroups({}, same_as);
  *lifts_groups = !same_as.empty();
  return status;
}

Status CheckHistoryClear(const Call& call) {
  IdRef user;
  wire::JsonDocument document;
  wire::ClearCall clear;
  return ReadClear(call, &document, &user, &clear);
}

Status CheckRecording(const Call& call) {
  IdRef user;
  wire::JsonDocument document;
  bool paused = false;
  return ReadRecording(call, &document, &user, &paused);
}

void HandlePutRecording(Call& call) {
  IdRef user;
  wire::JsonDocument document;
  bool paused = false;
  Status status = ReadRecording(call, &document, &user, &paused);
  if (status.ok()) status = call.engine().SetRecording(user, paused);
  if (status.ok()) status = AnswerRecording(call, user);
  if (!status.ok()) call.Refuse(status);
}

}  // namespace seendb::api
