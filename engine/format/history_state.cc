#include "format/history_state.h"

#include <algorithm>
#include <cassert>

#include "seendb/history.h"

namespace seendb {
namespace {

// Bits of the byte that says which words follow; four places above each, whether its time follows.
constexpr uint8_t kProgress = 1, kDuration = 2, kDevice = 4, kFields = 8;
constexpr int kTimeBits = 4;

bool IsLarger(int32_t seconds, int32_t other) {
  const auto rank = [](int32_t s) { return s == kFinished ? INT64_MAX : int64_t{s}; };
  return rank(seconds) > rank(other);
}
bool IsLarger(std::string_view text, std::string_view other) { return text > other; }

template <typename Value>
void Take(const Word<Value>& other, Word<Value>* word) {
  if (other.said_ms < word->said_ms) return;
  if (other.said_ms == word->said_ms && !IsLarger(other.value, word->value)) return;
  *word = other;
}

// Calls `visit(bit, word)` for each of the four, in the order in which they are stored.
template <typename State, typename Visit>
void ForEachWord(State* state, const Visit& visit) {
  visit(kProgress, &state->progress_s);
  visit(kDuration, &state->duration_s);
  visit(kDevice, &state->device);
  visit(kFields, &state->fields);
}

void PutValue(std::string* out, uint8_t bit, int32_t seconds) {
  if (bit == kProgress) {
    PutZigzag(out, seconds);
  } else {
    PutVarint(out, static_cast<uint64_t>(seconds));
  }
}
void PutValue(std::string* out, uint8_t, std::string_view text) {
  PutVarint(out, text.size());
  out->append(text);
}

void ReadValue(Reader* in, uint8_t bit, int32_t* seconds) {
  const int64_t least = bit == kProgress ? kFinished : 0;
  const uint64_t raw = in->Varint();
  const int64_t number = bit == kProgress             ? Unzigzag(raw)
                         : raw <= uint64_t{INT32_MAX} ? static_cast<int64_t>(raw)
                                                      : -1;
  if (number < least || number > INT32_MAX) return in->Fail();
  *seconds = static_cast<int32_t>(number);
}
void ReadValue(Reader* in, uint8_t bit, std::string_view* text) {
  const uint64_t bytes = in->Varint();
  if (bytes > (bit == kDevice ? kMaxDeviceBytes : kMaxFieldsBytes)) return in->Fail();
  *text = in->Bytes(bytes);
}

}  // namespace

void HistoryState::EndWordsUpTo(int64_t up_to_ms) {
  ForEachWord(this, [up_to_ms](uint8_t, auto* word) {
    if (word->said_ms <= up_to_ms) *word = {};
  });
}

HistoryState HistoryState::TakeWordsBefore(int64_t begin_ms) {
  HistoryState earlier = *this;
  earlier.at_ms = earlier.deleted_ms = kNoTimeMs;
  ForEachWord(&earlier, [&](uint8_t, auto* word) {
    if (word->said_ms >= begin_ms) *word = {};
    earlier.at_ms = std::max(earlier.at_ms, word->said_ms);
  });
  EndWordsUpTo(earlier.at_ms);
  return earlier;
}

void HistoryState::Join(const HistoryState& other) {
  at_ms = std::max(at_ms, other.at_ms);
  deleted_ms = std::max(deleted_ms, other.deleted_ms);
  Take(other.progress_s, &progress_s);
  Take(other.duration_s, &duration_s);
  Take(other.device, &device);
  Take(other.fields, &fields);
  if (at_ms <= deleted_ms) at_ms = kNoTimeMs;
  EndWordsUpTo(deleted_ms);
}

HistoryState DeletionAt(int64_t at_ms) {
  HistoryState state;
  state.deleted_ms = at_ms;
  return state;
}

void PutWords(std::string* out, const HistoryState& state) {
  uint8_t said = 0;
  ForEachWord(&state, [&](uint8_t bit, const auto* word) {
    if (!word->said()) return;
    assert(word->said_ms <= state.at_ms);
    said = static_cast<uint8_t>(said | bit | (word->said_ms < state.at_ms ? bit << kTimeBits : 0));
  });
  out->push_back(static_cast<char>(said));
  ForEachWord(&state, [&](uint8_t bit, const auto* word) {
    if (!word->said()) return;
    if (word->said_ms < state.at_ms) {
      PutVarint(out, static_cast<uint64_t>(state.at_ms) - static_cast<uint64_t>(word->said_ms));
    }
    PutValue(out, bit, word->value);
  });
}

void ReadWords(Reader* in, HistoryState* state) {
  const int said = in->U8();
  ForEachWord(state, [&](uint8_t bit, auto* word) {
    *word = {};
    const bool earlier = (said & (bit << kTimeBits)) != 0;
    if ((said & bit) == 0) {
      if (earlier) in->Fail();
      return;
    }
    word->said_ms = state->at_ms;
    if (earlier) {
      // How long before the report: at least 1 ms, and after what is deleted.
      const uint64_t age_ms = in->Varint();
      const uint64_t most =
          static_cast<uint64_t>(state->at_ms) - static_cast<uint64_t>(state->deleted_ms);
      if (age_ms == 0 || age_ms >= most) in->Fail();
      word->said_ms = static_cast<int64_t>(static_cast<uint64_t>(state->at_ms) - age_ms);
    }
    if (state->at_ms == kNoTimeMs) in->Fail();
    ReadValue(in, bit, &word->value);
    if (!in->ok()) *word = {};
  });
}

HistoryState StateOf(int64_t at_ms, std::string_view words) {
  HistoryState state;
  state.at_ms = at_ms;
  if (words.empty()) return state;
  Reader in(words);
  ReadWords(&in, &state);
  assert(in.ok());
  return state;
}

void ReadPayloadV1(Reader* in, HistoryState* state) {
  ReadValue(in, kProgress, &state->progress_s.value);
  ReadValue(in, kDuration, &state->duration_s.value);
  ReadValue(in, kDevice, &state->device.value);
  ReadValue(in, kFields, &state->fields.value);
  ForEachWord(state, [&](uint8_t, auto* word) {
    if (word->value == decltype(word->value){}) return;
    word->said_ms = state->at_ms;
    if (!word->said()) in->Fail();  // a report has a time
  });
}

}  // namespace seendb
