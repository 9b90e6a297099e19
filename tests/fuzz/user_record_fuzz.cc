// Arbitrary bytes as a user record: refused, or read to a record that is written and read again as
// itself.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "format/user_codec.h"
#include "fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string value = seendb::fuzz::ValueOf(
      std::string_view(reinterpret_cast<const char*>(data), size), seendb::Tag::kUser);
  seendb::UserRecord record;
  if (!record.Parse(value)) return 0;
  std::string written;
  record.Encode(&written);
  seendb::UserRecord again;
  if (!again.Parse(written) || !(again == record)) std::abort();
  return 0;
}
