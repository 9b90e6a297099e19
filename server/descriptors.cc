#include "descriptors.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "ops/log.h"

namespace seendb {
namespace {

/// Thousands of connections and files need more descriptors than shells hand out. How many there
/// are.
size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return SIZE_MAX;
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace

void FitConnections(http::Limits* limits) {
  const size_t descriptors = RaiseDescriptorLimit();
  const size_t most = std::max<size_t>(1, descriptors / 2);
  if (limits->connections <= most) return;
  ops::Log(
      ops::LogLevel::kWarn, "connections_fitted",
      {{"limits.connections", limits->connections}, {"descriptors", descriptors}, {"used", most}});
  limits->connections = most;
}

}  // namespace seendb
