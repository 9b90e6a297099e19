#include "ops/cluster_config.h"

#include <cmath>
#include <utility>

#include "ops/kafka_properties.h"

namespace seendb::ops {
namespace {

constexpr double kWeightMost = 1'000;
constexpr int64_t kTransferMost = 100'000;

Setter Weight(double* to) {
  const auto set = [=](const Json& value) {
    const double weight = value.is_number() ? value.get<double>() : 0;
    if (!std::isfinite(weight) || weight <= 0 || weight > kWeightMost) {
      return Status::InvalidArgument("must be a number above 0 and at most 1000");
    }
    *to = weight;
    return Status::Ok();
  };
  return Setter(set).Showing([to] { return Json(*to); });
}

Keys KeysOf(ClusterConfig* config) {
  return {{"brokers", Name(&config->brokers)},
          {"name", Name(&config->name)},
          {"node", Name(&config->node)},
          {"advertise", Name(&config->advertise)},
          {"ca", Name(&config->ca)},
          {"zone", Name(&config->zone)},
          {"weight", Weight(&config->weight)},
          {"secret_file", Name(&config->secret_file)},
          {"backup_dir", Name(&config->backup_dir)},
          {"transfer_mb_per_s", Integer(&config->transfer_mb_per_s, 1, kTransferMost)},
          {"properties", Properties(&config->properties)}};
}

Status Check(const ClusterConfig& config) {
  for (const auto& [key, given] :
       {std::pair("/brokers", &config.brokers), std::pair("/name", &config.name),
        std::pair("/advertise", &config.advertise),
        std::pair("/secret_file", &config.secret_file)}) {
    if (given->empty()) return Status::InvalidArgument("missing key", key);
  }
  return {};
}

}  // namespace

Setter Cluster(std::optional<ClusterConfig>* to) { return SectionOf(to, KeysOf, Check); }

}  // namespace seendb::ops
