// Arbitrary bytes as a stored seen filter: read without a fault; what reads is written back to the
// same bytes' worth, and adding items and sealing keeps every item of its lists.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "format/filter_codec.h"
#include "fuzz/sealed_input.h"

namespace {

void CheckContains(const seendb::SeenFilter& filter, const std::vector<uint64_t>& items) {
  if (filter.dropped_layers > 0) return;
  for (const uint64_t fp : items) {
    if (!filter.Contains(fp)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string value = seendb::fuzz::ValueOf(
      std::string_view(reinterpret_cast<const char*>(data), size), seendb::Tag::kFilter);
  seendb::FilterView view;
  if (!view.Parse(value) || !view.ListIsSorted()) return 0;
  seendb::SeenFilter filter = view.ToFilter();
  std::string written;
  seendb::EncodeFilter(filter, {}, &written);
  seendb::FilterView again;
  if (!again.Parse(written) || again.ToFilter().Items() != filter.Items() ||
      again.ToFilter().Bytes() != filter.Bytes()) {
    std::abort();
  }
  seendb::FilterRules rules;
  rules.list_limit = 16;
  rules.bytes_max = 1 << 20;
  rules.end_ms = 1'000'000;
  std::vector<uint64_t> items = filter.list;
  const std::vector<uint64_t> more{1, 77, seendb::kFingerprintMask};
  filter.Add(more, rules);
  items.insert(items.end(), more.begin(), more.end());
  CheckContains(filter, items);
  filter.Seal(rules);
  CheckContains(filter, items);
  return 0;
}
