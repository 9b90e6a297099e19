// GET /users/{user}/counts: how often a user was served, saw and played what belongs to a group.

#include "seendb/counts.h"

#include "api/catalog.h"
#include "api/events_call.h"
#include "api/routes.h"
#include "wire/counts_json.h"

namespace seendb::api {
namespace {

Status AnswerCounts(Call& call) {
  CountsRequest request;
  Status status = PathId(call.plan, 0, "/user", &request.user);
  if (status.ok()) status = ChooseCollection(call, {}, &request.collection);
  if (!status.ok()) return status;
  const auto kind = call.Query("of");
  if (!kind || kind->empty()) {
    return Status::InvalidArgument("is required: a kind of groups, such as author", "/of");
  }
  request.kind = *kind;
  CountsPage page;
  status = call.engine().ReadCounts(request, &page);
  if (status.field() == "/kind") {
    return Status(status.code(), std::string(status.message()), "/of");
  }
  if (status.ok()) wire::AppendCounts(page, &call.response.body);
  return status;
}

}  // namespace

void HandleCounts(Call& call) {
  if (const Status status = AnswerCounts(call); !status.ok()) call.Refuse(status);
}

}  // namespace seendb::api
