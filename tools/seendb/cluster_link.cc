#include "cluster_link.h"

#include <algorithm>

namespace seendb::tool {

void AddClusterFlags(Command command, ClusterFlags& flags, bool or_server) {
  auto brokers = command.Add("--brokers", flags.brokers, "Kafka's brokers, host:port,host:port");
  brokers.TypeName("BROKERS").NotEmpty();
  auto name = command.Add("--name", flags.name,
                          "The cluster's name: its topics are NAME.log and NAME.meta");
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

Result<std::unique_ptr<cluster::MetaLog>> OpenCluster(const ClusterFlags& flags) {
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
