#include "api/united.h"

#include <algorithm>
#include <string>

#include "api/access.h"
#include "api/catalog.h"
#include "migration/migration.h"

namespace seendb::api {

Status United::Find(const Context& context, const FilterRequest& request,
                    const files::Token* caller) {
  entries_.clear();
  for (size_t i = 0; i < request.collections.size(); ++i) {
    const std::string field = "/collections/" + std::to_string(i);
    const std::string_view name = request.collections[i];
    if (Status may = MayUse(caller, name, field); !may.ok()) return may;
    entries_.push_back(context.catalog.Find(name));
    if (entries_.back() == nullptr) return context.catalog.Unknown(name, field);
  }
  return Status::Ok();
}

std::vector<const Policy*> United::policies() const {
  std::vector<const Policy*> policies;
  for (const auto& entry : entries_) policies.push_back(&entry->policy);
  return policies;
}

bool CountsOwn(const FilterRequest& request) {
  const auto& names = request.collections;
  return names.empty() || std::find(names.begin(), names.end(), request.collection) != names.end();
}

bool OldStoreMayKnow(const Context& context, const FilterRequest& request) {
  if (context.migrations == nullptr) return false;
  return std::any_of(request.collections.begin(), request.collections.end(),
                     [&](std::string_view name) {
                       migration::Migration* const migration =
                           name == request.collection ? nullptr : context.migrations->Find(name);
                       return migration != nullptr &&
                              migration->NeedOf(request) != migration::Migration::Need::kNothing;
                     });
}

}  // namespace seendb::api
