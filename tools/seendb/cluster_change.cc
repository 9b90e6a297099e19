// seendb cluster rebalance, add, remove, move: each writes one placement, after it has shown what
// moves. The nodes do the rest by themselves. begin-empty asks one node to begin a lost shard anew.

#include "cluster_change.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "cluster/placement.h"
#include "cluster_link.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

using cluster::Assignment;
using cluster::MemberRecord;
using cluster::Meta;
using cluster::MetaLog;
using cluster::MetaRecord;
using cluster::PlaceableNode;
using cluster::PlacementMove;

struct ChangeFlags {
  ClusterFlags cluster;
  bool yes = false;
  std::string node;
  std::string from, to;
  uint32_t partition = 0;
};

/// What a command wants to write.
struct PlacementChange {
  std::vector<MetaRecord> before;  ///< of members, in front of the placement
  Assignment assign;               ///< the placement in force: none is written
  std::string done;                ///< said at the end
};

const char* MoveName(PlacementMove::What what) {
  switch (what) {
    case PlacementMove::What::kAdded:
      return "added";
    case PlacementMove::What::kRemoved:
      return "removed";
    case PlacementMove::What::kLeads:
      break;
  }
  return "leads";
}

std::string Joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : " ") + one;
  return text.empty() ? "-" : text;
}

/// A row for each partition whose list changes.
std::string MovesText(const Assignment& from, const Assignment& to) {
  Table table({{"partition", Align::kRight}, {"from"}, {"to"}});
  uint64_t copies = 0;
  for (size_t p = 0; p < to.size(); ++p) {
    const std::vector<std::string> before = p < from.size() ? from[p] : std::vector<std::string>();
    if (before != to[p]) table.Add({std::to_string(p), Joined(before), Joined(to[p])});
  }
  for (const PlacementMove& move : cluster::MovesBetween(from, to)) {
    copies += move.what == PlacementMove::What::kAdded ? 1 : 0;
  }
  return table.ToString() + "replicas that nodes get: " + FormatCount(copies) + "\n";
}

Json MovesJson(const std::vector<PlacementMove>& moves) {
  Json list = Json::array();
  for (const PlacementMove& move : moves) {
    list.push_back(
        {{"partition", move.partition}, {"node", move.node}, {"change", MoveName(move.what)}});
  }
  return list;
}

/// kInvalidArgument: nobody is there to be asked. kForbidden: the answer was no.
Status Confirm(const Session& session, bool yes) {
  if (yes) return {};
  if (session.json || isatty(STDIN_FILENO) == 0) {
    return Status::InvalidArgument("nothing is written without --yes");
  }
  if (Status asked = Print("write this placement? [y/N] "); !asked.ok()) return asked;
  std::fflush(stdout);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y' ? Status()
                                        : Status(StatusCode::kForbidden, "nothing was written");
}

Status WriteChange(MetaLog* log, const PlacementChange& change) {
  for (const MetaRecord& record : change.before) {
    if (Status status = log->Commit(record, kClusterWaitMs); !status.ok()) return status;
  }
  const cluster::Placement& current = log->meta().placement();
  if (change.assign == current.assign) return {};
  return log->Commit(cluster::PlacementRecord{current.offset, change.assign}, kClusterWaitMs);
}

/// Shows a change, asks, and writes it.
Status RunPlacementChange(const Session& session, const ChangeFlags& flags,
                          const std::function<Result<PlacementChange>(const Meta&)>& plan) {
  const auto log = OpenCluster(session, flags.cluster);
  if (!log.ok()) return log.status();
  const Assignment before = (*log)->meta().placement().assign;
  const int64_t base = (*log)->meta().placement().offset;
  const Result<PlacementChange> change = plan((*log)->meta());
  if (!change.ok()) return change.status();
  const bool moves = change->assign != before;
  if (moves || !change->before.empty()) {
    Status status;
    if (moves && !session.json) status = Print(MovesText(before, change->assign));
    if (status.ok()) status = Confirm(session, flags.yes);
    // A placement that another command wrote meanwhile is not the one that was shown.
    if (status.ok()) status = (*log)->ReadToEnd(kClusterWaitMs);
    if (status.ok() && (*log)->meta().placement().offset != base) {
      status = Status::Incompatible("another placement was written meanwhile; nothing was written");
    }
    if (status.ok()) status = WriteChange(log->get(), *change);
    if (!status.ok()) return status;
  }
  if (session.json) {
    return PrintJson({{"placement_offset", (*log)->meta().placement().offset},
                      {"moves", MovesJson(cluster::MovesBetween(before, change->assign))}});
  }
  return Print(moves ? change->done + "the placement is written\n"
                     : change->done + "nothing moves\n");
}

Result<PlacementChange> Placed(const Meta& meta, const std::vector<PlaceableNode>& nodes) {
  if (nodes.empty()) {
    return Status::Incompatible(
        "no node is a member: start servers with `cluster` in their "
        "settings");
  }
  return PlacementChange{{},
                         cluster::Propose(meta.placement().assign, nodes, meta.init()->partitions,
                                          meta.init()->replicas),
                         ""};
}

Result<cluster::Member> FindMember(const Meta& meta, const std::string& node) {
  const auto known = meta.members().find(node);
  if (known == meta.members().end()) return Status::NotFound(node + " is no member", "/node");
  return known->second;
}

Result<PlacementChange> PlanAdd(const Meta& meta, const std::string& node) {
  const Result<cluster::Member> member = FindMember(meta, node);
  if (!member.ok()) return member.status();
  std::vector<PlaceableNode> nodes = cluster::PlaceableNodes(meta);
  std::erase_if(
      nodes, [&](const PlaceableNode& one) { return one.name == node || !meta.Holds(one.name); });
  nodes.push_back({node, member->zone, member->weight});
  Result<PlacementChange> change = Placed(meta, nodes);
  if (change.ok() && member->leaving) {
    change->before.push_back(MemberRecord{node, member->url, member->zone, member->weight,
                                          member->build, true, member->log_version});
  }
  return change;
}

Result<PlacementChange> PlanRemove(const Meta& meta, const std::string& node) {
  const Result<cluster::Member> member = FindMember(meta, node);
  if (!member.ok()) return member.status();
  const cluster::LeaveRecord leave{node};
  if (!meta.Holds(node)) {
    PlacementChange change{{leave}, meta.placement().assign, node + " is no member any more; "};
    if (!member->leaving) change.before.push_back(leave);
    return change;
  }
  std::vector<PlaceableNode> nodes = cluster::PlaceableNodes(meta);
  std::erase_if(nodes, [&](const PlaceableNode& one) { return one.name == node; });
  if (nodes.empty()) return Status::Incompatible(node + " is the last node");
  Result<PlacementChange> change = Placed(meta, nodes);
  if (!change.ok()) return change;
  if (!member->leaving) change->before.push_back(leave);
  change->done = node + " is leaving; remove it once more when it holds nothing; ";
  return change;
}

Result<PlacementChange> PlanMove(const Meta& meta, const ChangeFlags& flags) {
  const Result<cluster::Member> member = FindMember(meta, flags.to);
  if (!member.ok()) return member.status();
  if (member->leaving) return Status::InvalidArgument(flags.to + " is leaving", "/to");
  auto assign =
      cluster::MoveReplica(meta.placement().assign, flags.partition, flags.from, flags.to);
  if (!assign.ok()) return assign.status();
  return PlacementChange{{}, std::move(assign).value(), ""};
}

struct BeginEmptyFlags {
  uint32_t partition = 0;
  std::string confirm;
};

Status RunBeginEmpty(const Session& session, const BeginEmptyFlags& flags) {
  const std::string number = std::to_string(flags.partition);
  if (flags.confirm != number) {
    return Status::InvalidArgument("what only lost replicas of partition " + number +
                                   " have is unseen from then on, for good; add --confirm " +
                                   number);
  }
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  const Result<Json> begun = (*server)->Call(
      {.method = "POST", .target = "/admin/shards/" + number + "/begin-empty?confirm=" + number});
  if (!begun.ok()) return begun.status();
  return session.json ? PrintJson(*begun)
                      : Print("partition " + number + " has begun empty, and reads the log\n");
}

using Plan = Result<PlacementChange> (*)(const Meta&, const ChangeFlags&);

Command AddChange(Command group, Session& session, const std::string& name,
                  const std::string& description, const std::shared_ptr<ChangeFlags>& flags,
                  Plan plan) {
  Command command =
      AddCommand(group, session, name, description, Takes::kServer, [&session, flags, plan] {
        return RunPlacementChange(session, *flags,
                                  [&](const Meta& meta) { return plan(meta, *flags); });
      });
  AddClusterFlags(command, flags->cluster, /*or_server=*/true);
  command.AddFlag("--yes", flags->yes, "Do not ask before the placement is written");
  return command;
}

}  // namespace

void AddClusterChanges(Command group, Session& session) {
  auto rebalance = std::make_shared<ChangeFlags>();
  AddChange(group, session, "rebalance", "Spread the shards evenly over all members", rebalance,
            [](const Meta& meta, const ChangeFlags&) {
              return Placed(meta, cluster::PlaceableNodes(meta));
            })
      .Examples({"seendb cluster rebalance --brokers localhost:9092 --name feed --yes"});

  auto add = std::make_shared<ChangeFlags>();
  Command added = AddChange(
      group, session, "add", "Give one member its share of the shards; takes back its removal", add,
      [](const Meta& meta, const ChangeFlags& flags) { return PlanAdd(meta, flags.node); });
  added.Add("node", add->node, "The member's name").Required().TypeName("NODE");
  added.Examples({"seendb cluster add n3 --brokers localhost:9092 --name feed --yes"});

  auto remove = std::make_shared<ChangeFlags>();
  Command removed = AddChange(
      group, session, "remove", "Take the shards from a member; of one without shards, forget it",
      remove,
      [](const Meta& meta, const ChangeFlags& flags) { return PlanRemove(meta, flags.node); });
  removed.Add("node", remove->node, "The member's name").Required().TypeName("NODE");
  removed.Examples({"seendb cluster remove n3 --brokers localhost:9092 --name feed --yes"});

  auto move = std::make_shared<ChangeFlags>();
  Command moved = AddChange(group, session, "move", "Move one replica of a shard", move, PlanMove);
  moved.Add("--partition", move->partition, "The shard").Required();
  moved.Add("--from", move->from, "The member that holds it").Required().TypeName("NODE");
  moved.Add("--to", move->to, "The member that is to hold it").Required().TypeName("NODE");
  moved.Examples(
      {"seendb cluster move --partition 0 --from n1 --to n3 --brokers localhost:9092 "
       "--name feed --yes"});

  auto empty = std::make_shared<BeginEmptyFlags>();
  Command begun = AddCommand(
      group, session, "begin-empty", "Have a node begin a shard empty that all nodes have lost",
      Takes::kServer, [&session, empty] { return RunBeginEmpty(session, *empty); });
  begun.Add("--partition", empty->partition, "The shard").Required();
  begun.Add("--confirm", empty->confirm, "Its number once more").TypeName("PARTITION");
  begun.Examples(
      {"seendb cluster begin-empty --partition 3 --confirm 3 --url http://localhost:7373"});
}

}  // namespace seendb::tool
