// Arbitrary bytes as a history entry, alone and as operands of a merge: refused, or read to a state
// that is written and read again as itself; merged in both orders to the same.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "format/history_codec.h"
#include "fuzz/sealed_input.h"
#include "merge/small_operators.h"

namespace {

using seendb::HistoryValue;

bool Same(const HistoryValue& a, const HistoryValue& b) {
  return a.state == b.state && a.damaged == b.damaged && a.newer == b.newer;
}

std::string Merged(const std::string& first, const std::string& second) {
  static const auto merge = seendb::NewHistoryOperator(std::make_shared<seendb::Counters>());
  const std::vector<rocksdb::Slice> operands{first, second};
  std::string value;
  rocksdb::Slice none(nullptr, 0);
  rocksdb::MergeOperator::MergeOperationOutput out(value, none);
  const rocksdb::Slice key("key");
  const rocksdb::MergeOperator::MergeOperationInput in(key, nullptr, operands, nullptr);
  if (!merge->FullMergeV2(in, &out)) std::abort();
  return value;
}

std::string Sound() {
  constexpr int64_t kAtMs = 1'773'144'000'000;
  seendb::HistoryState state;
  state.at_ms = kAtMs;
  state.progress_s = {kAtMs, 5};
  state.duration_s = {kAtMs - 1, 60};
  state.device = {kAtMs, "tv"};
  std::string sound;
  seendb::EncodeHistory(state, &sound);
  return sound;
}

void Check(std::string_view input, seendb::Tag tag) {
  const std::string value = seendb::fuzz::ValueOf(input, tag), sound = Sound();
  const std::string merged = Merged(value, sound), other = Merged(sound, value);
  HistoryValue read, again;
  if (merged != other || !read.Parse(merged) || !again.Parse(other)) std::abort();
  if (!read.Parse(value)) return;
  std::string written;
  read.Encode(&written);
  if (!again.Parse(written) || !Same(read, again)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Check(input, seendb::Tag::kHistory);
  Check(input, seendb::Tag::kHistoryWords);
  return 0;
}
