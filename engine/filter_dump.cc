// Dumps of filters: what is asked is checked, and the user's shard gives the parts.

#include "seendb/filter_dump.h"

#include <cstring>

#include "base/return_if_failed.h"
#include "dumping_engine.h"
#include "engine_impl.h"
#include "format/bytes.h"

namespace seendb {

Status DumpingEngine::DumpFilter(const FilterDumpRequest& request, FilterDump* dump) {
  *dump = {};
  if (*borrowed_.closed) return Status::Closed();
  RETURN_IF_FAILED(CheckUser(request.user));
  const Result<CollectionPtr> collection = borrowed_.catalog->Find(request.collection);
  if (!collection.ok()) return collection.status();
  const Result<std::shared_ptr<Shard>> shard = borrowed_.shards->Of(request.user);
  if (!shard.ok()) return shard.status();
  const ItemHashKey key = ReadItemHashKey();
  dump->hash_version = key.version;
  dump->key_id = key.id;
  return (*shard)->DumpFilter(**collection, request.user.ToString(), request.served_ids, dump);
}

ItemHashKey DumpingEngine::ReadItemHashKey() const {
  ItemHashKey key;
  key.version = (*borrowed_.hash)->version();
  if (key.version < 2) return key;
  static_assert(sizeof(key.secret) == sizeof(ItemHash::Secret));
  std::memcpy(key.secret.data(), (*borrowed_.hash)->secret().data(), key.secret.size());
  key.id = HashBytes({reinterpret_cast<const char*>(key.secret.data()), key.secret.size()});
  return key;
}

}  // namespace seendb
