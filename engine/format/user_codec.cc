#include "format/user_codec.h"

#include <algorithm>

#include "format/damage.h"

namespace seendb {
namespace {

enum Field : uint8_t { kErasedSeq = 1, kErasedAt = 2, kDamaged = 3, kNewer = 4 };

}  // namespace

bool UserRecord::Parse(std::string_view value) {
  std::string_view body;
  if (!Open32(value, Tag::kUser, &body)) return false;
  *this = {};
  Reader in(body);
  while (in.ok() && in.remaining() > 0) {
    const uint8_t field = in.U8();
    const uint64_t number = in.Varint();
    if (field == kErasedSeq) {
      erased_seq = number;
    } else if (field == kErasedAt) {
      erased_at_ms = static_cast<int64_t>(number);
    } else if (field == kDamaged) {
      damaged = number != 0;
    } else if (field == kNewer) {
      newer.emplace_back(in.Bytes(number));
      if (newer.back().empty()) return false;
      if (newer.size() > 1 && newer[newer.size() - 2] >= newer.back()) return false;
    } else {
      return false;
    }
  }
  return in.ok();
}

void UserRecord::Encode(std::string* out) const {
  out->clear();
  out->push_back(static_cast<char>(Tag::kUser));
  const auto put = [out](Field field, uint64_t number) {
    if (number == 0) return;
    out->push_back(static_cast<char>(field));
    PutVarint(out, number);
  };
  put(kErasedSeq, erased_seq);
  put(kErasedAt, static_cast<uint64_t>(erased_at_ms));
  put(kDamaged, damaged ? 1 : 0);
  for (const std::string& value : newer) {
    put(kNewer, value.size());
    out->append(value);
  }
  Seal32(out);
}

void UserRecord::Absorb(const UserRecord& other) {
  erased_seq = std::max(erased_seq, other.erased_seq);
  erased_at_ms = std::max(erased_at_ms, other.erased_at_ms);
  damaged = damaged || other.damaged;
  for (const std::string& value : other.newer) InsertOnce(&newer, value);
}

void UserRecord::AbsorbUnread(std::string_view value) {
  if (NewerText(value).empty()) {
    damaged = true;
  } else {
    InsertOnce(&newer, value);
  }
}

}  // namespace seendb
