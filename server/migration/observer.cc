#include "migration/observer.h"

#include <algorithm>

namespace seendb::migration {

Migration* Observer::Of(std::string_view collection) const {
  return migrations_ == nullptr ? nullptr : migrations_->Find(collection);
}

void Observer::Recorded(std::string_view collection, std::span<const Play> plays,
                        const RecordResult& result) const {
  if (Migration* const one = Of(collection)) one->Took(plays, result.refused, result.refusals);
}

OnRecorded Observer::Recording(std::string_view collection, std::span<const Play> plays,
                               const std::optional<LogPlace>& place) const {
  Migration* const one = Of(collection);
  return one == nullptr ? nullptr : one->Stage(plays, place);
}

Status Observer::Erased(IdRef user, const std::optional<LogPlace>& place) const {
  return Cleared(user, {}, place);
}

Status Observer::Cleared(IdRef user, std::span<const std::string_view> collections,
                         const std::optional<LogPlace>& place) const {
  if (migrations_ == nullptr) return {};
  return migrations_->ForEach({}, [&](Migration& one) -> Status {
    const bool named = collections.empty() ||
                       std::find(collections.begin(), collections.end(), one.config().collection) !=
                           collections.end();
    return named ? one.Forget(user, place) : Status();
  });
}

void Observer::Deleted(const Policy& policy, IdRef user, const wire::ItemsCall& items,
                       const std::optional<LogPlace>& place) const {
  if (policy.history.deleted_items != DeletedItems::kRecommendAgain) return;
  if (Migration* const one = Of(items.collection)) one->ForgetItems(user, items.items, place);
}

Status Observer::CollectionDeleted(std::string_view collection) const {
  Migration* const one = Of(collection);
  return one == nullptr ? Status() : one->ForgetAll();
}

}  // namespace seendb::migration
