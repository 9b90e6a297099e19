// Arbitrary bytes as rows of items: each is refused, or read to a state that is written and read
// again as itself. Two that are read join to the same in both orders, and again with themselves.

#include <algorithm>
#include <cstdint>
#include <string>

#include "format/bytes.h"
#include "fuzz/input.h"
#include "items/row_codec.h"

namespace {

using seendb::fuzz::Check;
using seendb::items::State;

std::string SealedRow(std::string_view body) {
  std::string row = "\x71";
  row.append(body);
  seendb::Seal32(&row);
  return row;
}

std::string Written(const State& state) {
  std::string row;
  seendb::items::EncodeRow(state, &row);
  return row;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const size_t cut = input.Byte();
  const std::string_view rest = input.Rest();
  State raw;
  seendb::items::ParseRow(rest, &raw);
  const std::string first = SealedRow(rest.substr(0, cut));
  const std::string second = SealedRow(rest.substr(std::min(cut, rest.size())));
  State a, b, again;
  if (!seendb::items::ParseRow(second, &b)) return 0;
  const std::string written = Written(b);
  Check(seendb::items::ParseRow(written, &again) && again == b);
  if (!seendb::items::ParseRow(first, &a)) return 0;
  State ab = a, ba = b;
  ab.Join(b);
  ba.Join(a);
  Check(ab == ba);
  ab.Join(b);
  Check(ab == ba);
  const std::string joined = Written(ab);
  Check(seendb::items::ParseRow(joined, &again) && again == ab);
  return 0;
}
