#include "collection_truth.h"

#include <algorithm>
#include <optional>
#include <string>

namespace seendb {

CollectionRecord SettleCollection(const CollectionRecord* filed,
                                  std::span<const CollectionClaim> claims) {
  CollectionRecord settled;
  if (filed != nullptr) settled = {filed->making, filed->revision, {}};
  for (const CollectionClaim& claim : claims) {
    settled.making = std::max(settled.making, claim.making);
    settled.revision = std::max(settled.revision, claim.revision);
  }
  const CollectionClaim* best = nullptr;
  for (const CollectionClaim& claim : claims) {
    if (!claim.policy || claim.deleting || claim.making != settled.making) continue;
    const bool better = best == nullptr || claim.changed > best->changed ||
                        (claim.changed == best->changed && claim.revision > best->revision);
    if (better) best = &claim;
  }
  const bool file_has_it = filed != nullptr && filed->policy && filed->making == settled.making;
  const bool file_wins =
      file_has_it && (best == nullptr || (!best->changed && best->revision <= filed->revision));
  if (file_wins) {
    settled.policy = filed->policy;
    settled.revision = filed->revision;
  } else if (best != nullptr) {
    settled.policy = best->policy;
    // Above all that was, where older software changed it.
    settled.revision = best->changed ? settled.revision + 1 : std::max<uint64_t>(best->revision, 1);
  }
  return settled;
}

Status CheckNoneLater(const CollectionRecords& records, const CollectionClaims& claims) {
  for (const auto& [name, claim] : claims) {
    const auto at = records.find(name);
    const CollectionRecord known = at == records.end() ? CollectionRecord() : at->second;
    const bool later_policy = claim.making == known.making && claim.policy != known.policy &&
                              claim.policy && (claim.changed || claim.revision > known.revision);
    if (claim.making <= known.making && !later_policy) continue;
    const auto version = [](uint64_t making, uint64_t revision) {
      return "making " + std::to_string(making) + ", revision " + std::to_string(revision);
    };
    return Status::Incompatible("it knows a later collection \"" + name + "\" (" +
                                version(claim.making, claim.revision) + ") than the database (" +
                                version(known.making, known.revision) +
                                "): taking it would change the collection in every shard");
  }
  return {};
}

}  // namespace seendb
