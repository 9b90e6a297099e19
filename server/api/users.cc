// GET and DELETE /users/{user}.

#include "api/routes.h"

namespace seendb::api {
namespace {

/// The user of the path, validated.
Status UserOf(const Call& call, IdRef* user) {
  *user = IdRef(call.plan.argument);
  const Status status = user->Validate();
  if (status.ok()) return status;
  return Status::InvalidArgument(std::string(status.message()), "/user");
}

}  // namespace

void HandleInspect(Call& call) {
  IdRef user;
  if (const Status status = UserOf(call, &user); !status.ok()) return call.Refuse(status);
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
  Status status = UserOf(call, &user);
  if (status.ok()) status = call.engine().EraseUser(user);
  if (!status.ok()) return call.Refuse(status);
  call.response.body = "{\"erased\":true}";
}

}  // namespace seendb::api
