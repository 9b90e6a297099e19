// server/transfer/fetcher.h: the side of a move that takes: brings a copy of a shard from another
// node.
//
//   Fetcher fetcher({.db = db, .node = "n2", .proofs = proofs});
//   const Giver giver{"n1", "http://10.0.0.1:7373"};
//   Result<Fetched> fetched = fetcher.Fetch(7, giver, [&] { return stopping; });
//   if (fetched.ok()) status = engine->AttachShard(7, fetched->folder);

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.h"
#include "net/client_stream.h"
#include "proof/proofs.h"
#include "seendb/status.h"
#include "transfer/copy.h"
#include "transfer/free_space.h"
#include "transfer/throttle.h"

namespace seendb::transfer {

class FetchRun;  // fetcher.cc

/// How a node fetches shards.
struct FetchSettings {
  std::string db;                              ///< the folder of its database, which is open
  std::string node;                            ///< its name
  std::shared_ptr<proof::Proofs> proofs = {};  ///< prove who asks; null: nothing is proven
  net::TlsFiles tls = {};                      ///< for addresses of https
  bool tls_alone = false;                      ///< addresses of http are refused
  uint64_t bytes_per_s = 100'000'000;          ///< of all fetches together
  uint64_t reserve_bytes = 1u << 30;           ///< stay free on the disk, beside what a shard takes
  std::chrono::milliseconds answer_timeout{10'000};  ///< of one answer
  std::chrono::milliseconds pause{1'000};            ///< before something is tried again
  std::chrono::milliseconds silent_most{60'000};     ///< without an answer
  std::chrono::milliseconds stuck_most{600'000};     ///< without a byte, whatever is answered
  FreeSpace free_space = FreeSpaceOf;
};

/// A node that may have a copy.
struct Giver {
  std::string node;  ///< its name
  std::string url;   ///< "http://host:port"
};

/// A shard that was fetched.
struct Fetched {
  std::string folder;  ///< for Engine::AttachShard
  std::vector<CopyOffset> next_offsets;
  uint64_t bytes = 0;  ///< that came over the network
  uint64_t kept = 0;   ///< that an earlier attempt had brought
};

/// What a fetch has done so far.
struct FetchProgress {
  std::string url;
  uint64_t bytes = 0;  ///< of those that came, and of those that an earlier attempt had brought
  uint64_t total = 0;  ///< 0: not known yet
  std::chrono::steady_clock::time_point begun = {};  ///< when that became known
};

/// Threads: any; each fetch blocks its own.
class Fetcher {
 public:
  static constexpr size_t kFetchesMost = 2;

  explicit Fetcher(FetchSettings settings) : settings_(std::move(settings)) {}

  /// Brings the shard from the node into `<db>/tmp`: all of it, each
  /// file with the size and the checksum that its owner told, synced. Blocks; `cancelled` is asked
  /// about every 100 ms, but for the time that an answer takes. A broken connection and a source
  /// that was started anew are taken up again; what a failed attempt has brought stays, for the
  /// next one, from whatever node. kBusy: kFetchesMost run, or one of this shard; or the source
  /// keeps too many copies. kIncompatible: it has another database, before any byte. kCorruption:
  /// what came is not what it should be, by name. kIOError: too little free disk, before any byte;
  /// or the disk failed. kForbidden: the source has another secret. kNotFound: it knows no copies.
  /// kUnavailable: it does not answer, or `cancelled`. kInvalidArgument ("/url"): it is none, or is
  /// refused.
  Result<Fetched> Fetch(uint32_t shard, const Giver& giver, const std::function<bool()>& cancelled);
  /// The same from the first of several nodes that can give it; the failure of the last. kNotFound:
  /// there are none.
  Result<Fetched> FetchFromOne(uint32_t shard, const std::vector<Giver>& givers,
                               const std::function<bool()>& cancelled);
  /// Removes what an attempt has brought of a shard that is not wanted any more. kBusy: it is being
  /// fetched.
  Status Discard(uint32_t shard);
  /// Of the fetches that run.
  std::map<uint32_t, FetchProgress> Progress() const;
  /// What came over the network since the start, of all fetches.
  uint64_t fetched_bytes() const { return fetched_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class FetchRun;

  Status Begin(uint32_t shard, const std::string& url);
  void End(uint32_t shard);
  /// When so many bytes may be asked for.
  int64_t When(uint64_t bytes);
  /// So many bytes more; with `total` the count begins anew.
  void Tell(uint32_t shard, uint64_t bytes, uint64_t total);

  const FetchSettings settings_;
  std::atomic<uint64_t> fetched_bytes_{0};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<uint32_t, FetchProgress> running_ GUARDED_BY(mutex_);
  Throttle throttle_ GUARDED_BY(mutex_){settings_.bytes_per_s};
};

}  // namespace seendb::transfer
