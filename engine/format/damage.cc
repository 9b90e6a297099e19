#include "format/damage.h"

#include <algorithm>
#include <utility>

namespace seendb {

void DamageSet::Insert(DamageEntry entry) {
  const auto at =
      std::lower_bound(entries.begin(), entries.end(), entry.hash,
                       [](const DamageEntry& e, uint64_t hash) { return e.hash < hash; });
  if (at != entries.end() && at->hash == entry.hash) return;
  entries.insert(at, std::move(entry));
  if (entries.size() > kDamageKept) {
    entries.pop_back();
    overflow = true;
  }
}

void DamageSet::Add(std::string_view bytes) {
  Insert({HashBytes(bytes), bytes.size(), std::string(bytes.substr(0, kDamageBytes))});
}

void DamageSet::Absorb(const DamageSet& other) {
  overflow = overflow || other.overflow;
  for (const DamageEntry& entry : other.entries) Insert(entry);
}

void DamageSet::AppendTo(std::string* out) const {
  out->push_back(overflow ? '\1' : '\0');
  PutVarint(out, entries.size());
  for (const DamageEntry& entry : entries) {
    PutU64(out, entry.hash);
    PutVarint(out, entry.length);
    PutVarint(out, entry.prefix.size());
    out->append(entry.prefix);
  }
}

bool DamageSet::Read(std::string_view section, DamageSet* damage) {
  Reader in(section);
  const uint8_t overflow = in.U8();
  const uint64_t count = in.Varint();
  if (!in.ok() || overflow > 1 || count > kDamageKept) return false;
  damage->overflow = overflow == 1;
  damage->entries.clear();
  for (uint64_t i = 0; i < count; ++i) {
    DamageEntry entry;
    entry.hash = in.U64();
    entry.length = in.Varint();
    const uint64_t kept = in.Varint();
    if (kept > kDamageBytes) return false;
    entry.prefix = std::string(in.Bytes(kept));
    if (!in.ok()) return false;
    if (!damage->entries.empty() && damage->entries.back().hash >= entry.hash) return false;
    damage->entries.push_back(std::move(entry));
  }
  return in.ok() && in.remaining() == 0;
}

}  // namespace seendb
