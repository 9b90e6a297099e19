// GET and DELETE /users/{user}.

#include "api/routes.h"

namespace seendb::api {

void HandleInspect(Call& call) {
  IdRef user;
  if (const Status status = PathId(call.plan, 0, "/user", &user); !status.ok())
    return call.Refuse(status);
  const auto collection = call.Query("collection");
  if (collection && !call.context.catalog.Find(*collection)) {
    return call.Refuse(Status::NotFound("unknown collection", "/collection"));
  }
  const Result<UserReport> report = call.engine().Inspect(user, collection.value_or(""));
  if (!report.ok()) return call.Refuse(report.status());
  call.response.body = ReportToJson(*report);
}

void HandleErase(Call& call) {
  IdRef user;
  Status status = PathId(call.plan, 0, "/user", &user);
  int64_t until_ms = 0;
  if (status.ok()) status = call.engine().EraseUser(user, &until_ms);
  if (!status.ok()) return call.Refuse(status);
  call.response.body = "{\"erased\":true,\"until_ms\":" + std::to_string(until_ms) + "}";
}

}  // namespace seendb::api
