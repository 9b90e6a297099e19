// Nodes of which some are cut off from the log for a while, apply late, stand still or have a clock
// that is hours wrong, while partitions are written or nothing happens for minutes. A replica that
// says that it serves has everything but what is new, one that can read says that it serves, and
// who leads can append. Deterministic by the seed: how far replicas are, who leads and who ticks
// are decided by the server's code; the log, the network and time are not.

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/view.h"
#include "replica/progress.h"
#include "simulation/dice.h"
#include "support/seed.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using cluster::NodeView;
using cluster::ReplicaState;
using simulation::Dice;
using std::chrono::milliseconds;

constexpr size_t kCutNodes = 4;
constexpr uint32_t kCutPartitions = 4;
constexpr int64_t kStepMs = 100, kAskMs = 500, kTickMs = 200, kProbeMs = 1'000;
constexpr int64_t kQuietMs = 1'000;
/// By then everybody has found out: the end of the log is unknown, and probes told so.
constexpr int64_t kFoundOutMs = cluster::kBehindMost + kAskMs + 2 * kProbeMs + kStepMs;

std::string CutNodeName(size_t node) { return "n" + std::to_string(node); }

/// A record of the log.
struct LoggedAt {
  int64_t at_ms = 0;       ///< true time
  int64_t arrival_ms = 0;  ///< by the clock of the node that wrote it
};

/// A process, and what happens to it.
struct LogNode {
  Progress progress;
  std::map<uint32_t, size_t> applied = {};
  std::map<std::string, NodeView> views = {};
  bool cut = false, slow = false, still = false;
  int64_t clock_ahead_ms = 0, changes_at_ms = 5'000;
  int64_t well_since_ms = 0;  ///< neither cut nor slow nor still
};

class CutWorld {
 public:
  explicit CutWorld(uint64_t seed) : dice_(seed) {
    Take(cluster::InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                             .partitions = kCutPartitions,
                             .replicas = 2,
                             .hash = 1});
    for (size_t i = 0; i < kCutNodes; ++i) {
      Take(cluster::MemberRecord{
          .node = CutNodeName(i), .url = "http://h:1", .zone = CutNodeName(i)});
    }
    cluster::PlacementRecord placement{.base = -1, .assign = {}};
    for (size_t p = 0; p < kCutPartitions; ++p) {
      placement.assign.push_back({CutNodeName(p), CutNodeName((p + 1) % kCutNodes)});
      for (const size_t node : {p, (p + 1) % kCutNodes}) {
        nodes_[node].progress.Hold(static_cast<uint32_t>(p), Now());
        nodes_[node].progress.Begin(static_cast<uint32_t>(p), 0, 0);
        nodes_[node].applied[static_cast<uint32_t>(p)] = 0;
      }
    }
    Take(placement);
  }

  void Step() {
    now_ms_ += kStepMs;
    if (now_ms_ >= writes_change_at_ms_) {
      writes_change_at_ms_ = now_ms_ + dice_.Between(5'000, 60'000);
      for (uint32_t p = 0; p < kCutPartitions; ++p) written_[p] = dice_.Chance(40);
    }
    for (size_t i = 0; i < kCutNodes; ++i) {
      if (now_ms_ >= nodes_[i].changes_at_ms) Change(&nodes_[i]);
      if (!nodes_[i].still) Work(i);
    }
    for (uint32_t p = 0; p < kCutPartitions; ++p) Write(p);
    for (size_t i = 0; i < kCutNodes; ++i) {
      if (IsOutvoted(i)) outvoted_at_ms_[i] = now_ms_;
    }
    for (size_t i = 0; i < kCutNodes; ++i) Check(i);
  }

  size_t led() const { return led_; }
  size_t cuts() const { return cuts_; }
  size_t judged() const { return judged_; }

 private:
  Time Now() const { return Time(milliseconds(1'000'000 + now_ms_)); }
  void Take(const cluster::MetaRecord& record) {
    ASSERT_TRUE(meta_.Apply(meta_.next_offset(), cluster::EncodeMeta(record)).ok());
  }
  int64_t ClockOf(const LogNode& node) const {
    return 1'773'144'000'000 + now_ms_ + node.clock_ahead_ms;
  }
  static bool IsWell(const LogNode& node) { return !node.cut && !node.slow && !node.still; }

  void Change(LogNode* node) {
    node->changes_at_ms = now_ms_ + dice_.Between(3'000, 40'000);
    const bool stood_still = node->still;
    node->cut = node->slow = node->still = false;
    const uint64_t throw_of = dice_.Below(100);
    if (throw_of < 25) {
      node->cut = true;
      ++cuts_;
    } else if (throw_of < 35) {
      node->slow = true;
    } else if (throw_of < 45) {
      node->still = true;
    } else if (throw_of < 60) {
      node->clock_ahead_ms = node->clock_ahead_ms == 0 ? dice_.Between(-7'200'000, 7'200'000) : 0;
    }
    if (stood_still && !node->still) node->progress.Doubt(Now());
    node->well_since_ms = now_ms_;
  }

  void Work(size_t i) {
    LogNode& node = nodes_[i];
    for (auto& [partition, applied] : node.applied) {
      const size_t end = log_[partition].size();
      if (!node.cut && now_ms_ % kAskMs == 0) {
        node.progress.NoteEnd(partition, static_cast<int64_t>(end), Now());
      }
      if (node.cut || (node.slow && !dice_.Chance(2))) continue;
      while (applied < end && !(node.slow && dice_.Chance(80))) {
        const LoggedAt& record = log_[partition][applied++];
        const bool sane = record.arrival_ms <= ClockOf(node);
        node.progress.Advance(partition, static_cast<int64_t>(applied),
                              sane ? record.arrival_ms : 0, Now());
      }
    }
    if (now_ms_ % kProbeMs == static_cast<int64_t>(i) * kStepMs) Probe(i);
    if (now_ms_ % kTickMs == 0) Tick(i);
  }
  void Probe(size_t i) {
    LogNode& node = nodes_[i];
    for (size_t other = 0; other < kCutNodes; ++other) {
      NodeView& view = node.views[CutNodeName(other)];
      if (nodes_[other].still) {
        view.health.Missed();
        continue;
      }
      view.health.Answered();
      view.report.emplace().replicas = nodes_[other].progress.Report(ClockOf(nodes_[other]), Now());
      view.clock_ahead_ms = nodes_[other].clock_ahead_ms - node.clock_ahead_ms;
    }
    cluster::JudgeClocks(&node.views);
  }
  /// As Core::Tick.
  void Tick(size_t i) {
    LogNode& node = nodes_[i];
    for (const auto& [partition, applied_at] : node.progress.AppliedAt()) {
      const auto place = cluster::TickPlace(partition, CutNodeName(i), meta_, node.views);
      if (!place || Now() - applied_at < milliseconds(kQuietMs) * (*place + 1)) continue;
      if (!node.cut) Append(node, partition);
    }
  }
  void Append(const LogNode& node, uint32_t partition) {
    log_[partition].push_back({now_ms_, ClockOf(node)});
  }
  /// By whoever leads in the eyes of some node.
  void Write(uint32_t partition) {
    if (!written_[partition] || !dice_.Chance(20)) return;
    const size_t entry = dice_.Below(kCutNodes);
    const auto leader = LeaderAt(entry, partition);
    if (leader && !nodes_[*leader].cut && !nodes_[*leader].still) {
      Append(nodes_[*leader], partition);
    }
  }
  std::optional<size_t> LeaderAt(size_t entry, uint32_t partition) const {
    const auto replicas = cluster::ReplicasOf(partition, meta_, nodes_[entry].views);
    const auto leader = cluster::ActingPrimary(replicas);
    if (!leader) return {};
    return static_cast<size_t>(replicas[*leader].node[1] - '0');
  }

  void Check(size_t i) {
    const LogNode& node = nodes_[i];
    if (node.still) return;
    const std::string where = CutNodeName(i) + " at " + std::to_string(now_ms_) + " ms";
    for (const auto& [partition, report] : node.progress.Report(ClockOf(node), Now())) {
      const auto& log = log_[partition];
      const bool serving = report.state == ReplicaState::kServing;
      if (serving && report.next_offset < static_cast<int64_t>(log.size())) {
        ASSERT_GE(log[static_cast<size_t>(report.next_offset)].at_ms,
                  now_ms_ - cluster::kBehindMost - kStepMs)
            << where << " serves partition " << partition << " and lacks a record";
      }
      if (IsWell(node) && now_ms_ - node.well_since_ms > 2 * kAskMs) {
        ASSERT_TRUE(serving) << where << " reads partition " << partition << ", and is called "
                             << cluster::ReplicaStateName(report.state);
      }
    }
    if (now_ms_ < kFoundOutMs) return;
    for (uint32_t p = 0; p < kCutPartitions; ++p) CheckLeader(i, p, where);
  }
  /// Two others have wrong clocks that happen to agree: they are believed, until it is found out
  /// that they don't any more.
  bool IsOutvoted(size_t node) const {
    const auto apart = [&](const LogNode& one, const LogNode& other) {
      return std::abs(one.clock_ahead_ms - other.clock_ahead_ms) > cluster::kClockApartMost;
    };
    for (const LogNode& one : nodes_) {
      for (const LogNode& other : nodes_) {
        if (&one != &other && !apart(one, other) && apart(one, nodes_[node]) &&
            apart(other, nodes_[node])) {
          return true;
        }
      }
    }
    return false;
  }
  /// Where a replica has been well for long, somebody ticks; where one has a way to the log, though
  /// it may lag, one that has leads.
  void CheckLeader(size_t i, uint32_t partition, const std::string& where) {
    const std::array<size_t, 2> holders{partition, (partition + 1) % kCutNodes};
    const auto is_well = [&](size_t node) {
      return IsWell(nodes_[node]) && now_ms_ - nodes_[node].well_since_ms > kFoundOutMs;
    };
    const auto is_settled = [&](size_t node) {
      return now_ms_ - nodes_[node].well_since_ms > kFoundOutMs;
    };
    if (std::any_of(holders.begin(), holders.end(), is_well)) {
      ASSERT_FALSE(log_[partition].empty());
      ASSERT_GE(log_[partition].back().at_ms, now_ms_ - 3 * kQuietMs)
          << where << ": nobody ticks in partition " << partition;
    }
    const bool any_reaches_log = std::any_of(holders.begin(), holders.end(), [&](size_t node) {
      return !nodes_[node].cut && !nodes_[node].still && nodes_[node].clock_ahead_ms == 0 &&
             now_ms_ - outvoted_at_ms_[node] > kFoundOutMs;
    });
    if (!any_reaches_log || !is_settled(i) ||
        !std::all_of(holders.begin(), holders.end(), is_settled)) {
      return;
    }
    const auto leader = LeaderAt(i, partition);
    ASSERT_TRUE(leader) << where << ": nobody leads partition " << partition;
    ASSERT_FALSE(nodes_[*leader].cut)
        << where << ": " << CutNodeName(*leader) << " leads partition " << partition
        << " and is cut off from the log";
    const bool others_agree = std::all_of(nodes_.begin(), nodes_.end(), [&](const LogNode& other) {
      const bool right = other.clock_ahead_ms == 0 && !other.still;
      return &other == &nodes_[*leader] || (right && now_ms_ - other.well_since_ms > kFoundOutMs);
    });
    if (others_agree) {
      ASSERT_LE(std::abs(nodes_[*leader].clock_ahead_ms), cluster::kClockApartMost)
          << where << ": " << CutNodeName(*leader) << " leads partition " << partition
          << " with a wrong clock";
      ++judged_;
    }
    ++led_;
  }

  Dice dice_;
  cluster::Meta meta_;
  int64_t now_ms_ = 0, writes_change_at_ms_ = 0;
  std::array<LogNode, kCutNodes> nodes_;
  std::array<int64_t, kCutNodes> outvoted_at_ms_{};
  std::map<uint32_t, std::vector<LoggedAt>> log_;
  std::map<uint32_t, bool> written_;
  size_t led_ = 0, cuts_ = 0, judged_ = 0;
};

TEST(LogCutsSimulation, LagIsKnownAndWhoLeadsCanAppend) {
  const uint64_t seed = test::Seed();
  size_t led = 0, cuts = 0, judged = 0;
  for (uint64_t run = 0; run < 20; ++run) {
    CutWorld world(seed + run);
    for (int step = 0; step < 5'000; ++step) {
      world.Step();
      if (::testing::Test::HasFatalFailure()) FAIL() << "SEENDB_SEED=" << seed + run;
    }
    led += world.led();
    cuts += world.cuts();
    judged += world.judged();
  }
  EXPECT_GT(led, 10'000U);
  EXPECT_GT(cuts, 100U);
  EXPECT_GT(judged, 100U);
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
