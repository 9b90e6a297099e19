#include "recovery/former.h"

#include "store/real_disk.h"
#include "store/shard_folders.h"

namespace seendb {

std::optional<std::string> FormerOf(rocksdb::Env* env, const std::string& database,
                                    const std::string& place, bool taken, bool as_found) {
  for (const char* const suffix : {kReplacedSuffix, kKeptSuffix, kRemovedSuffix}) {
    const std::string name = place + suffix;
    const Result<PathKind> kind = KindOfPath(env, database + "/" + name);
    if (kind.ok() && *kind == PathKind::kFolder) return name;
    if (taken || as_found) break;
  }
  return {};
}

}  // namespace seendb
