#include "shard/counts.h"

#include <memory>

#include "format/counts_codec.h"
#include "query/counted.h"
#include "store/status.h"

namespace seendb {

Status ReadCounts(const ShardParts& shard, const Collection& collection, const std::string& user,
                  const CountsRequest& request, CountsPage* page) {
  shard.use.AssertHeldShared();
  if (!shard.store->readable()) return Status::Unavailable("the shard can't be read");
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const of = families->Find(collection.name);
  if (of == nullptr) return {};
  const int64_t now_ms = shard.clock->NowMs();
  const int64_t oldest = BucketIndexOf(collection.policy, now_ms - kCountedForMs);
  page->degraded = of->losses.CoversCounts(user, collection.policy, oldest) ||
                   of->losses.CoversLog(user, collection.policy, oldest);
  if (of->counts == nullptr) return {};
  rocksdb::PinnableSlice value;
  const rocksdb::Status got = shard.store->db()->Get({}, of->counts->get(), user, &value);
  if (got.IsNotFound()) return {};
  if (!got.ok()) return FromRocks(got, "read counts");
  CountList list;
  if (!list.Parse(value.ToStringView()))
    return Status::Corruption("the user's counts can't be read");
  page->degraded = page->degraded || !list.damage.empty();
  page->groups = Counted(list, collection.policy.counts).Groups(request, now_ms, &page->more);
  return {};
}

}  // namespace seendb
