#include "format/impressions_codec.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "filter/keyed_hash.h"
#include "seendb/id.h"

namespace seendb {

bool ImpressionList::Parse(std::string_view value) {
  std::string_view body;
  const bool with_ids = Open32(value, Tag::kImpressionsWithIds, &body);
  if (!with_ids && !Open32(value, Tag::kImpressions, &body)) return false;
  Reader in(body);
  const uint64_t damage_bytes = in.Varint();
  const std::string_view section = in.Bytes(damage_bytes);
  const uint32_t groups = in.Varint32();
  entries.clear();
  damage = {};
  for (uint32_t g = 0; in.ok() && g < groups; ++g) {
    ImpressionEntry entry;
    entry.at_ms = static_cast<int64_t>(in.Varint());
    entry.stamp = in.Varint();
    const uint32_t count = in.Varint32();
    for (uint32_t i = 0; in.ok() && i < count; ++i) {
      entry.item = in.Packed();
      entry.position = in.Varint32();
      if (with_ids) entry.id = in.Bytes(in.Varint());
      if (!in.ok() || entry.id.size() > kMaxIdBytes) return false;
      entries.push_back(entry);
    }
  }
  if (!in.ok() || in.remaining() != 0) return false;
  return damage_bytes == 0 || DamageSet::Read(section, &damage);
}

void ImpressionList::Encode(std::string* out) const {
  out->clear();
  const bool with_ids = std::any_of(entries.begin(), entries.end(),
                                    [](const ImpressionEntry& e) { return !e.id.empty(); });
  out->push_back(static_cast<char>(with_ids ? Tag::kImpressionsWithIds : Tag::kImpressions));
  std::string section;
  if (!damage.empty()) damage.AppendTo(&section);
  PutVarint(out, section.size());
  out->append(section);
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
      if (!with_ids) continue;
      PutVarint(out, entries[i].id.size());
      out->append(entries[i].id);
    }
  }
  Seal32(out);
}

void ImpressionList::Normalize(size_t limit) {
  std::sort(entries.begin(), entries.end(), std::greater<>());
  std::unordered_set<Fingerprint, KeyedHasher> known;
  std::erase_if(entries, [&](const ImpressionEntry& e) {
    return known.size() >= limit || !known.insert(e.item).second;
  });
}

void ImpressionList::DropIds() {
  for (ImpressionEntry& entry : entries) entry.id = {};
}

size_t ImpressionList::ForgetUpTo(uint64_t seq) {
  return std::erase_if(entries, [seq](const ImpressionEntry& e) { return e.stamp <= seq; });
}

}  // namespace seendb
