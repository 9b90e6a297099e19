// Nodes that send reads and writes by what each of them thinks of the others, while some die, come
// back, are about to stop, or have a wrong clock, and probes are lost: tables are stale and differ,
// and two nodes may lead at once. Records are applied some time after they are in the log. What was
// acknowledged has to be in an answer wherever that is promised (server/doc/cluster.md).
// Deterministic by the seed: routing tables and takeovers are the server's, network and log are
// not.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/placement.h"
#include "cluster/routing_table.h"
#include "cluster/view.h"
#include "router/takeovers.h"
#include "simulation/dice.h"
#include "support/seed.h"

namespace seendb::router::SEENDB_TEST_FILE {
namespace {

using cluster::NodeReport;
using cluster::NodeView;
using cluster::PartitionRoutes;
using cluster::ReplicaState;
using cluster::RoutingTable;
using simulation::Dice;

constexpr size_t kNodes = 4;
constexpr uint32_t kPartitions = 3;
constexpr int64_t kStepMs = 50, kProbeMs = 1'000;

std::string NameOf(size_t node) { return "n" + std::to_string(node); }
size_t NumberOf(const std::string& name) { return static_cast<size_t>(name[1] - '0'); }

/// A process, as far as reads and writes meet it.
struct Process {
  bool up = true, stopping = false;
  int64_t changes_at_ms = 0, clock_ahead_ms = 0;
  std::map<uint32_t, size_t> applied = {};  // records of the log
  std::map<std::string, NodeView> views = {};
  std::shared_ptr<const RoutingTable> table = nullptr;
  std::unique_ptr<Takeovers> takeovers = std::make_unique<Takeovers>();
  std::map<uint32_t, int64_t> leads_since_ms = {};  // by its own table
};

/// A record of the log that was acknowledged.
struct Write {
  size_t position = 0;
  int64_t acknowledged_ms = 0;
};

class World {
 public:
  explicit World(uint64_t seed) : dice_(seed) {
    std::vector<std::string> records = {
        cluster::EncodeMeta(cluster::InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                                                .partitions = kPartitions,
                                                .replicas = 2,
                                                .hash = 1})};
    for (size_t i = 0; i < kNodes; ++i) {
      records.push_back(cluster::EncodeMeta(cluster::MemberRecord{
          .node = NameOf(i), .url = "http://" + NameOf(i) + ":1", .zone = NameOf(i)}));
    }
    cluster::PlacementRecord placement{.base = -1, .assign = {}};
    for (size_t p = 0; p < kPartitions; ++p) {
      placement.assign.push_back({NameOf(p), NameOf((p + 1) % kNodes), NameOf((p + 2) % kNodes)});
    }
    records.push_back(cluster::EncodeMeta(placement));
    for (size_t i = 0; i < records.size(); ++i) {
      EXPECT_TRUE(meta_.Apply(static_cast<int64_t>(i), records[i]).ok());
    }
    for (size_t i = 0; i < kNodes; ++i) {
      for (size_t p = 0; p < kPartitions; ++p) {
        if (Holds(i, p)) processes_[i].applied[static_cast<uint32_t>(p)] = 0;
      }
    }
    for (size_t i = 0; i < kNodes; ++i) Probe(i, /*all=*/true);
  }

  void Step() {
    now_ms_ += kStepMs;
    for (size_t i = 0; i < kNodes; ++i) {
      Process& process = processes_[i];
      if (now_ms_ >= process.changes_at_ms) Change(i);
      if (!process.up) continue;
      for (auto& [partition, applied] : process.applied) {  // mostly all, sometimes late
        if (dice_.Chance(60)) applied += dice_.Below(log_[partition] - applied + 1);
      }
      if (now_ms_ % kProbeMs == static_cast<int64_t>(i) * kStepMs) Probe(i, false);
    }
    NoteAgreement();
    for (int i = 0; i < 3; ++i) {
      const auto partition = static_cast<uint32_t>(dice_.Below(kPartitions));
      const size_t entry = dice_.Below(kNodes);
      if (!processes_[entry].up || processes_[entry].table == nullptr) continue;
      if (dice_.Chance(50)) {
        Append(entry, partition);
      } else {
        Read(entry, partition);
      }
    }
  }

  size_t writes() const { return writes_; }
  size_t checked() const { return checked_; }
  size_t taken_over() const { return taken_over_; }

 private:
  static bool Holds(size_t node, size_t partition) {
    return (node + kNodes - partition) % kNodes < 3;
  }

  /// It dies or comes back; it is about to stop; its clock goes wrong or right.
  void Change(size_t i) {
    Process& process = processes_[i];
    process.changes_at_ms = now_ms_ + dice_.Between(2'000, 40'000);
    const bool others_up = std::count_if(processes_.begin(), processes_.end(),
                                         [](const Process& one) { return one.up; }) > 2;
    if (!process.up) {
      process.up = true;
      process.stopping = false;
      process.clock_ahead_ms = 0;
      process.takeovers = std::make_unique<Takeovers>();
      process.leads_since_ms.clear();
      process.table = nullptr;
      Probe(i, true);
    } else if (dice_.Chance(60) && others_up) {
      process.up = false;
      process.changes_at_ms = now_ms_ + dice_.Between(200, 15'000);
      for (auto& [partition, applied] : process.applied) {  // what was not synced
        applied -= dice_.Below(std::min<size_t>(applied, 3) + 1);
      }
      process.views.clear();
    } else if (dice_.Chance(50)) {
      process.stopping = !process.stopping;
    } else {
      process.clock_ahead_ms = process.clock_ahead_ms == 0 ? 60'000 : 0;
    }
  }
  /// What it asks all others, each second. `all`: it begins; nothing is lost.
  void Probe(size_t i, bool all) {
    Process& process = processes_[i];
    for (size_t other = 0; other < kNodes; ++other) {
      NodeView& view = process.views[NameOf(other)];
      if (!all && other != i && dice_.Chance(20)) {
        view.health.Missed();
        continue;
      }
      if (!processes_[other].up) {
        view.health.Refused();
        continue;
      }
      view.health.Answered();
      view.report = ReportOf(other);
      view.clock_ahead_ms = processes_[other].clock_ahead_ms - process.clock_ahead_ms;
    }
    Rebuild(i);
  }
  NodeReport ReportOf(size_t i) const {
    NodeReport report;
    report.meta_offset = meta_.next_offset();
    report.stopping = processes_[i].stopping;
    for (const auto& [partition, applied] : processes_[i].applied) {
      report.replicas[partition] = {ReplicaState::kServing, static_cast<int64_t>(applied), 0};
    }
    return report;
  }
  void Rebuild(size_t i) {
    Process& process = processes_[i];
    cluster::JudgeClocks(&process.views);
    auto table =
        std::make_shared<const RoutingTable>(NameOf(i), meta_, process.views, process.table.get());
    for (uint32_t p = 0; p < kPartitions; ++p) {
      const bool leads = table->of(p).leader && table->of(p).leader->here;
      if (!leads) {
        process.leads_since_ms.erase(p);
      } else if (process.leads_since_ms.try_emplace(p, now_ms_).second) {
        taken_over_ += table->of(p).taken_over ? 1 : 0;
      }
    }
    process.table = std::move(table);
  }
  void MeetRefused(size_t i, const std::string& node) {
    processes_[i].views[node].health.Refused();
    Rebuild(i);
    NoteAgreement();  // it may judge clocks by fewer nodes now, and read of another leader
  }

  /// Since when the tables of all nodes that are up name the same leader, which is up.
  void NoteAgreement() {
    for (uint32_t p = 0; p < kPartitions; ++p) {
      std::set<std::string> leaders;
      for (const Process& process : processes_) {
        if (!process.up) continue;
        const auto& leader = process.table->of(p).leader;
        leaders.insert(leader ? leader->node : "");
      }
      const std::string one = leaders.size() == 1 ? *leaders.begin() : "";
      const std::string agreed = !one.empty() && processes_[NumberOf(one)].up ? one : "";
      if (agreed_[p] != agreed) agreed_[p] = agreed, agreed_from_[p] = acknowledged_[p].size();
    }
  }

  /// As LogWriter: to whoever leads, and to the next one where nobody listens.
  void Append(size_t entry, uint32_t partition) {
    std::set<std::string> asked;
    for (;;) {
      const auto leader = processes_[entry].table->of(partition).leader;
      if (!leader || !asked.insert(leader->node).second) return;
      Process& at = processes_[NumberOf(leader->node)];
      if (!at.up) {
        MeetRefused(entry, leader->node);
        continue;
      }
      const size_t position = log_[partition]++;
      if (dice_.Chance(3)) return;  // nobody hears of it
      at.applied[partition] = position + 1;
      acknowledged_[partition].push_back({position, now_ms_});
      ++writes_;
      return;
    }
  }

  /// As Read: one replica after the other.
  void Read(size_t entry, uint32_t partition) {
    const auto table = processes_[entry].table;
    const PartitionRoutes& routes = table->of(partition);
    bool failover = false;
    for (const cluster::Holder& route : routes.reads) {
      const size_t number = NumberOf(route.node);
      if (route.here) return Answer(entry, partition, routes, failover);
      if (!processes_[number].up) {
        MeetRefused(entry, route.node);
        failover = true;
        continue;
      }
      const auto remote = processes_[number].table;
      return Answer(number, partition, remote->of(partition), failover || routes.taken_over);
    }
  }
  void Answer(size_t number, uint32_t partition, const PartitionRoutes& routes, bool failover) {
    Process& process = processes_[number];
    if (process.takeovers->Needed(partition, routes, failover, {})) {
      process.applied[partition] = ++log_[partition];  // the tick is in the log, and applied
      process.takeovers->Applied(partition, routes);
    }
    const size_t applied = process.applied[partition];
    const auto leads = process.leads_since_ms.find(partition);
    const bool agreed = !agreed_[partition].empty();
    for (size_t i = 0; i < acknowledged_[partition].size(); ++i) {
      const Write& write = acknowledged_[partition][i];
      const bool taken_over = failover && write.acknowledged_ms < now_ms_ && !Leads(routes);
      const bool before_it_led =
          leads != process.leads_since_ms.end() && write.acknowledged_ms < leads->second;
      const bool while_agreed = agreed && i >= agreed_from_[partition];
      if (!taken_over && !before_it_led && !while_agreed) continue;
      ++checked_;
      ASSERT_LT(write.position, applied)
          << NameOf(number) << " at " << now_ms_ << " ms misses what was acknowledged at "
          << write.acknowledged_ms << (taken_over ? ", asked after a failure" : "")
          << (before_it_led ? ", before it led" : "")
          << (while_agreed ? ", while all agree on " + agreed_[partition] : "");
    }
  }
  static bool Leads(const PartitionRoutes& routes) { return routes.leader && routes.leader->here; }

  Dice dice_;
  cluster::Meta meta_;
  int64_t now_ms_ = 0;
  std::vector<Process> processes_{kNodes};
  std::map<uint32_t, size_t> log_;  // its length
  std::map<uint32_t, std::vector<Write>> acknowledged_;
  std::map<uint32_t, std::string> agreed_;  // on the leader; empty: they don't
  std::map<uint32_t, size_t> agreed_from_;  // the first write acknowledged since then
  size_t writes_ = 0, checked_ = 0, taken_over_ = 0;
};

TEST(StaleViewsSimulation, WhatWasAcknowledgedIsAnsweredAsPromised) {
  const uint64_t seed = test::Seed();
  size_t writes = 0, checked = 0, taken_over = 0;
  for (uint64_t run = 0; run < 20; ++run) {
    World world(seed + run);
    for (int step = 0; step < 3'000; ++step) {
      world.Step();
      if (HasFatalFailure()) FAIL() << "SEENDB_SEED=" << seed + run;
    }
    writes += world.writes();
    checked += world.checked();
    taken_over += world.taken_over();
  }
  EXPECT_GT(writes, 10'000U);
  EXPECT_GT(checked, writes);
  EXPECT_GT(taken_over, 50U);
}

}  // namespace
}  // namespace seendb::router::SEENDB_TEST_FILE
