#include "format/marks_codec.h"

#include <algorithm>
#include <tuple>

#include "seendb/facts.h"

namespace seendb {
namespace {

enum MarkKind : uint8_t { kUntil = 0, kAlways = 1 };

// Times come from outside: a difference may not fit, and wraps around.
int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void PutMark(const StoredMark& mark, std::string* out) {
  PutZigzag(out, mark.said_ms);
  const bool always = mark.until_ms == kMarkedAlways;
  out->push_back(static_cast<char>(always ? kAlways : kUntil));
  if (!always) PutZigzag(out, Minus(mark.until_ms, mark.said_ms));
}

StoredMark ReadMark(Reader* in, std::string_view group) {
  StoredMark mark{group, in->Zigzag(), kMarkedAlways};
  const uint8_t kind = in->U8();
  if (kind == kAlways) return mark;
  mark.until_ms = Plus(mark.said_ms, in->Zigzag());
  if (kind != kUntil || mark.until_ms == kMarkedAlways) in->Fail();
  return mark;
}

// A group's name, state and deletion, and then its marks.
bool ReadGroup(Reader* in, std::string_view* last, MarkList* list) {
  const std::string_view group = in->Bytes(in->Varint());
  if (group.size() - 1 >= kMaxGroupBytes || group <= *last) return false;
  *last = group;
  const uint64_t state = in->Varint();
  if (state == 0) return false;
  const bool deleted = (state & 1) != 0;
  if (deleted) list->deletions.push_back({group, in->Zigzag()});
  for (uint64_t i = 0; in->ok() && i < state >> 1; ++i) {
    const StoredMark mark = ReadMark(in, group);
    if (deleted && mark.said_ms <= list->deletions.back().at_ms) return false;
    const StoredMark& former = i == 0 ? mark : list->marks.back();
    if (i > 0 && (mark.said_ms <= former.said_ms || mark.until_ms >= former.until_ms)) return false;
    list->marks.push_back(mark);
  }
  return in->ok();
}

bool GroupBefore(const StoredMark& mark, std::string_view group) { return mark.group < group; }

}  // namespace

bool MarkList::Parse(std::string_view value) {
  std::string_view body;
  if (!Open32(value, Tag::kMarks, &body)) return false;
  Reader in(body);
  const uint64_t damage_bytes = in.Varint();
  const std::string_view section = in.Bytes(damage_bytes);
  const uint32_t count = in.Varint32();
  marks.clear();
  deletions.clear();
  damage = {};
  std::string_view last;
  for (uint32_t i = 0; i < count; ++i) {
    if (!in.ok() || !ReadGroup(&in, &last, this)) return false;
  }
  if (!in.ok() || in.remaining() != 0) return false;
  return damage_bytes == 0 || DamageSet::Read(section, &damage);
}

void MarkList::Encode(std::string* out) const {
  out->clear();
  out->push_back(static_cast<char>(Tag::kMarks));
  std::string section;
  if (!damage.empty()) damage.AppendTo(&section);
  PutVarint(out, section.size());
  out->append(section);
  std::string bytes;
  uint64_t count = 0;
  auto mark = marks.begin();
  auto deletion = deletions.begin();
  while (mark != marks.end() || deletion != deletions.end()) {
    const bool deleted =
        deletion != deletions.end() && (mark == marks.end() || deletion->group <= mark->group);
    const std::string_view group = deleted ? deletion->group : mark->group;
    const auto end =
        std::find_if(mark, marks.end(), [&](const StoredMark& m) { return m.group != group; });
    ++count;
    PutVarint(&bytes, group.size());
    bytes.append(group);
    PutVarint(&bytes, 2 * static_cast<uint64_t>(end - mark) + (deleted ? 1 : 0));
    if (deleted) PutZigzag(&bytes, deletion++->at_ms);
    for (; mark != end; ++mark) PutMark(*mark, &bytes);
  }
  PutVarint(out, count);
  out->append(bytes);
  Seal32(out);
}

void MarkList::Add(const MarkList& other) {
  marks.insert(marks.end(), other.marks.begin(), other.marks.end());
  deletions.insert(deletions.end(), other.deletions.begin(), other.deletions.end());
  damage.Join(other.damage);
}

void MarkList::Normalize(size_t deletions_most) {
  // The latest of each group, and of all of them the latest.
  std::sort(deletions.begin(), deletions.end(), std::greater<>());
  deletions.erase(
      std::unique(deletions.begin(), deletions.end(),
                  [](const MarkDeletion& a, const MarkDeletion& b) { return a.group == b.group; }),
      deletions.end());
  std::reverse(deletions.begin(), deletions.end());
  std::erase_if(marks, [&](const StoredMark& mark) {
    const auto at = std::lower_bound(deletions.begin(), deletions.end(),
                                     MarkDeletion{mark.group, mark.said_ms});
    return at != deletions.end() && at->group == mark.group;
  });
  if (deletions.size() > deletions_most) {
    const auto later = [](const MarkDeletion& a, const MarkDeletion& b) {
      return std::tie(a.at_ms, a.group) > std::tie(b.at_ms, b.group);
    };
    const auto end = deletions.begin() + static_cast<int64_t>(deletions_most);
    std::nth_element(deletions.begin(), end, deletions.end(), later);
    deletions.erase(end, deletions.end());
    std::sort(deletions.begin(), deletions.end());
  }
  // From the one said last on: what reaches no further than one said later is exceeded by that.
  std::sort(marks.begin(), marks.end(), std::greater<>());
  size_t kept = 0;
  for (const StoredMark& mark : marks) {
    const bool same = kept > 0 && marks[kept - 1].group == mark.group;
    if (!same || mark.until_ms > marks[kept - 1].until_ms) marks[kept++] = mark;
  }
  marks.resize(kept);
  std::reverse(marks.begin(), marks.end());
}

const StoredMark* MarkList::Find(std::string_view group) const {
  const auto at = std::lower_bound(marks.begin(), marks.end(), group, GroupBefore);
  return at == marks.end() || at->group != group ? nullptr : &*at;
}

const MarkDeletion* MarkList::FindDeletion(std::string_view group) const {
  const auto at = std::lower_bound(
      deletions.begin(), deletions.end(), group,
      [](const MarkDeletion& one, std::string_view wanted) { return one.group < wanted; });
  return at == deletions.end() || at->group != group ? nullptr : &*at;
}

size_t MarkList::groups() const {
  size_t count = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (i == 0 || marks[i].group != marks[i - 1].group) ++count;
  }
  return count;
}

void MarkList::ForgetUpTo(int64_t at_ms) {
  std::erase_if(marks, [at_ms](const StoredMark& mark) { return mark.said_ms <= at_ms; });
  std::erase_if(deletions, [at_ms](const MarkDeletion& gone) { return gone.at_ms <= at_ms; });
}

}  // namespace seendb
