// server/transfer/peer.h: asks another node for a copy of a shard, over HTTP.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_connection.h"
#include "proof/proofs.h"
#include "seendb/status.h"
#include "transfer/copy.h"

namespace seendb::transfer {

/// Of a file: part of it, and the size of all of it.
struct FetchedPiece {
  std::string bytes;
  uint64_t file_size = 0;
};

/// Whom to ask, and how it is proven who asks.
struct PeerAddress {
  std::string node;  ///< its name
  net::StreamTarget target;
  net::TlsFiles tls = {};
  std::shared_ptr<proof::Proofs> proofs = {};  ///< null: nothing is proven
};

/// One kept connection, made when it is needed. Every call blocks for as long as one answer may
/// take. kUnavailable: no answer came, or one that says "later". Others as the node answered: see
/// Snapshots. Threads: one.
class Peer {
 public:
  Peer(PeerAddress address, std::chrono::milliseconds answer_timeout);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Result<Manifest> Make(uint32_t shard, const CopyRequest& request);
  /// At most `bytes`, at least one. kCorruption: not the part that was asked for.
  Result<FetchedPiece> Read(uint32_t shard, const std::string& id, const std::string& name,
                            uint64_t offset, uint64_t bytes);
  Status End(uint32_t shard, const std::string& id);
  /// Whether the last call had an answer, whatever it said.
  bool answered() const { return answered_; }

 private:
  struct Answer;

  Result<Answer> Ask(std::string_view method, const std::string& target, const std::string& body,
                     const std::string& range);
  Result<Answer> Exchange(const net::HttpConnection::Request& request);

  const PeerAddress address_;
  net::HttpConnection connection_;
  bool answered_ = false;
};

}  // namespace seendb::transfer
