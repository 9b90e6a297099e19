#include "replica/user_facts.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "wire/json_read.h"
#include "wire/marks_json.h"
#include "wire/sets_json.h"

namespace seendb::replica {

Status PutMarks(Engine* engine, const IdRef& user, std::string_view value, const CallTime& arrived,
                RecordResult* result) {
  wire::JsonDocument document;
  wire::MarksCall said;
  Status status = wire::ParseMarks(value, &document, &said);
  if (!status.ok()) return status;
  for (Mark& mark : said.marks) {
    mark.at_ms = mark.at_ms.ms ? CallTime::OutOfLog(*mark.at_ms.ms) : arrived;
  }
  Result<RecordResult> put = engine->PutMarks(user, said.marks);
  if (!put.ok()) return put.status();
  *result = std::move(put).value();
  return {};
}

// Who wrote it had the user's turn; in the order of the log nobody else is to be waited for.
Status Reserve(Engine* engine, const IdRef& user, const wire::ReserveCall& promised) {
  const FilterTurn turn = std::make_shared<int>();
  ReserveRequest request = promised.request;
  request.collection = promised.collection.value_or("default");
  request.user = user;
  request.decided = true;
  request.turn = &turn;
  Reserved reserved;
  Status status = engine->Reserve(request, &reserved);
  // It was of the present where it was decided: this clock is behind.
  const bool too_early = !status.ok() && request.at_ms.value_or(0) > engine->NowMs();
  return too_early ? Status::Unavailable(std::string(status.message())) : status;
}

Status DeleteMark(Engine* engine, const IdRef& user, std::string_view value,
                  const CallTime& arrived, RecordResult* result) {
  std::string group;
  try {
    group = ParseOutside(value).at("group").get<std::string>();
  } catch (const nlohmann::json::exception& e) {
    return Status::InvalidArgument(e.what());
  }
  const Result<bool> deleted = engine->DeleteMark(user, group, arrived);
  if (!deleted.ok()) return deleted.status();
  result->accepted = *deleted ? 1 : 0;
  return {};
}

Status ChangeUserSet(Engine* engine, const IdRef& user, std::string_view value, int64_t arrived_ms,
                     UserSetInfo* info, RecordResult* result) {
  wire::JsonDocument document;
  std::vector<IdRef> items;
  UserSet set;
  bool deleted = false;
  Status status = wire::ParseUserSetRecord(value, &document, &items, &set, &deleted);
  if (!status.ok()) return status;
  if (deleted) {
    const Result<bool> counted =
        engine->DeleteUserSet(user, set.name, CallTime::OutOfLog(arrived_ms));
    result->accepted = counted.ok() && *counted ? 1 : 0;
    return counted.status();
  }
  set.user = user;
  set.arrived_ms = arrived_ms;
  if (!set.at_ms.ms) set.at_ms = arrived_ms;
  Result<UserSetInfo> put = engine->PutUserSet(set);
  if (!put.ok()) return put.status();
  *info = std::move(put).value();
  return {};
}

}  // namespace seendb::replica
