// Arbitrary bytes as a stored seen filter: read without a fault, and what reads is written back
// to something that reads the same.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/filter_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view value(reinterpret_cast<const char*>(data), size);
  seendb::FilterView view;
  if (!view.Parse(value) || !view.ListIsSorted()) return 0;
  const seendb::SeenFilter filter = view.ToFilter();
  std::string written;
  seendb::EncodeFilter(filter, {}, &written);
  seendb::FilterView again;
  if (!again.Parse(written) || again.ToFilter().Items() != filter.Items() ||
      again.ToFilter().Bytes() != filter.Bytes()) {
    std::abort();
  }
  return 0;
}
