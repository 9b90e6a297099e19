#include "peers/peer.h"

namespace seendb::perf {
namespace {

#ifdef SEENDB_PERF_REDIS
constexpr PeerKind kPeers[] = {
    {"seendb", false, MakeSeenDb},
    {"seendb-sealed", false, MakeSeenDbSealed},
    {"seendb-operands", false, MakeSeenDbOperands},
    {"seendb-exact", false, MakeSeenDbExact},
    {"rocksdb-rmw", false, MakeRocksRmw},
    {"rocksdb-delta", false, MakeRocksDelta},
    {"redis-zset-range", true, MakeZsetRange},
    {"redis-zset-scores", true, MakeZsetScores},
    {"redis-bytes", true, MakeRedisBytes},
    {"redis-bloom", true, MakeRedisBloom},
};
#else
constexpr PeerKind kPeers[] = {
    {"seendb", false, MakeSeenDb},
    {"seendb-sealed", false, MakeSeenDbSealed},
    {"seendb-operands", false, MakeSeenDbOperands},
    {"seendb-exact", false, MakeSeenDbExact},
    {"rocksdb-rmw", false, MakeRocksRmw},
    {"rocksdb-delta", false, MakeRocksDelta},
};
#endif

}  // namespace

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
