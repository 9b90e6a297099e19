#include "cluster_link.h"

#include <algorithm>
#include <utility>

namespace seendb::tool {

void AddClusterFlags(Command command, ClusterFlags& flags, bool or_server) {
  auto brokers = command.Add("--brokers", flags.brokers, "Kafka's brokers, host:port,host:port");
  brokers.TypeName("BROKERS").NotEmpty();
  auto name = command.Add("--name", flags.name,
                          "The cluster's name: its topics are NAME.log, NAME.meta and NAME.sets");
  name.TypeName("NAME");
  if (!or_server) {
    brokers.Required();
    name.Required();
  }
  command
      .Add("--kafka-config", flags.kafka_config,
           "A file of librdkafka's settings, NAME=VALUE on a line (TLS, SASL)")
      .TypeName("FILE");
}

Result<cluster::KafkaAccess> AccessOf(const ClusterFlags& flags) {
  if (Status named = cluster::CheckClusterName(flags.name); !named.ok()) return named;
  cluster::KafkaAccess access{flags.brokers, {}};
  if (!flags.kafka_config.empty()) {
    auto properties = cluster::ReadProperties(flags.kafka_config);
    if (!properties.ok()) return properties.status();
    access.properties = std::move(properties).value();
  }
  return access;
}

Result<bool> NamesCluster(const Session& session, const ClusterFlags& flags) {
  const bool says_all = !flags.brokers.empty() && !flags.name.empty();
  if (says_all && session.url.empty()) return true;
  if (flags.brokers.empty() && flags.name.empty()) return false;
  return Status::InvalidArgument(says_all ? "say --url of a node, or --brokers and --name"
                                          : "say both --brokers and --name, or --url of a node");
}

namespace {

/// Asks the node of --url which cluster it is of.
Status AskNode(const Session& session, ClusterFlags* flags) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  const Result<Json> seen = (*server)->Call({.target = "/cluster"});
  if (!seen.ok()) return seen.status();
  try {
    flags->name = seen->at("name").get<std::string>();
    flags->brokers = seen->at("brokers").get<std::string>();
  } catch (const Json::exception& e) {
    return Status::Incompatible(
        std::string("this server does not answer as a node of a cluster does: ") + e.what());
  }
  return {};
}

}  // namespace

Result<ClusterFlags> WithCluster(const Session& session, ClusterFlags flags) {
  const Result<bool> named = NamesCluster(session, flags);
  if (!named.ok()) return named.status();
  if (!*named) {
    if (Status asked = AskNode(session, &flags); !asked.ok()) return asked;
  }
  return flags;
}

Result<std::unique_ptr<cluster::MetaLog>> OpenCluster(const Session& session, ClusterFlags given) {
  const Result<ClusterFlags> named = WithCluster(session, std::move(given));
  if (!named.ok()) return named.status();
  const ClusterFlags& flags = *named;
  const auto access = AccessOf(flags);
  if (!access.ok()) return access.status();
  if (Status reached = cluster::Reach(*access); !reached.ok()) return reached;
  auto log = cluster::MetaLog::Open(*access, flags.name, {});
  if (!log.ok()) return log.status();
  const auto topic = cluster::HasTopics(*access, flags.name);
  if (!topic.ok()) return topic.status();
  Status status;
  if (*topic) status = (*log)->ReadToEnd(kClusterWaitMs);
  if (!status.ok()) return status;
  if (!(*log)->meta().init()) {
    return Status::NotFound("there is no cluster " + flags.name +
                            " at these brokers; `seendb cluster init` makes one");
  }
  return log;
}

}  // namespace seendb::tool
