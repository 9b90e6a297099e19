#include "ops/private_process.h"

#include <cerrno>
#include <system_error>

#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "ops/log.h"

namespace seendb::ops {

void KeepPrivate(bool core_dumps) {
  umask(umask(0) | 027);
  if (prctl(PR_SET_DUMPABLE, core_dumps ? 1 : 0, 0, 0, 0) == 0) return;
  Log(LogLevel::kWarn, "core_dumps_not_set",
      {{"core_dumps", core_dumps}, {"error", std::generic_category().message(errno)}});
}

}  // namespace seendb::ops
