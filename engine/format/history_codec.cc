#include "format/history_codec.h"

#include <cassert>

#include "format/damage.h"
#include "seendb/history.h"
#include "seendb/id.h"

namespace seendb {
namespace {

constexpr uint8_t kTombstoneFlag = 1;
constexpr uint8_t kDamagedFlag = 2;
constexpr uint8_t kNewerLayoutFlag = 4;
constexpr size_t kTimeBytes = 8;

// Ascending as text where times descend: big-endian, the sign turned, all bits turned.
constexpr uint64_t kSign = uint64_t{1} << 63;

bool FitsSeconds(int64_t seconds, int64_t least) {
  return seconds >= least && seconds <= std::numeric_limits<int32_t>::max();
}

}  // namespace

void PutPayload(std::string* out, const PayloadView& payload) {
  PutZigzag(out, payload.progress_s);
  PutVarint(out, static_cast<uint64_t>(payload.duration_s));
  PutVarint(out, payload.device.size());
  out->append(payload.device);
  PutVarint(out, payload.fields.size());
  out->append(payload.fields);
}

std::string_view ReadPayload(Reader* in, PayloadView* payload) {
  const std::string_view all = in->rest();
  const int64_t progress = in->Zigzag();
  const uint64_t duration = in->Varint();
  const uint64_t device_bytes = in->Varint();
  payload->device = in->Bytes(device_bytes);
  const uint64_t fields_bytes = in->Varint();
  payload->fields = in->Bytes(fields_bytes);
  const bool fits = FitsSeconds(progress, kFinished) && duration <= INT32_MAX &&
                    device_bytes <= kMaxDeviceBytes && fields_bytes <= kMaxFieldsBytes;
  if (!fits) in->Fail();
  if (!in->ok()) return {};
  payload->progress_s = static_cast<int32_t>(progress);
  payload->duration_s = static_cast<int32_t>(duration);
  return all.substr(0, all.size() - in->remaining());
}

bool HistoryView::Supersedes(const HistoryView& other) const {
  if (at_ms != other.at_ms) return at_ms > other.at_ms;
  if (tombstone != other.tombstone) return tombstone;
  return payload > other.payload;
}

bool HistoryValue::Parse(std::string_view value) {
  *this = {};
  std::string_view body;
  if (!Open32(value, Tag::kHistory, &body)) return false;
  Reader in(body);
  const uint8_t flags = in.U8();
  state.tombstone = (flags & kTombstoneFlag) != 0;
  damaged = (flags & kDamagedFlag) != 0;
  state.at_ms = in.Zigzag();
  PayloadView read;
  state.payload = ReadPayload(&in, &read);
  if (!in.ok() || (flags & ~(kTombstoneFlag | kDamagedFlag | kNewerLayoutFlag)) != 0) return false;
  if ((flags & kNewerLayoutFlag) != 0 && !ReadNewer(&in, &newer)) return false;
  return in.ok() && in.remaining() == 0;
}

void HistoryValue::Encode(std::string* out) const {
  out->clear();
  out->push_back(static_cast<char>(Tag::kHistory));
  out->push_back(static_cast<char>((state.tombstone ? kTombstoneFlag : 0) |
                                   (damaged ? kDamagedFlag : 0) |
                                   (newer.empty() ? 0 : kNewerLayoutFlag)));
  PutZigzag(out, state.at_ms);
  if (state.payload.empty()) {
    PutPayload(out, {});
  } else {
    out->append(state.payload);
  }
  if (!newer.empty()) PutNewer(newer, out);
  Seal32(out);
}

PayloadView HistoryValue::payload() const {
  PayloadView view;
  Reader in(state.payload);
  ReadPayload(&in, &view);
  assert(in.ok() || state.payload.empty());
  return view;
}

void EncodeHistory(const HistoryView& state, std::string* out) {
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
