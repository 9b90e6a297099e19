// GET /collections and PUT /collections/{name}.

#include "api/routes.h"

namespace seendb::api {

void HandleCollections(Call& call) {
  call.response.body = ReportToJson(call.engine().Collections());
}

void HandlePutCollection(Call& call) {
  const std::string& name = call.plan.arguments.front();
  if (const Status status = ValidateCollectionName(name); !status.ok()) {
    return call.Refuse(Status::InvalidArgument(std::string(status.message()), "/name"));
  }
  const std::string_view body = call.request.body;
  const Result<PolicyPatch> patch = PolicyPatchFromJson(body.empty() ? "{}" : body);
  if (!patch.ok()) return call.Refuse(patch.status());
  if (const Status status = call.engine().PutCollection(name, *patch); !status.ok()) {
    return call.Refuse(status);
  }
  call.context.catalog.Renew(&call.engine());
  const auto entry = call.context.catalog.Find(name);
  if (!entry) return call.Refuse(Status::Unavailable("the collection is gone again"));
  call.response.body = ReportToJson(CollectionInfo{name, entry->policy});
}

}  // namespace seendb::api
