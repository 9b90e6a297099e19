// A user: the watch history, what is held, erasure.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "c/handles.h"

using seendb::Status;
using namespace seendb::c;  // NOLINT(google-build-using-namespace)

namespace seendb::c {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostNames = 100'000;  // as many collections as there may be

std::string TextOf(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson EntryJson(const HistoryEntry& entry) {
  OrderedJson json = {{"collection", entry.collection},
                      {"item", entry.item},
                      {"at", entry.at_ms},
                      {"progress_s", entry.progress_s},
                      {"duration_s", entry.duration_s}};
  if (!entry.device.empty()) json["device"] = entry.device;
  if (entry.fields.empty()) return json;
  // A program in C++ may have kept any text there.
  OrderedJson fields = ParseOutside<OrderedJson>(entry.fields);
  json["fields"] = fields.is_object() ? std::move(fields) : OrderedJson(entry.fields);
  return json;
}

void AddMissing(bool degraded, const std::vector<std::string>& missing, OrderedJson* json) {
  (*json)["degraded"] = degraded;
  if (!missing.empty()) (*json)["missing"] = missing;
}

/// Names of an array, borrowed.
Status TakeNames(const char* const* names, size_t count, std::vector<std::string_view>* to) {
  Status taken = CheckArray(names, count, kMostNames, "collections");
  for (size_t i = 0; taken.ok() && i < count; ++i) {
    taken = NotNull(names[i], ("collections/" + std::to_string(i)).c_str());
    if (taken.ok()) to->emplace_back(names[i]);
  }
  return taken;
}

/// Checks what all functions about a user take.
Status TakeUser(seendb_db* db, const seendb_id& user, IdRef* to) {
  const Status checked = NotNull(db, "db");
  return checked.ok() ? TakeId(user, "/user", to) : checked;
}

Status TakeUserAndItems(seendb_db* db, const seendb_id& user, const seendb_id* items, size_t count,
                        IdRef* of_user, std::vector<IdRef>* ids) {
  const Status checked = TakeUser(db, user, of_user);
  return checked.ok() ? TakeIds(items, count, kMaxHistoryItems, "items", ids) : checked;
}

}  // namespace
}  // namespace seendb::c

extern "C" {

seendb_code seendb_history(seendb_db* db, seendb_id user, const char* const* collections,
                           size_t count, uint32_t limit, const char* cursor, char** json,
                           seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::HistoryRequest request;
    Status status = TakeJson(db, json);
    std::vector<std::string_view> names;
    if (status.ok()) status = TakeUser(db, user, &request.user);
    if (status.ok()) status = TakeNames(collections, count, &names);
    if (!status.ok()) return status;
    request.collections = names;
    request.limit = limit;
    if (cursor != nullptr) request.cursor = cursor;
    seendb::HistoryPage page;
    status = db->engine->ReadHistory(request, &page);
    if (!status.ok()) return status;
    OrderedJson answer = {{"entries", OrderedJson::array()}};
    for (const auto& entry : page.entries) answer["entries"].push_back(EntryJson(entry));
    if (!page.cursor.empty()) answer["cursor"] = page.cursor;
    AddMissing(page.degraded, page.missing, &answer);
    Give(TextOf(answer), json);
    return {};
  });
}

seendb_code seendb_look_up_history(seendb_db* db, seendb_id user, const char* collection,
                                   const seendb_id* items, size_t count, char** json,
                                   seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    std::vector<seendb::IdRef> ids;
    Status status = TakeJson(db, json);
    if (status.ok()) status = TakeUserAndItems(db, user, items, count, &of_user, &ids);
    if (!status.ok()) return status;
    seendb::HistoryLookup found;
    status = db->engine->LookupHistory(of_user, NameOf(collection), ids, &found);
    if (!status.ok()) return status;
    OrderedJson answer = {{"entries", OrderedJson::array()}};
    for (const auto& entry : found.entries) {
      answer["entries"].push_back(entry ? EntryJson(*entry) : OrderedJson());
    }
    AddMissing(found.degraded, found.missing, &answer);
    Give(TextOf(answer), json);
    return {};
  });
}

seendb_code seendb_delete_history(seendb_db* db, seendb_id user, const char* collection,
                                  const seendb_id* items, size_t count, seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    std::vector<seendb::IdRef> ids;
    const Status checked = TakeUserAndItems(db, user, items, count, &of_user, &ids);
    if (!checked.ok()) return checked;
    return db->engine->DeleteHistory(of_user, NameOf(collection), ids);
  });
}

seendb_code seendb_clear_history(seendb_db* db, seendb_id user, const char* const* collections,
                                 size_t count, int filter, seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    std::vector<std::string_view> names;
    Status checked = TakeUser(db, user, &of_user);
    if (checked.ok()) checked = TakeNames(collections, count, &names);
    if (!checked.ok()) return checked;
    seendb::HistoryClear clear;
    clear.collections = names;
    clear.filter = filter != 0;
    return db->engine->ClearHistory(of_user, clear);
  });
}

seendb_code seendb_set_recording(seendb_db* db, seendb_id user, int paused, seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    const Status checked = TakeUser(db, user, &of_user);
    return checked.ok() ? db->engine->SetRecording(of_user, paused != 0) : checked;
  });
}

seendb_code seendb_inspect(seendb_db* db, seendb_id user, const char* collection, char** json,
                           seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    Status checked = TakeJson(db, json);
    if (checked.ok()) checked = TakeUser(db, user, &of_user);
    if (!checked.ok()) return checked;
    const auto report = db->engine->Inspect(of_user, collection == nullptr ? "" : collection);
    if (report.ok()) Give(seendb::ReportToJson(*report), json);
    return report.status();
  });
}

seendb_code seendb_erase(seendb_db* db, seendb_id user, int* known, seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    const Status checked = TakeUser(db, user, &of_user);
    if (!checked.ok()) return checked;
    seendb::Erasure erasure;
    const Status status = db->engine->EraseUser(of_user, {}, &erasure);
    if (status.ok() && known != nullptr) *known = erasure.known ? 1 : 0;
    return status;
  });
}

}  // extern "C"
