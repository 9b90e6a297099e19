// server/router/read.h: one question about one user on its way over the replicas of a partition:
// the next is asked where one can't answer.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/router.h"
#include "peers/peer_client.h"
#include "router/node.h"
#include "router/retry_budget.h"
#include "router/takeovers.h"

namespace seendb::router {

/// What all reads of a node share; borrowed.
struct ReadParts {
  const RouterNode& node;
  peers::PeerClient& client;
  RetryBudget& budget;
  Takeovers& takeovers;
};

/// What is asked, and how.
struct ReadAsk {
  uint32_t partition = 0;
  peers::PeerRequest request = {};  ///< for other nodes; without url and timeout
  int64_t next_offset = 0;          ///< of SeenDB-Position: what is before it has to be applied
  int64_t deadline_ms = 1'000;      ///< for the wait for it
  bool here_alone = false;          ///< another node passed it on
  bool failover = false;            ///< since a replica failed
  bool leader_alone = false;        ///< it records: no replica but the acting primary may answer
  replica::Time until;              ///< nobody waits for the answer after it
};

/// Where it ended.
struct ReadEnd {
  enum class Kind : uint8_t {
    kAnswer,  ///< a node answered: `answer`
    kHere,    ///< this node is to answer; what it can't tell is `lacks`
    kNobody,  ///< no replica can be asked
  };
  Kind kind = Kind::kNobody;
  peers::PeerAnswer answer = {};
  std::string_view lacks = {};
  /// Of kHere: what another node acknowledged may not be applied here. There was no tick that says
  /// so: Kafka does not answer.
  bool in_doubt = false;
  int64_t behind_ms = 0;  ///< of kHere

  /// What a filter's answer lacks.
  std::string_view lacks_of_filter() const {
    return lacks.empty() && in_doubt ? api::kLacksBehind : lacks;
  }
};

/// See the head of this file. Kept alive by what it waits for, and by who holds it. Threads: steps
/// come one after the other, on any thread.
class Read : public std::enable_shared_from_this<Read> {
 public:
  using Done = std::function<void(ReadEnd)>;

  Read(const ReadParts& parts, ReadAsk ask);

  /// Asks the first replica, or the next one: where this node could not answer after kHere. `done`
  /// is called once, by any thread, maybe before this has returned.
  void Next(Done done);
  /// Whether there is a next one.
  bool has_more() const { return at_ < candidates_.size(); }

 private:
  void Try();
  void End(ReadEnd end);
  void AskPeer(const cluster::Holder& route);
  void Take(const cluster::Holder& route, bool patient, peers::PeerAnswer answer);
  void TakeRefusal(peers::PeerAnswer answer);
  bool LooksUp(const std::string& node) const;
  void Failed();
  void Here(int64_t behind_ms);
  void AwaitPosition(int64_t behind_ms, bool in_doubt);
  void FindNewLeader();
  bool Pays();

  const ReadParts parts_;
  ReadAsk ask_;
  Done done_;  // of the newest Next
  std::shared_ptr<const cluster::RoutingTable> table_;
  std::vector<cluster::Holder> candidates_;
  size_t at_ = 0;
  int tries_ = 0;                          // that were paid for
  std::optional<peers::PeerAnswer> last_;  // a refusal, in case nobody does better
};

/// The code of an error that another node answered; empty: it is none.
std::string ErrorCodeOf(const peers::PeerAnswer& answer);

}  // namespace seendb::router
