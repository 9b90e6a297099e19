// Arbitrary bytes as a policy: refused with a field, or read to a policy that is written and read
// again as itself.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "seendb/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto patch = seendb::PolicyPatchFromJson(text);
  if (!patch.ok()) return 0;
  const seendb::Policy policy = seendb::ApplyPatch({}, *patch);
  if (!seendb::ValidatePolicy(policy).ok()) return 0;
  const auto again = seendb::PolicyPatchFromJson(seendb::PolicyToJson(policy));
  if (!again.ok() || seendb::ApplyPatch({}, *again) != policy) std::abort();
  return 0;
}
