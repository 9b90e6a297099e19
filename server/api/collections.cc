// GET /collections; GET, PUT and DELETE /collections/{name}.

#include <vector>

#include "api/commands.h"
#include "api/routes.h"
#include "migration/observer.h"

namespace seendb::api {

void HandleCollections(Call& call) {
  std::vector<CollectionInfo> collections = call.engine().Collections();
  if (const files::Token* const caller = call.caller(); caller != nullptr) {
    std::erase_if(collections,
                  [caller](const CollectionInfo& info) { return !caller->Reaches(info.name); });
  }
  call.response.body = ReportToJson(collections);
}

void HandleCollection(Call& call) {
  const std::string& name = call.plan.arguments.front();
  if (const Status may = MayUse(call.caller(), name, "/name"); !may.ok()) return call.Refuse(may);
  const auto entry = call.context.catalog.Find(name);
  if (!entry) return call.Refuse(call.context.catalog.Unknown(name, "/name"));
  call.response.body = ReportToJson(CollectionInfo{name, entry->policy});
}

// All that it holds goes with it, so it is asked for twice.
Status CheckDeletion(const Call& call, const std::string& name) {
  if (!call.context.catalog.Find(name)) return call.context.catalog.Unknown(name, "/name");
  if (call.Query("confirm") == name) return {};
  return Status::Incompatible(
      "deletes everything in the collection, for good; repeat it with ?confirm=" + name,
      "/confirm");
}

void HandleDeleteCollection(Call& call) {
  const std::string& name = call.plan.arguments.front();
  if (const Status may = MayUse(call.caller(), name, "/name"); !may.ok()) return call.Refuse(may);
  if (const Status asked = CheckDeletion(call, name); !asked.ok()) return call.Refuse(asked);
  // Before, so that a killed process leaves no note of a past that is gone; and afterwards, of who
  // was imported meanwhile.
  const migration::Observer observer(call.context.migrations);
  Status status = observer.CollectionDeleted(name);
  if (status.ok()) status = call.engine().DeleteCollection(name);
  if (status.ok()) status = observer.CollectionDeleted(name);
  call.context.catalog.Renew(&call.engine());
  if (!status.ok()) return call.Refuse(status);
  call.response.body = "{\"deleted\":true,\"name\":\"" + name + "\"}";
}

void HandlePutCollection(Call& call) {
  const std::string& name = call.plan.arguments.front();
  if (const Status status = ValidateCollectionName(name); !status.ok()) {
    return call.Refuse(Status::InvalidArgument(std::string(status.message()), "/name"));
  }
  if (const Status may = MayUse(call.caller(), name, "/name"); !may.ok()) return call.Refuse(may);
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
