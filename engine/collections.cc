// The engine's calls about collections; the catalog sees to them (catalog.h).

#include <utility>

#include "engine_impl.h"

namespace seendb {

Status EngineImpl::PutCollection(std::string_view name, const PolicyPatch& patch,
                                 std::optional<uint64_t> making) {
  const Status changeable = CheckChangeable();
  return changeable.ok() ? catalog_.Put(name, patch, making) : changeable;
}

Status EngineImpl::DeleteCollection(std::string_view name) {
  const Status changeable = CheckChangeable();
  return changeable.ok() ? catalog_.Delete(name) : changeable;
}

std::vector<CollectionInfo> EngineImpl::Collections() {
  std::vector<CollectionInfo> infos;
  const std::shared_ptr<const CollectionMap> all = catalog_.All();
  for (const auto& [name, collection] : *all) {
    CollectionInfo info{name, collection->policy, collection->making};
    info.policy.max_filter_bytes = EffectiveMaxFilterBytes(collection->policy);
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace seendb
