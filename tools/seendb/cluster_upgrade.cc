// seendb cluster upgrade: which log records the nodes read; with --finish, they may write the
// newest.

#include "cluster_upgrade.h"

#include <algorithm>
#include <memory>
#include <string>

#include "cluster/log_record.h"
#include "cluster_link.h"

namespace seendb::tool {
namespace {

struct UpgradeFlags {
  ClusterFlags cluster;
  bool finish = false;
};

/// The newest version that all members and this tool read.
uint32_t ReadByAll(const cluster::Meta& meta) {
  uint32_t version = cluster::kLogVersion;
  for (const auto& [node, member] : meta.members()) {
    version = std::min(version, member.log_version);
  }
  return version;
}

/// The members that read no more than `version`.
std::string ReadersOf(const cluster::Meta& meta, uint32_t version) {
  std::string names;
  for (const auto& [node, member] : meta.members()) {
    if (member.log_version <= version) names += (names.empty() ? "" : ", ") + node;
  }
  return names;
}

/// The topics that older software did not make.
Status MakeTopicsOf(const Session& session, const ClusterFlags& given) {
  const Result<ClusterFlags> flags = WithCluster(session, given);
  if (!flags.ok()) return flags.status();
  const auto access = AccessOf(*flags);
  return access.ok() ? cluster::MakeNewerTopics(*access, flags->name) : access.status();
}

/// `read`: the newest version that all read.
Status FinishUpgrade(const Session& session, const ClusterFlags& flags, uint32_t read,
                     cluster::MetaLog* log) {
  const bool raises = log->meta().log_version() < cluster::kLogVersion;
  if (raises && read < cluster::kLogVersion) {
    return Status::Incompatible("log records of version " + std::to_string(cluster::kLogVersion) +
                                " are not read by " + ReadersOf(log->meta(), read) +
                                ": upgrade these first");
  }
  // Before anybody may write there; and where somebody took one away.
  if (Status made = MakeTopicsOf(session, flags); !made.ok() || !raises) return made;
  return log->Commit(cluster::LogVersionRecord{cluster::kLogVersion}, kClusterWaitMs);
}

Status RunUpgrade(const Session& session, const UpgradeFlags& flags) {
  const auto log = OpenCluster(session, flags.cluster);
  if (!log.ok()) return log.status();
  const uint32_t before = (*log)->meta().log_version();
  const uint32_t read = ReadByAll((*log)->meta());
  if (flags.finish) {
    if (Status finished = FinishUpgrade(session, flags.cluster, read, log->get()); !finished.ok()) {
      return finished;
    }
  }
  const uint32_t written = (*log)->meta().log_version();
  if (session.json) {
    return PrintJson(
        {{"log_version", written}, {"read_by_all", read}, {"raised", written > before}});
  }
  std::string text = "log records of version " + std::to_string(written) + " are written";
  if (written > before) text += " from now on";
  text += ", those of version " + std::to_string(read) + " are read by all\n";
  if (written < read) text += "to write these: seendb cluster upgrade --finish\n";
  return Print(text);
}

}  // namespace

void AddClusterUpgrade(Command group, Session& session) {
  auto flags = std::make_shared<UpgradeFlags>();
  Command upgrade =
      AddCommand(group, session, "upgrade",
                 "Show which log records the nodes read; with --finish, let them write the newest",
                 Takes::kServer, [&session, flags] { return RunUpgrade(session, *flags); });
  AddClusterFlags(upgrade, flags->cluster, /*or_server=*/true);
  upgrade.AddFlag("--finish", flags->finish,
                  "All nodes run the new software, and none goes back: write what it can write");
  upgrade.Examples({"seendb cluster upgrade --finish --brokers localhost:9092 --name feed"});
}

}  // namespace seendb::tool
