#include "format/history_codec.h"

#include "format/damage.h"
#include "seendb/id.h"

namespace seendb {
namespace {

constexpr uint8_t kDeletionFlag = 1;
constexpr uint8_t kDamagedFlag = 2;
constexpr uint8_t kNewerLayoutFlag = 4;
constexpr uint8_t kDeletedBeforeFlag = 8;  // version 2
constexpr uint8_t kFlagsOfV1 = kDeletionFlag | kDamagedFlag | kNewerLayoutFlag;
constexpr uint8_t kFlags = kFlagsOfV1 | kDeletedBeforeFlag;
constexpr size_t kTimeBytes = 8;

// Ascending as text where times descend: big-endian, the sign turned, all bits turned.
constexpr uint64_t kSign = uint64_t{1} << 63;

void ReadStateV1(Reader* in, uint8_t flags, HistoryState* state) {
  if ((flags & ~kFlagsOfV1) != 0) in->Fail();
  HistoryState report;
  report.at_ms = in->Zigzag();
  ReadPayloadV1(in, &report);
  *state = (flags & kDeletionFlag) != 0 ? DeletionAt(report.at_ms) : report;
}

void ReadState(Reader* in, uint8_t flags, HistoryState* state) {
  if ((flags & ~kFlags) != 0) in->Fail();
  const int64_t time_ms = in->Zigzag();
  if ((flags & kDeletionFlag) != 0) {
    if ((flags & kDeletedBeforeFlag) != 0) in->Fail();
    *state = DeletionAt(time_ms);
    return;
  }
  state->at_ms = time_ms;
  if ((flags & kDeletedBeforeFlag) != 0) {
    // How long before the report: at least 1 ms, and no longer than there is time.
    const uint64_t age_ms = in->Varint();
    const uint64_t most = static_cast<uint64_t>(time_ms) - static_cast<uint64_t>(kNoTimeMs);
    if (age_ms == 0 || age_ms >= most) in->Fail();
    state->deleted_ms = static_cast<int64_t>(static_cast<uint64_t>(time_ms) - age_ms);
  }
  ReadWords(in, state);
}

}  // namespace

bool HistoryValue::ParseOne(std::string_view value, std::vector<std::string_view>* set_aside) {
  *this = {};
  std::string_view body;
  const bool first = Open32(value, Tag::kHistory, &body);
  if (!first && !Open32(value, Tag::kHistoryWords, &body)) return false;
  Reader in(body);
  const uint8_t flags = in.U8();
  damaged = (flags & kDamagedFlag) != 0;
  if (first) {
    ReadStateV1(&in, flags, &state);
  } else {
    ReadState(&in, flags, &state);
  }
  if (!in.ok()) return false;
  if ((flags & kNewerLayoutFlag) != 0 && !ReadNewer(&in, set_aside)) return false;
  return in.ok() && in.remaining() == 0;
}

bool HistoryValue::Parse(std::string_view value) {
  std::vector<std::string_view> set_aside;
  if (!ParseOne(value, &set_aside)) return false;
  for (const std::string_view one : set_aside) {
    if (!NewerText(one).empty()) {
      InsertOnce(&newer, one);
      continue;
    }
    HistoryValue known;
    std::vector<std::string_view> within;
    if (!known.ParseOne(one, &within)) {
      damaged = true;
      continue;
    }
    state.Join(known.state);
    damaged = damaged || known.damaged;
    for (const std::string_view newest : within) {
      if (NewerText(newest).empty()) {
        damaged = true;  // it was known to who set it aside
      } else {
        InsertOnce(&newer, newest);
      }
    }
  }
  return true;
}

void HistoryValue::Encode(std::string* out) const {
  const bool deletion = state.deleted();
  const bool deleted_before = !deletion && state.deleted_ms != kNoTimeMs;
  out->clear();
  out->push_back(static_cast<char>(Tag::kHistoryWords));
  out->push_back(static_cast<char>((deletion ? kDeletionFlag : 0) | (damaged ? kDamagedFlag : 0) |
                                   (newer.empty() ? 0 : kNewerLayoutFlag) |
                                   (deleted_before ? kDeletedBeforeFlag : 0)));
  PutZigzag(out, state.time_ms());
  if (deleted_before) {
    PutVarint(out, static_cast<uint64_t>(state.at_ms) - static_cast<uint64_t>(state.deleted_ms));
  }
  if (!deletion) PutWords(out, state);
  if (!newer.empty()) PutNewer(newer, out);
  Seal32(out);
}

void EncodeHistory(const HistoryState& state, std::string* out) {
  HistoryValue value;
  value.state = state;
  value.Encode(out);
}

std::string HistoryPrefix(std::string_view user) {
  std::string key;
  key.reserve(1 + user.size() + kTimeBytes + kMaxIdBytes);
  key.push_back(static_cast<char>(user.size()));
  key.append(user);
  return key;
}

std::string HistoryPrefixEnd(std::string_view user) {
  std::string key = HistoryPrefix(user);
  ++key.back();  // no byte of UTF-8 is FF
  return key;
}

std::string HistoryKey(std::string_view user, std::string_view item) {
  return HistoryPrefix(user).append(item);
}

std::string TimelineKey(std::string_view user, int64_t at_ms, std::string_view item) {
  std::string key = HistoryPrefix(user);
  const uint64_t time = ~(static_cast<uint64_t>(at_ms) ^ kSign);
  for (size_t i = 0; i < kTimeBytes; ++i) {
    key.push_back(static_cast<char>(time >> (8 * (kTimeBytes - 1 - i))));
  }
  return key.append(item);
}

bool ParseHistoryKey(std::string_view key, std::string_view* user, std::string_view* item) {
  Reader in(key);
  *user = in.Bytes(in.U8());
  *item = in.rest();
  return in.ok() && !user->empty() && !item->empty() && item->size() <= kMaxIdBytes;
}

bool ParseTimelineKey(std::string_view key, std::string_view* user, int64_t* at_ms,
                      std::string_view* item) {
  Reader in(key);
  *user = in.Bytes(in.U8());
  uint64_t time = 0;
  for (const char byte : in.Bytes(kTimeBytes)) time = time << 8 | static_cast<uint8_t>(byte);
  *at_ms = static_cast<int64_t>(~time ^ kSign);
  *item = in.rest();
  return in.ok() && !user->empty() && !item->empty() && item->size() <= kMaxIdBytes;
}

}  // namespace seendb
