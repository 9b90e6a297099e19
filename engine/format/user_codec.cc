#include "format/user_codec.h"

#include <algorithm>

#include "format/damage.h"

namespace seendb {
namespace {

enum Field : uint8_t {
  kErasedSeq = 1,
  kErasedAt = 2,
  kDamaged = 3,
  kNewer = 4,
  kMarks = 5,
  kToggles = 6,
  kForgetBefore = 7,
  kLastDay = 8,
};

constexpr uint8_t kClearedFlag = 1;
constexpr uint8_t kEvictedFlag = 2;
constexpr uint8_t kForgottenFlag = 4;
constexpr uint8_t kAheadFlag = 8;

// A time and what was decided then: an override or a toggle.
void PutDecision(int64_t at_ms, uint64_t seq, bool yes, std::string* out) {
  PutZigzag(out, at_ms);
  PutVarint(out, seq);
  out->push_back(yes ? '\1' : '\0');
}
bool ReadDecision(Reader* in, int64_t* at_ms, uint64_t* seq, bool* yes) {
  *at_ms = in->Zigzag();
  *seq = in->Varint();
  const uint8_t flag = in->U8();
  *yes = flag == 1;
  return in->ok() && flag <= 1;
}

void PutDeletionsAhead(const std::map<Fingerprint, DeletionAhead>& deletions, std::string* out) {
  PutVarint(out, deletions.size());
  for (const auto& [item, deletion] : deletions) {
    PutFingerprint(out, item);
    PutVarint(out, deletion.seq);
    PutZigzag(out, deletion.asked_ms);
    PutVarint(out,
              static_cast<uint64_t>(deletion.until_ms) - static_cast<uint64_t>(deletion.asked_ms));
  }
}

bool ReadDeletionsAhead(Reader* in, std::map<Fingerprint, DeletionAhead>* deletions) {
  const uint64_t count = in->Varint();
  for (uint64_t i = 0; in->ok() && i < count; ++i) {
    const Fingerprint item = in->Packed();
    const uint64_t seq = in->Varint();
    const int64_t asked_ms = in->Zigzag();
    const uint64_t span_ms = in->Varint();
    const uint64_t most = static_cast<uint64_t>(INT64_MAX) - static_cast<uint64_t>(asked_ms);
    if (!in->ok() || span_ms == 0 || span_ms > most) return false;
    if (!deletions->empty() && deletions->rbegin()->first >= item) return false;
    const auto until_ms = static_cast<int64_t>(static_cast<uint64_t>(asked_ms) + span_ms);
    deletions->emplace_hint(deletions->end(), item, DeletionAhead{seq, until_ms, asked_ms});
  }
  return in->ok() && !deletions->empty();
}

std::string MarksBytes(std::string_view collection, const CollectionMarks& marks) {
  std::string bytes;
  PutVarint(&bytes, collection.size());
  bytes.append(collection);
  const bool cleared = marks.cleared_at_ms != kNeverMs, evicted = marks.evicted_at_ms != kNeverMs;
  const bool forgotten = marks.forgotten.seq != 0;
  const bool ahead = !marks.deletions_ahead.empty();
  bytes.push_back(static_cast<char>((cleared ? kClearedFlag : 0) | (evicted ? kEvictedFlag : 0) |
                                    (forgotten ? kForgottenFlag : 0) | (ahead ? kAheadFlag : 0)));
  if (cleared) PutZigzag(&bytes, marks.cleared_at_ms);
  if (evicted) PutZigzag(&bytes, marks.evicted_at_ms);
  if (forgotten) {
    PutVarint(&bytes, marks.forgotten.seq);
    PutZigzag(&bytes, marks.forgotten.at_ms);
  }
  PutVarint(&bytes, marks.overrides.size());
  for (const auto& [item, override] : marks.overrides) {
    PutFingerprint(&bytes, item);
    PutDecision(override.at_ms, override.seq, override.cancelled, &bytes);
  }
  if (ahead) PutDeletionsAhead(marks.deletions_ahead, &bytes);
  return bytes;
}

bool ReadMarks(std::string_view bytes, UserRecord* record) {
  Reader in(bytes);
  const std::string_view collection = in.Bytes(in.Varint());
  const uint8_t flags = in.U8();
  constexpr uint8_t kKnown = kClearedFlag | kEvictedFlag | kForgottenFlag | kAheadFlag;
  if (!in.ok() || collection.empty() || (flags & ~kKnown) != 0) return false;
  if (!record->marks.empty() && record->marks.rbegin()->first >= collection) return false;
  CollectionMarks& marks = record->marks[std::string(collection)];
  if ((flags & kClearedFlag) != 0) marks.cleared_at_ms = in.Zigzag();
  if ((flags & kEvictedFlag) != 0) marks.evicted_at_ms = in.Zigzag();
  if ((flags & kForgottenFlag) != 0) {
    marks.forgotten.seq = in.Varint();
    marks.forgotten.at_ms = in.Zigzag();
    if (marks.forgotten.seq == 0) return false;
  }
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; in.ok() && i < count; ++i) {
    const Fingerprint item = in.Packed();
    Override override;
    if (!ReadDecision(&in, &override.at_ms, &override.seq, &override.cancelled)) return false;
    if (!marks.overrides.empty() && marks.overrides.rbegin()->first >= item) return false;
    marks.overrides.emplace_hint(marks.overrides.end(), item, override);
  }
  if ((flags & kAheadFlag) != 0 && !ReadDeletionsAhead(&in, &marks.deletions_ahead)) return false;
  return in.ok() && in.remaining() == 0;
}

std::string TogglesBytes(const std::vector<PauseToggle>& toggles) {
  std::string bytes;
  for (const PauseToggle& toggle : toggles) {
    PutDecision(toggle.at_ms, toggle.seq, toggle.paused, &bytes);
  }
  return bytes;
}

bool ReadToggles(std::string_view bytes, std::vector<PauseToggle>* toggles) {
  Reader in(bytes);
  while (in.remaining() > 0) {
    PauseToggle toggle;
    if (!ReadDecision(&in, &toggle.at_ms, &toggle.seq, &toggle.paused)) return false;
    if (!toggles->empty() && toggles->back() >= toggle) return false;
    toggles->push_back(toggle);
  }
  return !toggles->empty();
}

int64_t TimeOf(const Override& override) { return override.at_ms; }
int64_t TimeOf(const DeletionAhead& deletion) { return deletion.until_ms; }

// The latest stay.
template <typename Mark>
void Bound(std::map<Fingerprint, Mark>* marks) {
  if (marks->size() <= kMaxOverrides) return;
  std::vector<std::pair<int64_t, Fingerprint>> by_time;
  by_time.reserve(marks->size());
  for (const auto& [item, mark] : *marks) by_time.emplace_back(TimeOf(mark), item);
  const auto end = by_time.begin() + static_cast<int64_t>(by_time.size() - kMaxOverrides);
  std::nth_element(by_time.begin(), end, by_time.end());
  for (auto at = by_time.begin(); at != end; ++at) marks->erase(at->second);
}

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
    } else if (field == kMarks) {
      if (!ReadMarks(in.Bytes(number), this)) return false;
    } else if (field == kToggles) {
      if (!toggles.empty() || !ReadToggles(in.Bytes(number), &toggles)) return false;
    } else if (field == kForgetBefore) {
      forget_before_ms = Unzigzag(number);
    } else if (field == kLastDay) {
      last_day = Unzigzag(number);
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
  const auto put_bytes = [&](Field field, const std::string& bytes) {
    put(field, bytes.size());
    out->append(bytes);
  };
  put(kErasedSeq, erased_seq);
  put(kErasedAt, static_cast<uint64_t>(erased_at_ms));
  put(kDamaged, damaged ? 1 : 0);
  for (const std::string& value : newer) put_bytes(kNewer, value);
  for (const auto& [collection, of] : marks) put_bytes(kMarks, MarksBytes(collection, of));
  put_bytes(kToggles, TogglesBytes(toggles));
  const auto put_signed = [out](Field field, int64_t number, int64_t none) {
    if (number == none) return;
    out->push_back(static_cast<char>(field));
    PutZigzag(out, number);
  };
  put_signed(kForgetBefore, forget_before_ms, kNeverMs);
  put_signed(kLastDay, last_day, kNoDay);
  Seal32(out);
}

void UserRecord::Join(const UserRecord& other) {
  erased_seq = std::max(erased_seq, other.erased_seq);
  erased_at_ms = std::max(erased_at_ms, other.erased_at_ms);
  damaged = damaged || other.damaged;
  for (const std::string& value : other.newer) InsertOnce(&newer, value);
  forget_before_ms = std::max(forget_before_ms, other.forget_before_ms);
  last_day = std::max(last_day, other.last_day);
  for (const auto& [collection, of] : other.marks) {
    CollectionMarks& mine = marks[collection];
    mine.cleared_at_ms = std::max(mine.cleared_at_ms, of.cleared_at_ms);
    mine.evicted_at_ms = std::max(mine.evicted_at_ms, of.evicted_at_ms);
    mine.forgotten.Join(of.forgotten);
    for (const auto& [item, override] : of.overrides) {
      Override& known = mine.overrides[item];
      if (override.Supersedes(known)) known = override;
    }
    for (const auto& [item, deletion] : of.deletions_ahead) {
      DeletionAhead& known = mine.deletions_ahead[item];
      known = std::max(known, deletion);
    }
  }
  const size_t known = toggles.size();
  toggles.insert(toggles.end(), other.toggles.begin(), other.toggles.end());
  std::inplace_merge(toggles.begin(), toggles.begin() + static_cast<int64_t>(known), toggles.end());
  toggles.erase(std::unique(toggles.begin(), toggles.end()), toggles.end());
  Forget();
}

// The last toggle before what is forgotten says how things stood then.
void UserRecord::Forget() {
  std::erase_if(toggles, [&](const PauseToggle& toggle) { return toggle.seq <= erased_seq; });
  const auto is_old = [&](const PauseToggle& toggle) { return toggle.at_ms < forget_before_ms; };
  const auto last = std::find_if(toggles.rbegin(), toggles.rend(), is_old);
  if (last != toggles.rend()) {
    const PauseToggle kept = *last;
    std::erase_if(toggles, [&](const PauseToggle& one) { return is_old(one) && one != kept; });
  }
  for (auto& [collection, of] : marks) {
    const uint64_t gone_seq = std::max(erased_seq, of.forgotten.seq);
    std::erase_if(of.overrides, [&](const auto& one) {
      return one.second.seq <= gone_seq || one.second.at_ms < forget_before_ms;
    });
    Bound(&of.overrides);
    std::erase_if(of.deletions_ahead, [&](const auto& one) {
      return one.second.seq <= gone_seq || one.second.until_ms < forget_before_ms;
    });
    Bound(&of.deletions_ahead);
  }
  std::erase_if(marks, [](const auto& one) { return one.second == CollectionMarks{}; });
}

void UserRecord::JoinUnread(std::string_view value) {
  if (NewerText(value).empty()) {
    damaged = true;
  } else {
    InsertOnce(&newer, value);
  }
}

uint64_t UserRecord::LastSequence() const {
  uint64_t last = toggles.empty() ? erased_seq : std::max(erased_seq, toggles.back().seq);
  for (const auto& [collection, of] : marks) {
    last = std::max(last, of.forgotten.seq);
    for (const auto& [item, override] : of.overrides) last = std::max(last, override.seq);
    for (const auto& [item, deletion] : of.deletions_ahead) last = std::max(last, deletion.seq);
  }
  return last;
}

bool UserRecord::PausedAt(int64_t at_ms) const {
  const auto after =
      std::find_if(toggles.rbegin(), toggles.rend(),
                   [at_ms](const PauseToggle& toggle) { return toggle.at_ms <= at_ms; });
  return after != toggles.rend() && after->paused;
}

Forgotten UserRecord::ForgottenIn(std::string_view collection) const {
  Forgotten forgotten;
  if (erased_seq != 0) forgotten = {erased_seq, erased_at_ms};
  if (const auto at = marks.find(collection); at != marks.end()) {
    forgotten.Join(at->second.forgotten);
  }
  return forgotten;
}

int64_t UserRecord::Watermark(std::string_view collection) const {
  int64_t up_to_ms = erased_seq != 0 ? erased_at_ms : kNeverMs;
  if (const auto at = marks.find(collection); at != marks.end()) {
    up_to_ms = std::max({up_to_ms, at->second.cleared_at_ms, at->second.evicted_at_ms});
  }
  return up_to_ms;
}

const Override* CollectionMarks::FindOverride(Fingerprint item) const {
  const auto at = overrides.find(item);
  return at == overrides.end() || at->second.cancelled ? nullptr : &at->second;
}

const Override* UserRecord::FindOverride(std::string_view collection, Fingerprint item) const {
  const auto of = marks.find(collection);
  return of == marks.end() ? nullptr : of->second.FindOverride(item);
}

std::optional<int64_t> UserRecord::HiddenUntil(std::string_view collection, Fingerprint item,
                                               int64_t at_ms) const {
  const auto of = marks.find(collection);
  if (of == marks.end()) return std::nullopt;
  const auto deletion = of->second.deletions_ahead.find(item);
  if (deletion == of->second.deletions_ahead.end()) return std::nullopt;
  return deletion->second.Hides(at_ms) ? std::optional(deletion->second.until_ms) : std::nullopt;
}

}  // namespace seendb
