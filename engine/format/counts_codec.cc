#include "format/counts_codec.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/counted_kinds.h"
#include "seendb/facts.h"

namespace seendb {
namespace {

using Names = std::vector<std::string_view>;

constexpr int kFactBits = 2;
constexpr char kItemKeyByte = '\xFF';  // never in UTF-8

// Newer to older, one key among others last: a total order of entries that differ in more than how
// long they count.
auto AgeOf(const CountEntry& e) { return std::tie(e.at_ms, e.fact, e.item, e.surface); }

bool IsNewer(const CountEntry& a, const CountEntry& b) {
  return std::tuple_cat(AgeOf(a), std::tie(a.key)) > std::tuple_cat(AgeOf(b), std::tie(b.key));
}

// The order in which they are stored.
bool ComesBefore(const CountEntry& a, const CountEntry& b) {
  return a.key != b.key ? a.key < b.key : AgeOf(a) > AgeOf(b);
}

bool ReadPlaces(Reader* in, Names* places) {
  const uint32_t count = in->Varint32();
  for (uint32_t i = 0; in->ok() && i < count; ++i) {
    const std::string_view place = in->Bytes(in->Varint());
    if (place.size() - 1 >= kMaxSurfaceBytes) return false;
    if (i > 0 && place <= places->back()) return false;
    places->push_back(place);
  }
  return in->ok();
}

// The time before another one, wherever that wraps to.
int64_t Before(int64_t at_ms, uint64_t ms) {
  return static_cast<int64_t>(static_cast<uint64_t>(at_ms) - ms);
}

bool ReadEvents(std::string_view bytes, std::string_view key, const Names& places,
                std::vector<CountEntry>* entries) {
  Reader in(bytes);
  CountEntry entry;
  entry.key = key;
  const size_t begin = entries->size();
  do {
    const bool first = entries->size() == begin;
    entry.at_ms = first ? in.Zigzag() : Before(entry.at_ms, in.Varint());
    entry.item = in.Packed();
    const uint64_t what = in.Varint();
    entry.fact = static_cast<CountedFact>(what & ((1 << kFactBits) - 1));
    const uint64_t place = what >> kFactBits;
    if (place > places.size()) return false;
    entry.surface = place == 0 ? std::string_view() : places[place - 1];
    entry.for_ms = entry.fact == CountedFact::kReserved ? static_cast<int64_t>(in.Varint()) : 0;
    if (!in.ok() || entry.for_ms < 0) return false;
    if (!first && !ComesBefore(entries->back(), entry)) return false;
    entries->push_back(entry);
  } while (in.remaining() > 0);
  return true;
}

void PutEvents(std::span<const CountEntry> events, const Names& places, std::string* out) {
  for (size_t i = 0; i < events.size(); ++i) {
    const CountEntry& event = events[i];
    if (i == 0) {
      PutZigzag(out, event.at_ms);
    } else {
      PutVarint(out,
                static_cast<uint64_t>(events[i - 1].at_ms) - static_cast<uint64_t>(event.at_ms));
    }
    PutFingerprint(out, event.item);
    const auto at = std::lower_bound(places.begin(), places.end(), event.surface);
    const auto place = event.surface.empty() ? 0 : static_cast<uint64_t>(at - places.begin()) + 1;
    PutVarint(out, place << kFactBits | static_cast<uint64_t>(event.fact));
    if (event.fact == CountedFact::kReserved) PutVarint(out, static_cast<uint64_t>(event.for_ms));
  }
}

Names PlacesOf(const std::vector<CountEntry>& entries) {
  Names places;
  for (const CountEntry& entry : entries) {
    if (entry.surface.empty()) continue;
    const auto at = std::lower_bound(places.begin(), places.end(), entry.surface);
    if (at == places.end() || *at != entry.surface) places.insert(at, entry.surface);
  }
  return places;
}

}  // namespace

std::string ItemKey(const IdRef& item) {
  std::string key(1, kItemKeyByte);
  item.AppendTo(&key);
  return key;
}

std::string_view ItemOfKey(std::string_view key) {
  const bool is_item = !key.empty() && key.front() == kItemKeyByte;
  return is_item ? key.substr(1) : std::string_view();
}

int64_t OldestCounted(std::string_view key, std::span<const CountedKind> kinds, int64_t now_ms) {
  const int64_t for_ms = ItemOfKey(key).empty() ? CountedFor(key, kinds) : ItemsCountedFor(kinds);
  return for_ms == 0 ? std::numeric_limits<int64_t>::max() : now_ms - for_ms;
}

bool IsOfKind(std::string_view key, std::string_view kind) {
  if (!ItemOfKey(key).empty()) return kind == kItemKind;
  return key.starts_with(kind) && (key.size() == kind.size() || key[kind.size()] == ':');
}

bool CountList::Parse(std::string_view value) { return Read(value, nullptr); }
bool CountList::ParseKind(std::string_view value, std::string_view kind) {
  return Read(value, &kind);
}

bool CountList::Read(std::string_view value, const std::string_view* kind) {
  std::string_view body;
  if (!Open32(value, Tag::kCounts, &body)) return false;
  entries.clear();
  damage = {};
  Reader in(body);
  const uint64_t damage_bytes = in.Varint();
  const std::string_view section = in.Bytes(damage_bytes);
  Names places;
  if (!ReadPlaces(&in, &places)) return false;
  const uint32_t keys = in.Varint32();
  std::string_view last;
  for (uint32_t i = 0; in.ok() && i < keys; ++i) {
    const std::string_view key = in.Bytes(in.Varint());
    if (key.size() - 1 >= kMaxCountKeyBytes || key <= last) return false;
    last = key;
    const std::string_view events = in.Bytes(in.Varint());
    if (!in.ok()) return false;
    if (kind != nullptr && !IsOfKind(key, *kind)) continue;
    if (!ReadEvents(events, key, places, &entries)) return false;
  }
  if (!in.ok() || in.remaining() != 0) return false;
  return damage_bytes == 0 || DamageSet::Read(section, &damage);
}

void CountList::Encode(std::string* out) const {
  out->clear();
  out->push_back(static_cast<char>(Tag::kCounts));
  std::string section;
  if (!damage.empty()) damage.AppendTo(&section);
  PutVarint(out, section.size());
  out->append(section);
  const Names places = PlacesOf(entries);
  PutVarint(out, places.size());
  for (const std::string_view place : places) {
    PutVarint(out, place.size());
    out->append(place);
  }
  uint64_t keys = 0;
  std::string bytes, events;
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end, ++keys) {
    while (end < entries.size() && entries[end].key == entries[begin].key) ++end;
    events.clear();
    PutEvents(std::span(entries).subspan(begin, end - begin), places, &events);
    PutVarint(&bytes, entries[begin].key.size());
    bytes.append(entries[begin].key);
    PutVarint(&bytes, events.size());
    bytes.append(events);
  }
  PutVarint(out, keys);
  out->append(bytes);
  Seal32(out);
}

void CountList::Normalize(const CountLimits& limits) {
  // Each once: of those that differ in how long they count the longest.
  std::sort(entries.begin(), entries.end(), [](const CountEntry& a, const CountEntry& b) {
    if (ComesBefore(a, b)) return true;
    return !ComesBefore(b, a) && a.for_ms > b.for_ms;
  });
  const auto same = [](const CountEntry& a, const CountEntry& b) {
    return a.key == b.key && AgeOf(a) == AgeOf(b);
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  std::string_view key;
  size_t of_fact[1 << kFactBits] = {};
  std::erase_if(entries, [&](const CountEntry& entry) {
    if (entry.key != key) std::fill(std::begin(of_fact), std::end(of_fact), size_t{0});
    key = entry.key;
    return ++of_fact[static_cast<size_t>(entry.fact)] > limits.of_key;
  });
  if (entries.size() <= limits.of_user) return;
  const auto end = entries.begin() + static_cast<int64_t>(limits.of_user);
  std::nth_element(entries.begin(), end, entries.end(), IsNewer);
  entries.erase(end, entries.end());
  std::sort(entries.begin(), entries.end(), ComesBefore);
}

void CountList::DropBefore(int64_t at_ms) {
  std::erase_if(entries, [at_ms](const CountEntry& entry) { return entry.at_ms < at_ms; });
}

void CountList::DropOld(std::span<const CountedKind> kinds, int64_t now_ms) {
  std::string_view key;
  int64_t oldest_ms = std::numeric_limits<int64_t>::min();
  std::erase_if(entries, [&](const CountEntry& entry) {
    if (entry.key != key) oldest_ms = OldestCounted(entry.key, kinds, now_ms);
    key = entry.key;
    return entry.at_ms < oldest_ms;
  });
}

}  // namespace seendb
