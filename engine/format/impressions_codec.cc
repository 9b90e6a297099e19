#include "format/impressions_codec.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "filter/keyed_hash.h"
#include "seendb/facts.h"
#include "seendb/id.h"

namespace seendb {
namespace {

using Surfaces = std::vector<std::string_view>;

// They must be what Encode writes: ascending, each once, at least one.
bool ReadSurfaces(Reader* in, Surfaces* surfaces) {
  const uint32_t count = in->Varint32();
  for (uint32_t i = 0; in->ok() && i < count; ++i) {
    const std::string_view surface = in->Bytes(in->Varint());
    if (surface.size() - 1 >= kMaxSurfaceBytes) return false;
    if (i > 0 && surface <= surfaces->back()) return false;
    surfaces->push_back(surface);
  }
  return in->ok() && count > 0;
}

Surfaces SurfacesOf(const std::vector<ImpressionEntry>& entries) {
  Surfaces surfaces;
  for (const ImpressionEntry& entry : entries) {
    if (entry.surface.empty()) continue;
    const auto at = std::lower_bound(surfaces.begin(), surfaces.end(), entry.surface);
    if (at == surfaces.end() || *at != entry.surface) surfaces.insert(at, entry.surface);
  }
  return surfaces;
}

// 0: none.
uint64_t NumberOf(const Surfaces& surfaces, std::string_view surface) {
  if (surface.empty()) return 0;
  const auto at = std::lower_bound(surfaces.begin(), surfaces.end(), surface);
  return static_cast<uint64_t>(at - surfaces.begin()) + 1;
}

// Besides the entries of version 1, a value of a tag has these.
struct Extras {
  bool ids = false, surfaces = false;
};

bool Open(std::string_view value, std::string_view* body, Extras* has) {
  *has = {};
  if (Open32(value, Tag::kImpressions, body)) return true;
  has->ids = true;
  if (Open32(value, Tag::kImpressionsWithIds, body)) return true;
  has->surfaces = true;
  return Open32(value, Tag::kImpressionsWithSurfaces, body);
}

bool ReadItem(Reader* in, const Extras& has, const Surfaces& surfaces, ImpressionEntry* entry) {
  entry->item = in->Packed();
  entry->position = in->Varint32();
  if (has.surfaces) {
    const uint32_t number = in->Varint32();
    if (number > surfaces.size()) return false;
    entry->surface = number == 0 ? std::string_view() : surfaces[number - 1];
  }
  if (has.ids) entry->id = in->Bytes(in->Varint());
  return in->ok() && entry->id.size() <= kMaxIdBytes;
}

// An item, or a surface too, that entries are each the newest of.
struct Place {
  Fingerprint item;
  std::string_view surface;
  bool operator==(const Place&) const = default;
};
struct PlaceHasher {
  size_t operator()(const Place& place) const noexcept {
    return KeyedHash(place.item, place.surface.empty() ? 0 : KeyedHash(place.surface));
  }
};

}  // namespace

bool ImpressionList::Parse(std::string_view value) {
  std::string_view body;
  Extras has;
  if (!Open(value, &body, &has)) return false;
  Reader in(body);
  const uint64_t damage_bytes = in.Varint();
  const std::string_view section = in.Bytes(damage_bytes);
  Surfaces surfaces;
  if (has.surfaces && !ReadSurfaces(&in, &surfaces)) return false;
  const uint32_t groups = in.Varint32();
  entries.clear();
  damage = {};
  for (uint32_t g = 0; in.ok() && g < groups; ++g) {
    ImpressionEntry entry;
    entry.at_ms = static_cast<int64_t>(in.Varint());
    entry.stamp = in.Varint();
    const uint32_t count = in.Varint32();
    for (uint32_t i = 0; in.ok() && i < count; ++i) {
      if (!ReadItem(&in, has, surfaces, &entry)) return false;
      entries.push_back(entry);
    }
  }
  if (!in.ok() || in.remaining() != 0) return false;
  return damage_bytes == 0 || DamageSet::Read(section, &damage);
}

void ImpressionList::Encode(std::string* out) const {
  out->clear();
  const Surfaces surfaces = SurfacesOf(entries);
  Extras has;
  has.surfaces = !surfaces.empty();
  has.ids = has.surfaces || std::any_of(entries.begin(), entries.end(),
                                        [](const ImpressionEntry& e) { return !e.id.empty(); });
  out->push_back(static_cast<char>(has.surfaces ? Tag::kImpressionsWithSurfaces
                                   : has.ids    ? Tag::kImpressionsWithIds
                                                : Tag::kImpressions));
  std::string section;
  if (!damage.empty()) damage.AppendTo(&section);
  PutVarint(out, section.size());
  out->append(section);
  if (has.surfaces) PutVarint(out, surfaces.size());
  for (const std::string_view surface : surfaces) {
    PutVarint(out, surface.size());
    out->append(surface);
  }
  const auto same_call = [](const ImpressionEntry& a, const ImpressionEntry& b) {
    return a.at_ms == b.at_ms && a.stamp == b.stamp;
  };
  size_t groups = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || !same_call(entries[i - 1], entries[i])) ++groups;
  }
  PutVarint(out, groups);
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    while (end < entries.size() && same_call(entries[begin], entries[end])) ++end;
    PutVarint(out, static_cast<uint64_t>(entries[begin].at_ms));
    PutVarint(out, entries[begin].stamp);
    PutVarint(out, end - begin);
    for (size_t i = begin; i < end; ++i) {
      PutFingerprint(out, entries[i].item);
      PutVarint(out, entries[i].position);
      if (has.surfaces) PutVarint(out, NumberOf(surfaces, entries[i].surface));
      if (!has.ids) continue;
      PutVarint(out, entries[i].id.size());
      out->append(entries[i].id);
    }
  }
  Seal32(out);
}

void ImpressionList::Normalize(size_t limit) {
  std::sort(entries.begin(), entries.end(), std::greater<>());
  std::unordered_set<Place, PlaceHasher> known;
  std::erase_if(entries, [&](const ImpressionEntry& e) {
    return known.size() >= limit || !known.insert({e.item, e.surface}).second;
  });
}

void ImpressionList::DropIds() {
  for (ImpressionEntry& entry : entries) entry.id = {};
}

void ImpressionList::DropBefore(int64_t at_ms) {
  std::erase_if(entries, [at_ms](const ImpressionEntry& e) { return e.at_ms < at_ms; });
}

size_t ImpressionList::ForgetUpTo(uint64_t seq) {
  return std::erase_if(entries, [seq](const ImpressionEntry& e) { return e.stamp <= seq; });
}

}  // namespace seendb
