// seendb cluster: makes a cluster, and shows one. cluster_change.cc has the commands that change
// who holds what.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/env.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "cluster/log_record.h"
#include "cluster/placement.h"
#include "cluster/report.h"
#include "cluster_change.h"
#include "cluster_link.h"
#include "cluster_upgrade.h"
#include "commands.h"
#include "database.h"
#include "store/files.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr uint32_t kDefaultPartitions = 64;

struct InitFlags {
  ClusterFlags cluster;
  uint32_t partitions = 0;  ///< 0: those of --from, or kDefaultPartitions
  uint32_t replicas = 2;
  uint32_t replication_factor = 3;
  std::string from;
  std::string default_policy;
};

/// A random UUID (version 4).
std::string DrawUuid() {
  std::string hex = HashKeyToText(RandomHashKey());
  hex[12] = '4';
  hex[16] = "89ab"[hex[16] & 3];
  for (const size_t dash : {20u, 16u, 12u, 8u}) hex.insert(dash, "-");
  return hex;
}

/// What a database that is to join brings along.
struct JoiningDatabase {
  Identity identity;
  std::vector<CollectionInfo> collections;
};

Result<JoiningDatabase> ReadJoining(const Session& session, const std::string& folder) {
  Session there = session;
  there.db = folder;
  auto database = Database::Open(there, Access::kRead);
  if (!database.ok()) return database.status();
  JoiningDatabase joining;
  joining.collections = (*database)->engine()->Collections();
  if (Status closed = (*database)->Close({}); !closed.ok()) return closed;
  auto identity = ReadIdentity(rocksdb::Env::Default(), folder);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::NotFound("no database in " + folder);
  joining.identity = **identity;
  return joining;
}

/// The records that make the cluster, the `init` first.
Result<std::vector<cluster::MetaRecord>> MakingRecords(const Session& session, InitFlags* flags) {
  cluster::InitRecord init{.replicas = flags->replicas,
                           .at_ms = SystemClock()->NowMs(),
                           .log_version = cluster::kLogVersion};
  if (!flags->default_policy.empty()) init.default_policy = flags->default_policy;
  std::vector<cluster::MetaRecord> records;
  if (flags->from.empty()) {
    init.uuid = DrawUuid();
    init.key = HashKeyToText(RandomHashKey());
    if (flags->partitions == 0) flags->partitions = kDefaultPartitions;
  } else {
    const auto joining = ReadJoining(session, flags->from);
    if (!joining.ok()) return joining.status();
    const uint32_t shards = joining->identity.shards;
    if (flags->partitions != 0 && flags->partitions != shards) {
      return Status::Incompatible("the database in " + flags->from + " has " +
                                  std::to_string(shards) + " shards, one for each partition");
    }
    flags->partitions = shards;
    init.uuid = joining->identity.id;
    init.hash = joining->identity.hash.version;
    if (init.hash > 1) init.key = HashKeyToText(joining->identity.hash.key);
    // What the database holds is older than the cluster, and counts.
    init.at_ms = 0;
    for (const CollectionInfo& one : joining->collections) {
      const std::string policy = PolicyToJson(one.policy);
      if (one.name == "default") {
        init.default_policy = policy;
      } else {
        records.push_back(cluster::CollectionRecord{one.name, policy, 0});
      }
    }
  }
  init.partitions = flags->partitions;
  records.insert(records.begin(), init);
  // What nobody could read is not written.
  for (const cluster::MetaRecord& record : records) {
    const auto read = cluster::DecodeMeta(cluster::EncodeMeta(record));
    if (!read.ok()) return read.status();
  }
  return records;
}

Status PrintMade(const Session& session, const InitFlags& flags, const cluster::Meta& meta) {
  const uint32_t in_sync = cluster::MinInSync(flags.replication_factor);
  if (session.json) {
    return PrintJson({{"name", flags.cluster.name},
                      {"uuid", meta.init()->uuid},
                      {"partitions", flags.partitions},
                      {"replicas", flags.replicas},
                      {"replication_factor", flags.replication_factor},
                      {"min_in_sync", in_sync}});
  }
  std::string text = "cluster " + flags.cluster.name +
                     " is made: " + FormatCount(flags.partitions) + " partitions, " +
                     FormatCount(flags.replicas) + " replicas each\n";
  if (flags.replication_factor < 3) {
    text += "for trials only: its topics have " + std::to_string(flags.replication_factor) +
            (flags.replication_factor == 1 ? " copy" : " copies") +
            " at the brokers; a broker that is lost can take plays with it\n";
  }
  return Print(text);
}

Status RunInit(const Session& session, InitFlags flags) {
  const auto access = AccessOf(flags.cluster);
  if (!access.ok()) return access.status();
  if (!flags.default_policy.empty()) {
    const auto patch = PolicyPatchFromJson(flags.default_policy);
    if (!patch.ok()) return patch.status();
    if (Status valid = ValidatePolicy(ApplyPatch({}, *patch)); !valid.ok()) return valid;
    if (!flags.from.empty()) {
      return Status::InvalidArgument("--default-policy: --from has policies of its own");
    }
  }
  const auto records = MakingRecords(session, &flags);
  if (!records.ok()) return records.status();
  Status status = cluster::Reach(*access);
  if (status.ok()) {
    status = cluster::MakeTopics(*access, flags.cluster.name,
                                 {flags.partitions, flags.replication_factor});
  }
  if (!status.ok()) return status;
  const auto log = cluster::MetaLog::Open(*access, flags.cluster.name, {});
  if (!log.ok()) return log.status();
  status = (*log)->ReadToEnd(kClusterWaitMs);
  if (!status.ok()) return status;
  if ((*log)->meta().init()) {
    return Status::Incompatible("there is a cluster " + flags.cluster.name + " already");
  }
  for (const cluster::MetaRecord& record : *records) {
    status = (*log)->Commit(record, kClusterWaitMs);
    if (!status.ok()) return status;
  }
  return PrintMade(session, flags, (*log)->meta());
}

std::string WeightText(double weight) {
  std::string text = std::to_string(weight);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string StatusText(const std::string& name, const cluster::Meta& meta) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> held;  // replicas, primaries
  for (const auto& list : meta.placement().assign) {
    ++held[list.front()].second;
    for (const std::string& node : list) ++held[node].first;
  }
  std::string text = "cluster " + name + ": " + FormatCount(meta.init()->partitions) +
                     " partitions, " + FormatCount(meta.init()->replicas) + " replicas each; ";
  text += meta.placement().assign.empty()
              ? "nothing is placed yet\n"
              : "placement of offset " + std::to_string(meta.placement().offset) + "\n";
  Table table({{"node"},
               {"zone"},
               {"weight", Align::kRight},
               {"replicas", Align::kRight},
               {"primaries", Align::kRight},
               {"build"},
               {"url"}});
  for (const auto& [node, member] : meta.members()) {
    const auto [replicas, primaries] = held[node];
    table.Add({member.leaving ? node + " (leaving)" : node, member.zone, WeightText(member.weight),
               FormatCount(replicas), FormatCount(primaries), member.build, member.url});
  }
  return table.empty() ? text + "no node is a member yet\n" : text + table.ToString();
}

/// "3.1 MiB of 9 MiB, 2 MiB/s".
std::string CopyText(const Json& copy) {
  return FormatBytes(copy.at("bytes").get<uint64_t>()) + " of " +
         FormatBytes(copy.at("total").get<uint64_t>()) + ", " +
         FormatBytes(copy.at("bytes_per_s").get<uint64_t>()) + "/s";
}

/// What a node sees: the nodes, and the replicas that do not serve.
std::string SeenText(const Json& seen) {
  struct Held {
    uint64_t replicas = 0, primaries = 0, serving = 0;
  };
  std::map<std::string, Held> held;
  Table others(
      {{"partition", Align::kRight}, {"node"}, {"state"}, {"behind", Align::kRight}, {"copied"}});
  for (const Json& shard : seen.at("shards")) {
    for (size_t i = 0; i < shard.at("replicas").size(); ++i) {
      const Json& replica = shard["replicas"][i];
      const std::string node = replica.at("node"), state = replica.at("state");
      Held& one = held[node];
      ++one.replicas;
      one.primaries += i == 0 ? 1 : 0;
      one.serving += state == "serving" ? 1 : 0;
      if (state == "serving") continue;
      const auto copy = replica.find("copy");
      others.Add({shard.at("partition").dump(), node, state,
                  state == "unreachable"
                      ? ""
                      : FormatCount(replica.value("behind_ms", uint64_t{0})) + " ms",
                  copy == replica.end() ? "" : CopyText(*copy)});
    }
  }
  Table nodes({{"node"},
               {"zone"},
               {"state"},
               {"replicas", Align::kRight},
               {"serving", Align::kRight},
               {"primaries", Align::kRight},
               {"build"},
               {"url"}});
  for (const Json& node : seen.at("nodes")) {
    const std::string name = node.at("node");
    const Held& one = held[name];
    nodes.Add({node.value("leaving", false) ? name + " (leaving)" : name, node.at("zone"),
               node.at("state"), FormatCount(one.replicas), FormatCount(one.serving),
               FormatCount(one.primaries), node.at("build"), node.at("url")});
  }
  std::string text = "cluster " + seen.at("name").get<std::string>() + ": " +
                     FormatCount(seen.at("partitions").get<uint64_t>()) + " partitions, " +
                     FormatCount(seen.at("replicas").get<uint64_t>()) + " replicas each\n" +
                     nodes.ToString();
  return others.empty() ? text + "\nall replicas are serving\n"
                        : text + "\nnot serving:\n" + others.ToString();
}

Status RunStatusOfNode(const Session& session) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  const Result<Json> seen = (*server)->Call({.target = "/cluster"});
  if (!seen.ok()) return seen.status();
  if (session.json) return PrintJson(*seen);
  try {
    return Print(SeenText(*seen));
  } catch (const Json::exception& e) {
    return Status::Incompatible(
        std::string("this server does not answer as a node of a cluster does: ") + e.what());
  }
}

Status RunStatus(const Session& session, const ClusterFlags& flags) {
  const Result<bool> named = NamesCluster(session, flags);
  if (!named.ok()) return named.status();
  if (!*named) return RunStatusOfNode(session);
  const auto log = OpenCluster(session, flags);
  if (!log.ok()) return log.status();
  const cluster::Meta& meta = (*log)->meta();
  return session.json ? PrintJson(Json::parse(
                            cluster::ClusterToJson(flags.name, meta, nullptr, flags.brokers)))
                      : Print(StatusText(flags.name, meta));
}

}  // namespace

void AddCluster(Command app, Session& session) {
  Command group = AddCommand(
      app, session, "cluster",
      "A cluster of servers whose log is Kafka: make one, show it, change who holds what",
      Takes::kNothing, [] { return Status::InvalidArgument("say which command: see --help"); });
  group.Examples({"seendb cluster status --brokers localhost:9092 --name feed"});

  auto init = std::make_shared<InitFlags>();
  Command make = AddCommand(group, session, "init", "Make a cluster: its topics and first record",
                            Takes::kNothing, [&session, init] { return RunInit(session, *init); });
  AddClusterFlags(make, init->cluster);
  make.Add("--partitions", init->partitions,
           "Shards of the cluster, fixed for ever; a power of two (64, or those of --from)")
      .Range(1, cluster::kPartitionsMost);
  make.Add("--replicas", init->replicas, "Nodes that hold each shard")
      .Range(1, cluster::kReplicasMost)
      .ShowDefault();
  make.Add("--replication-factor", init->replication_factor,
           "Copies of the topics at the brokers; below 3 for trials only")
      .Range(1, 16)
      .ShowDefault();
  make.Add("--from", init->from, "A database that is to join: its id, hash and collections")
      .TypeName("DIR");
  make.Add("--default-policy", init->default_policy, "The policy of the collection `default`")
      .TypeName("JSON");
  make.Examples({"seendb cluster init --brokers localhost:9092 --name feed --replication-factor 1",
                 "seendb cluster init --brokers localhost:9092 --name joined --from db "
                 "--replication-factor 1"});

  auto shown = std::make_shared<ClusterFlags>();
  Command status =
      AddCommand(group, session, "status",
                 "Show the members and what each is to hold; or, of a node (--url), how all are",
                 Takes::kServer, [&session, shown] { return RunStatus(session, *shown); });
  AddClusterFlags(status, *shown, /*or_server=*/true);
  status.Examples({"seendb cluster status --brokers localhost:9092 --name feed --json"});
  AddClusterChanges(group, session);
  AddClusterUpgrade(group, session);
}

}  // namespace seendb::tool
