#include "peers/peer.h"

namespace seendb::perf {
namespace {

constexpr PeerKind kPeers[] = {
    {"seendb", false, MakeSeenDb},
    {"seendb-sealed", false, MakeSeenDbSealed},
    {"seendb-operands", false, MakeSeenDbOperands},
    {"seendb-exact", false, MakeSeenDbExact},
    {"rocksdb-rmw", false, MakeRocksRmw},
    {"rocksdb-delta", false, MakeRocksDelta},
#ifdef SEENDB_PERF_REDIS
    {"redis-zset-range", true, MakeZsetRange},
    {"redis-zset-scores", true, MakeZsetScores},
    {"redis-bytes", true, MakeRedisBytes},
    {"redis-bloom", true, MakeRedisBloom},
#endif
};

}  // namespace

void TakeUnseen(const std::vector<uint8_t>& seen, std::vector<uint32_t>* unseen) {
  unseen->resize(seen.size());
  size_t kept = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    (*unseen)[kept] = static_cast<uint32_t>(i);
    kept += 1U - seen[i];
  }
  unseen->resize(kept);
}

std::span<const PeerKind> AllPeers() { return kPeers; }

std::unique_ptr<Peer> MakePeer(std::string_view name, const PeerOptions& options) {
  for (const PeerKind& kind : kPeers) {
    if (name != kind.name) continue;
    std::string why;
    auto peer = kind.make(options, &why);
    if (peer == nullptr) Fail(std::string(name) + ": " + why);
    return peer;
  }
  Fail("no peer is called " + std::string(name));
}

}  // namespace seendb::perf
