#include "check_config.h"

#include <cstdio>

#include "ingest/kafka.h"
#include "membership/node.h"
#include "ops/checkpoints.h"
#include "ops/exit_codes.h"
#include "ops/secret_files.h"

namespace seendb {

int CheckConfig(const ops::Config& config) {
  if (config.kafka) {
    if (const auto conf = ingest::ConsumerConf(*config.kafka); !conf.ok()) {
      std::fprintf(stderr, "seendb-server: %s\n", conf.status().ToString().c_str());
      return ops::kExitUsage;
    }
  }
  if (const Status at = config.cluster ? membership::CheckSettings(*config.cluster) : Status();
      !at.ok()) {
    std::fprintf(stderr, "seendb-server: %s\n", at.ToString().c_str());
    return ops::kExitUsage;
  }
  if (const Status files = ops::CheckSecretFiles(config); !files.ok()) {
    std::fprintf(stderr, "seendb-server: %s\n", files.ToString().c_str());
    return ops::kExitUsage;
  }
  if (!config.checkpoints.empty()) {
    if (const Status at = ops::CheckCheckpoints(config.checkpoints, config.db); !at.ok()) {
      std::fprintf(stderr, "seendb-server: %s\n", at.ToString().c_str());
      return ops::kExitUsage;
    }
  }
  std::puts("the settings are in order");
  return ops::kExitOk;
}

}  // namespace seendb
