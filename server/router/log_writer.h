// server/router/log_writer.h: has records appended by the acting primary of their partition: this
// node or another one.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peers/peer_client.h"
#include "router/node.h"

namespace seendb::router {

/// A record that holds its bytes.
struct OwnedRecord {
  uint32_t partition = 0;
  cluster::LogKind kind = cluster::LogKind::kPlays;
  std::string key, value;
  /// It arrived no earlier. Replicas judge an event's time by its record's arrival.
  int64_t arrival_least_ms = 0;
  int64_t meta_offset = -1;  ///< as in NewRecord; -1: not known yet
};

/// See the head of this file. Threads: any.
class LogWriter {
 public:
  using Done = std::function<void(Result<wire::Appended>)>;

  /// Borrows all. `now_ms`: the present by the engine's clock.
  LogWriter(const RouterNode* node, peers::PeerClient* client, std::function<int64_t()> now_ms);

  /// Appends a record and awaits its apply, as Replicas::Append. Goes to another node only where
  /// nothing was sent to the one before. kUnavailable: nobody leads the partition, or the outcome
  /// is open, as the text says; repeating is harmless. A node that is silent is waited for no
  /// longer than a second and a half. `headers`: HopHeaders.
  void Append(OwnedRecord record, peers::Headers headers, replica::Time until, Done done) const;
  /// The same of several, at once; `done` gets their results in order.
  void AppendAll(std::vector<OwnedRecord> records, const peers::Headers& headers,
                 replica::Time until,
                 std::function<void(std::vector<Result<wire::Appended>>)> done) const;
  /// Says in the record how far this node, which took the request, has read what the cluster is,
  /// unless it says so already.
  void Stamp(OwnedRecord* record) const;
  /// This node appends it, whoever leads.
  void AppendHere(const OwnedRecord& record, replica::Time until, Done done) const;

 private:
  struct Way;
  struct Sent;

  void TryNext(const std::shared_ptr<Way>& way) const;
  void Take(const std::shared_ptr<Way>& way, const std::string& node,
            const peers::PeerAnswer& answer) const;
  /// Gives up soon where the node is silent altogether: one that waits for Kafka answers other
  /// questions.
  void WatchSilence(const std::shared_ptr<Sent>& sent) const;
  void GiveUp(const std::shared_ptr<Way>& way, const std::string& node) const;

  const RouterNode& node_;
  peers::PeerClient& client_;
  const std::function<int64_t()> now_ms_;
};

}  // namespace seendb::router
