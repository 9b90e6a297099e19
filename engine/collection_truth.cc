#include "collection_truth.h"

#include <algorithm>
#include <optional>

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

}  // namespace seendb
