// GET /collections and PUT /collections/{name}.

#include "api/report_json.h"
#include "api/routes.h"

namespace seendb::api {

void HandleCollections(Call& call) {
  std::string& body = call.response.body;
  body = "{\"collections\":[";
  bool first = true;
  for (const CollectionInfo& info : call.engine().Collections()) {
    if (!first) body.push_back(',');
    first = false;
    body += ToJsonText(info);
  }
  body += "]}";
}

void HandlePutCollection(Call& call) {
  const std::string& name = call.plan.argument;
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
  call.response.body = ToJsonText({name, entry->policy});
}

}  // namespace seendb::api
