// server/cluster/view.h: what one node thinks of the others, and what follows from it: whom a
// question is sent to, who leads a partition, what a node fetches and drops.
//
// Pure: times come in, decisions go out. Two nodes may think differently for some seconds; a
// replica is a function of the log, so that does no harm. Threads: plain values, one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/meta.h"

namespace seendb::cluster {

// ---- Nodes ----

/// How a node looks from here.
enum class NodeState : uint8_t {
  kUp,
  kSuspect,  ///< requests to it were lost: it is asked last
  kDown,     ///< it does not answer probes
};
/// "up".
std::string_view NodeStateName(NodeState state) noexcept;

/// Probes that are missed in a row until a node is down, and requests lost until it is suspect.
inline constexpr uint32_t kMissedMost = 3;
inline constexpr uint32_t kLostMost = 3;

/// What became of probes and requests to one node.
class NodeHealth {
 public:
  /// A probe was answered. It clears lost requests too.
  void Answered() { *this = NodeHealth(0); }
  /// A probe got no answer in time.
  void Missed() { missed_ += missed_ < kMissedMost ? 1 : 0; }
  /// The connection of a probe or of a request was refused: nobody listens.
  void Refused() { missed_ = kMissedMost; }
  /// A request was sent and got no answer.
  void Lost() { lost_ += lost_ < kLostMost ? 1 : 0; }
  /// A request was answered.
  void Served() { lost_ = 0; }
  NodeState state() const;

  /// A node that was never asked is down.
  NodeHealth() = default;

 private:
  explicit NodeHealth(uint32_t missed) : missed_(missed) {}
  uint32_t missed_ = kMissedMost, lost_ = 0;
};

// ---- Replicas ----

/// How far a replica is.
enum class ReplicaState : uint8_t {
  kFetching,     ///< its files are being copied
  kCatchingUp,   ///< it reads the log and has not reached what was newest when it began
  kServing,      ///< it answers
  kBehind,       ///< it was serving and lags
  kUnreachable,  ///< its node is not up, or does not say
};
/// "catching_up".
std::string_view ReplicaStateName(ReplicaState state) noexcept;
/// And back; nothing: there is no such state.
std::optional<ReplicaState> ReplicaStateOf(std::string_view name) noexcept;

/// A replica that lags by more than this is behind.
inline constexpr int64_t kBehindMost = 3'000;

/// The state of a replica that is open. `caught_up`: once true of an opening, true for ever: it has
/// applied all that was in the log at some moment after the opening began.
ReplicaState StateOfOpen(bool caught_up, int64_t behind_ms);

/// A copy that is on its way to a node.
struct CopyProgress {
  uint64_t bytes = 0;  ///< that are there
  uint64_t total = 0;
  uint64_t bytes_per_s = 0;  ///< since it was begun
  bool operator==(const CopyProgress&) const = default;
};

/// A replica as its node tells of it.
struct ReplicaReport {
  ReplicaState state = ReplicaState::kUnreachable;
  int64_t next_offset = 0;  ///< of the log, to be applied next
  int64_t behind_ms = 0;    ///< how long ago it had all of the log
  /// Of the log from old_from until before old_to, the node has nothing more to write to an old
  /// store that a collection moves in from. Both 0: it does not say.
  int64_t old_from = 0, old_to = 0;
  std::optional<CopyProgress> copy = {};
  /// Its node has no way to the partition's log: it has not heard for kBehindMost where the log
  /// ends, or the log takes no records from it.
  bool cut_off = false;
  bool operator==(const ReplicaReport&) const = default;
};

/// What a node said of itself in its newest answer to a probe.
struct NodeReport {
  std::string incarnation;                     ///< another one after each start
  std::map<uint32_t, ReplicaReport> replicas;  ///< by partition
  int64_t meta_offset = 0;                     ///< next_offset of its fold
  int64_t now_ms = 0;                          ///< by its clock
  std::string build;
  bool stopping = false;  ///< it answers, and is about to end
  /// Partitions of which it surely has nothing, open or not. One that it names neither here nor
  /// among the replicas may lie on its disk: it does not say, as while it opens its database.
  std::set<uint32_t> none = {};
  bool operator==(const NodeReport&) const = default;
};

/// A node as seen from here.
struct NodeView {
  NodeHealth health;
  std::optional<NodeReport> report;  ///< the newest
  int64_t clock_ahead_ms = 0;        ///< its clock, compared with ours: surely by so much
  bool clock_wrong = false;          ///< see JudgeClocks
  /// When that report was asked for, and when it came, by this machine's steady clock.
  int64_t asked_ms = 0, answered_ms = 0;
};

/// A clock that differs by more from clocks that agree keeps a node from leading.
inline constexpr int64_t kClockApartMost = 30'000;
/// One that differs by more is told of.
inline constexpr int64_t kClockToldMost = 500;

/// Says of each node that is up whether its clock is wrong: it is apart by more than
/// kClockApartMost from at least two others that agree within that, and more agree so than agree
/// with it. All nodes come to the same, the one with the wrong clock too. Of two nodes nobody knows
/// which is wrong.
void JudgeClocks(std::map<std::string, NodeView>* nodes);
/// By how much a clock is surely ahead (negative: behind) that seems to be `ahead_ms` ahead, give
/// or take `error_ms`.
int64_t SurelyAhead(int64_t ahead_ms, int64_t error_ms);

/// What is wrong with the clocks of nodes that are up, as `self` sees them: for people.
std::vector<std::string> ClockProblems(const std::string& self,
                                       const std::map<std::string, NodeView>& nodes);

/// A replica of one partition as seen from here.
struct ReplicaView {
  std::string node = {};
  NodeState node_state = NodeState::kDown;
  ReplicaReport report = {};  ///< kUnreachable unless the node is up and tells of it
  bool wanted = false;        ///< the placement names it
  bool may_lead = true;       ///< its clock is right, and it is not stopping
  /// Its node has read the placement that this view goes by, so that it knows what is wanted of it.
  bool informed = false;
  /// What the node said last, whether or not it is up.
  ReplicaState last_state = ReplicaState::kUnreachable;
  bool operator==(const ReplicaView&) const = default;
};

/// The replicas of a partition: those that the placement wants, in its order, then others that are
/// still held, by name.
std::vector<ReplicaView> ReplicasOf(uint32_t partition, const Meta& meta,
                                    const std::map<std::string, NodeView>& nodes);

/// The replicas that a question is sent to, one after the other, by position in `replicas`: serving
/// ones in their order, then those behind, first the one that has applied most (offsets, unlike
/// lags, mean the same whenever they were told); those of suspect nodes after all
/// others, in the same order. Those that are fetching, catching up or down are not asked.
std::vector<size_t> ReadOrder(const std::vector<ReplicaView>& replicas);

/// The acting primary, by position: the first that is up and serving and may lead; else, of those
/// up and behind that may lead, the one that has applied most. One that is cut off from the log
/// leads only where all are: nobody can write then, and reads go on. Nothing: nobody can lead.
std::optional<size_t> ActingPrimary(const std::vector<ReplicaView>& replicas);

/// The place of `node` among those of the partition's list that are up, itself among them; nothing:
/// the list does not name it. The first appends a tick where nothing happens, the others each some
/// time after the one before: that one may be cut off from the log.
std::optional<size_t> TickPlace(uint32_t partition, const std::string& node, const Meta& meta,
                                const std::map<std::string, NodeView>& nodes);

/// Where a copy of the shard is asked for, one after the other, by position: as ReadOrder, but for
/// the acting primary, which comes after the others that serve: it has the most to do.
std::vector<size_t> CopyOrder(const std::vector<ReplicaView>& replicas);

/// "partitions 0, 3 and 17 more": for people.
std::string PartitionsText(const std::vector<uint32_t>& partitions);

// ---- What a node holds ----

/// How many partitions a node fetches at once.
inline constexpr size_t kFetchesMost = 2;
/// How long all wanted replicas have been serving before one that is not wanted is dropped.
inline constexpr int64_t kDropAfterMs = 60'000;

/// Since when all wanted replicas of each partition have been serving, without a break, on nodes
/// that know that they are wanted. A node that goes by an older placement may be about to drop its
/// own. With another list the time begins anew: who came into it may have served for a moment.
class ServingSince {
 public:
  /// Looks at a partition, now.
  void Note(uint32_t partition, const std::vector<ReplicaView>& replicas, int64_t now_ms);
  /// Whether that has lasted for kDropAfterMs.
  bool LongEnough(uint32_t partition, int64_t now_ms) const;

 private:
  struct Since {
    std::vector<std::string> wanted;
    int64_t at_ms = 0;
  };
  std::map<uint32_t, Since> since_;
};

/// What a node is to do now.
struct ShardPlan {
  std::vector<uint32_t> fetch;  ///< wanted and absent, at most as many as may be fetched now
  std::vector<uint32_t> drop;   ///< held, not wanted, and not needed any more
  bool operator==(const ShardPlan&) const = default;
};

/// Compares what the placement wants of `node` with what it holds. `held`: open partitions;
/// `fetching`: those on their way. Without a placement nothing is fetched or dropped. Partitions
/// from `first` on are fetched before others: those that can't be fetched keep no others waiting.
ShardPlan PlanShards(const std::string& node, const Meta& meta, const std::set<uint32_t>& held,
                     const std::set<uint32_t>& fetching, const ServingSince& serving,
                     int64_t now_ms, uint32_t first = 0);

}  // namespace seendb::cluster
