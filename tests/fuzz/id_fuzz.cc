// Arbitrary text as an id: its canonical text is the same id, with the same fingerprint and shard,
// and as one of many it is hashed as it is alone.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "filter/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const seendb::IdRef id(text);
  const std::string canonical = id.ToString();
  if (canonical != text) std::abort();  // only canonical decimals become integers
  const seendb::IdRef again(canonical);
  seendb::Fingerprint many[2];
  const seendb::IdRef ids[] = {again, id};
  seendb::FingerprintsOf(ids, many);
  const seendb::Fingerprint alone = seendb::FingerprintOf(id);
  if (!(id == again) || many[0] != alone || many[1] != alone || alone > seendb::kFingerprintMask ||
      seendb::ShardOf(id, 7) != seendb::ShardOf(text, 7) ||
      id.Validate().ok() != again.Validate().ok()) {
    std::abort();
  }
  return 0;
}
