// GET and DELETE /users/{user}.

#include "api/commands.h"
#include "api/routes.h"
#include "migration/observer.h"

namespace seendb::api {

void HandleInspect(Call& call) {
  IdRef user;
  if (const Status status = PathId(call.plan, 0, "/user", &user); !status.ok())
    return call.Refuse(status);
  const auto collection = call.Query("collection");
  const Status may = collection ? MayUse(call.caller(), *collection) : MayUseAll(call.caller());
  if (!may.ok()) return call.Refuse(may);
  if (collection && !call.context.catalog.Find(*collection)) {
    return call.Refuse(call.context.catalog.Unknown(*collection, "/collection"));
  }
  const Result<UserReport> report = call.engine().Inspect(user, collection.value_or(""));
  if (!report.ok()) return call.Refuse(report.status());
  call.response.body = ReportToJson(*report);
}

void HandleErase(Call& call) {
  IdRef user;
  Status status = PathId(call.plan, 0, "/user", &user);
  Erasure erasure;
  if (status.ok()) {
    status = call.engine().EraseUser(user, {.always = call.context.erase_always}, &erasure);
  }
  if (status.ok()) status = migration::Observer(call.context.migrations).Erased(user);
  if (!status.ok()) return call.Refuse(status);
  AppendErasure(erasure, &call.response.body);
}

void AppendErasure(const Erasure& erasure, std::string* out) {
  out->append("{\"erased\":true,\"known\":").append(erasure.known ? "true" : "false");
  if (erasure.written) out->append(",\"until_ms\":").append(std::to_string(erasure.until_ms));
  out->push_back('}');
}

}  // namespace seendb::api
