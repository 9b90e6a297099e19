// peers/peer.h: what the benchmark asks of every way to remember what users have seen.
//
// A peer takes plays in, month by month, and answers which of a question's candidates its user has
// not played in the window. Each peer is one file (redis_zset.cc holds two ways to read the same
// data) and is written as its own best friend would: commands are pipelined, replies are read in
// place, candidates are hashed with the fastest hash at hand.
//
// Threads: a Session belongs to one thread, everything else to the scenario's.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenario/world.h"

namespace rocksdb {
class Env;
}

namespace seendb::perf {

/// One client's connection, or thread.
class Session {
 public:
  virtual ~Session() = default;
  /// The positions of the candidates that the user has not played, ascending.
  virtual void Ask(const Question& question, std::vector<uint32_t>* unseen) = 0;
};

/// See the head of this file.
class Peer {
 public:
  virtual ~Peer() = default;
  /// The present, before what happens then.
  virtual void SetTime(int64_t now_ms) { static_cast<void>(now_ms); }
  /// One user's plays of the month of the present, as they come in; at most once a user between
  /// two drains.
  virtual void Add(uint64_t user, int month, std::span<const uint64_t> items) = 0;
  /// The end of an hour: what was added gets to where it is kept.
  virtual void Drain() = 0;
  /// The month is over, nothing more comes for it.
  virtual void EndMonth(int month) { static_cast<void>(month); }
  /// All is loaded and will be asked about.
  virtual void Settle() {}
  /// A client.
  virtual std::unique_ptr<Session> Connect() = 0;
  /// Bytes on disk, or of Redis's memory.
  virtual uint64_t Bytes() = 0;
  /// Bytes ever written to the write-ahead log, and those of taking in (before the drain).
  virtual uint64_t LogBytes() { return 0; }
  /// Closes and opens again with empty caches of its own. False where there is nothing like it.
  virtual bool Reopen() { return false; }
};

/// What a peer is told when it is made.
struct PeerOptions {
  std::string folder;              ///< its own, exists
  std::string redis;               ///< HOST:PORT, or empty
  uint64_t items_a_month = 3'300;  ///< what filters of a fixed size are sized for
  double fpr = 0.0025;             ///< of a month
  bool long_ids = false;           ///< texts are LongText, not decimal
  uint32_t shards = 1;             ///< of SeenDB
  uint64_t block_cache_bytes = 512ULL << 20;
  rocksdb::Env* env = nullptr;  ///< borrowed; null: the real one
};

/// A way to make a peer.
struct PeerKind {
  const char* name;
  bool is_redis;
  /// Null, with the reason in `*why`, where it can't run here.
  std::unique_ptr<Peer> (*make)(const PeerOptions& options, std::string* why);
};

/// For sessions: the positions of what is not `seen` (0 or 1 a candidate).
void TakeUnseen(const std::vector<uint8_t>& seen, std::vector<uint32_t>* unseen);

/// Every peer, SeenDB's own first.
std::span<const PeerKind> AllPeers();

/// A peer that must be there.
std::unique_ptr<Peer> MakePeer(std::string_view name, const PeerOptions& options);

// One function a peer, each in the file of its name.
std::unique_ptr<Peer> MakeSeenDb(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeSeenDbSealed(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeSeenDbOperands(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeSeenDbExact(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeRocksRmw(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeRocksDelta(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeZsetRange(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeZsetScores(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeRedisBytes(const PeerOptions& options, std::string* why);
std::unique_ptr<Peer> MakeRedisBloom(const PeerOptions& options, std::string* why);

}  // namespace seendb::perf
