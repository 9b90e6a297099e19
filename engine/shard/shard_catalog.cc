#include "shard/shard_catalog.h"

#include "shard/entry.h"

namespace seendb {

std::optional<CollectionClaims> ShardCatalog::Claims() {
  std::optional<CollectionClaims> claims;
  TryInside(parts_, [&] {
    if (parts_.store->readable()) claims = ClaimsOf(*parts_.store->families());
  });
  return claims;
}

Status ShardCatalog::Adopt(const Collection& known) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::AdoptPolicy(parts_, known);
}

HistoryIncomplete ShardCatalog::HistoryIncompleteUnder(const Collection& wanted,
                                                       const Policy* recorded_by, int64_t now_ms) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::HistoryIncompleteUnder(parts_, wanted, recorded_by, now_ms);
}

Status ShardCatalog::Announce(const Collection& wanted, const HistoryIncomplete& incomplete) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::AnnouncePolicy(parts_, wanted, incomplete);
}

Status ShardCatalog::Confirm(const Collection& wanted, const HistoryIncomplete& incomplete) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::ConfirmPolicy(parts_, wanted, incomplete);
}

void ShardCatalog::StopWrites(const std::string& name) {
  const SharedLock::Shared inside(parts_.use);
  seendb::StopWrites(parts_, name);
}

void ShardCatalog::ResumeWrites(const std::string& name) {
  const SharedLock::Shared inside(parts_.use);
  seendb::ResumeWrites(parts_, name);
}

bool ShardCatalog::HoldsAny(const Collection& collection) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::HoldsAny(parts_, collection);
}

Status ShardCatalog::BeginDeletion(const std::string& name, uint64_t making) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::BeginDeletion(parts_, name, making);
}

Status ShardCatalog::FinishDeletion(const std::string& name) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::FinishDeletion(parts_, name);
}

Status ShardCatalog::BeginAnew(const Collection& wanted) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::BeginAnew(parts_, wanted);
}

}  // namespace seendb
