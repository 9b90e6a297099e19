// Arbitrary bytes as the identity file: refused with a reason, or read to an identity that is
// written and read again as itself.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "store/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string json(reinterpret_cast<const char*>(data), size);
  const auto identity = seendb::Identity::FromJson(json);
  if (!identity.ok()) {
    if (identity.status().message().empty()) std::abort();
    return 0;
  }
  const auto again = seendb::Identity::FromJson(identity->ToJson());
  if (!again.ok() || again->id != identity->id || again->shards != identity->shards ||
      again->ready != identity->ready || again->format != identity->format ||
      again->hash != identity->hash) {
    std::abort();
  }
  return 0;
}
