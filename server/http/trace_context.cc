#include "http/trace_context.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace seendb::http {
namespace {

constexpr size_t kVersionAt = 0, kTraceAt = 3, kParentAt = 36, kFlagsAt = 53;
constexpr size_t kVersionDigits = 2, kTraceDigits = 32, kParentDigits = 16, kFlagsDigits = 2;
constexpr size_t kBytes = kFlagsAt + kFlagsDigits;
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool IsLowerHex(std::string_view text) {
  return text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

bool IsZero(std::string_view digits) {
  return digits.find_first_not_of('0') == std::string_view::npos;
}

std::string DrawSpanId() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  uint64_t number = 0;
  while (number == 0) number = random();
  std::string id(kParentDigits, '0');
  for (size_t i = kParentDigits; i-- > 0; number >>= 4) id[i] = kHexDigits[number & 15];
  return id;
}

}  // namespace

bool TraceContext::Parse(std::string_view traceparent) {
  const std::string_view text = traceparent;
  if (text.size() < kBytes) return false;
  const std::string_view version = text.substr(kVersionAt, kVersionDigits);
  const std::string_view trace = text.substr(kTraceAt, kTraceDigits);
  const std::string_view parent = text.substr(kParentAt, kParentDigits);
  const std::string_view flags = text.substr(kFlagsAt, kFlagsDigits);
  const bool apart =
      text[kTraceAt - 1] == '-' && text[kParentAt - 1] == '-' && text[kFlagsAt - 1] == '-';
  if (!apart || !IsLowerHex(version) || !IsLowerHex(trace) || !IsLowerHex(parent) ||
      !IsLowerHex(flags)) {
    return false;
  }
  if (version == "ff" || IsZero(trace) || IsZero(parent)) return false;
  // A later version may have more behind another dash.
  if (text.size() > kBytes && (version == "00" || text[kBytes] != '-')) return false;
  trace_id.assign(trace);
  parent_id.assign(parent);
  span_id = DrawSpanId();
  sampled = (kHexDigits.find(flags[1]) & 1) != 0;
  return true;
}

std::string TraceContext::ToHeader() const {
  return "00-" + trace_id + "-" + span_id + (sampled ? "-01" : "-00");
}

void TraceContext::AddState(std::string_view tracestate) {
  if (tracestate.empty() || state_dropped_) return;
  const bool printable = std::all_of(tracestate.begin(), tracestate.end(),
                                     [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
  if (!printable ||
      state.size() + (state.empty() ? 0 : 1) + tracestate.size() > kMaxTraceStateBytes) {
    state.clear();
    state_dropped_ = true;
    return;
  }
  if (!state.empty()) state += ',';
  state += tracestate;
}

void TraceContext::Clear() {
  trace_id.clear();
  parent_id.clear();
  span_id.clear();
  state.clear();
  sampled = state_dropped_ = false;
}

}  // namespace seendb::http
