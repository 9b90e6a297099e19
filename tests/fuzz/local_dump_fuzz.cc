// A dump of a filter (clients/local): whatever the bytes are, they are refused, or asked without a
// read beyond them. A dump that is taken is taken again beside itself.

#include <string>
#include <vector>

#include "fuzz/input.h"
#include "seendb_local.h"

using seendb::fuzz::Check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb_local_filter *filter = nullptr, *again = nullptr;
  const int parsed = seendb_local_parse(data, size, nullptr, &filter);
  Check((parsed == SEENDB_LOCAL_OK) == (filter != nullptr));
  if (filter == nullptr) return 0;
  const seendb_local_info info = seendb_local_info_of(filter);
  Check(info.bytes <= size);
  uint64_t items[] = {0, 1, (uint64_t{1} << 48) - 1, 0x1234'5678'9ABC, 0};
  for (size_t i = 0; i < 6 && i < size; ++i) items[4] = items[4] << 8 | data[size - 1 - i];
  uint8_t seen[5] = {};
  seendb_local_probe(filter, items, 5, seen);
  for (const uint8_t one : seen) Check(one <= 1);
  seendb_local_marked(filter, "channel:9", 9, 1, 0);
  seendb_local_marked(filter, "", 0, 0, 0);
  Check(seendb_local_parse(data, size, filter, &again) == SEENDB_LOCAL_OK);
  Check(std::string(seendb_local_etag(again)) == seendb_local_etag(filter));
  seendb_local_free(filter);
  uint8_t same[5] = {};
  seendb_local_probe(again, items, 5, same);
  for (size_t i = 0; i < 5; ++i) Check(seen[i] == same[i]);
  seendb_local_free(again);
  return 0;
}
