#include "format/damage.h"

#include <algorithm>
#include <utility>

namespace seendb {
namespace {

constexpr uint8_t kOverflowFlag = 1;
constexpr uint8_t kNewerDataFlag = 2;

}  // namespace

bool ReadNewer(Reader* in, std::vector<std::string_view>* newer) {
  const uint64_t count = in->Varint();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view value = in->Bytes(in->Varint());
    if (!in->ok() || (i > 0 && newer->back() >= value)) return false;
    newer->push_back(value);
  }
  return in->ok() && count > 0;
}

bool ReadNewer(Reader* in, std::vector<std::string>* newer) {
  std::vector<std::string_view> values;
  if (!ReadNewer(in, &values)) return false;
  newer->assign(values.begin(), values.end());
  return true;
}

void PutNewer(const std::vector<std::string>& newer, std::string* out) {
  PutVarint(out, newer.size());
  for (const std::string& value : newer) {
    PutVarint(out, value.size());
    out->append(value);
  }
}

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

void InsertOnce(std::vector<std::string>* ascending, std::string_view value) {
  const auto at = std::lower_bound(ascending->begin(), ascending->end(), value);
  if (at == ascending->end() || *at != value) ascending->emplace(at, value);
}

void DamageSet::Add(std::string_view bytes) {
  if (!NewerText(bytes).empty()) return InsertOnce(&newer, bytes);
  Insert({HashBytes(bytes), bytes.size(), std::string(bytes.substr(0, kDamageBytes))});
}

void DamageSet::Join(const DamageSet& other) {
  overflow = overflow || other.overflow;
  for (const DamageEntry& entry : other.entries) Insert(entry);
  for (const std::string& value : other.newer) InsertOnce(&newer, value);
}

void DamageSet::AppendTo(std::string* out) const {
  out->push_back(
      static_cast<char>((overflow ? kOverflowFlag : 0) | (newer.empty() ? 0 : kNewerDataFlag)));
  PutVarint(out, entries.size());
  for (const DamageEntry& entry : entries) {
    PutU64(out, entry.hash);
    PutVarint(out, entry.length);
    PutVarint(out, entry.prefix.size());
    out->append(entry.prefix);
  }
  if (!newer.empty()) PutNewer(newer, out);
}

bool DamageSet::Read(std::string_view section, DamageSet* damage) {
  Reader in(section);
  const uint8_t flags = in.U8();
  const uint64_t count = in.Varint();
  if (!in.ok() || (flags & ~(kOverflowFlag | kNewerDataFlag)) != 0 || count > kDamageKept)
    return false;
  damage->overflow = (flags & kOverflowFlag) != 0;
  damage->entries.clear();
  damage->newer.clear();
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
  if ((flags & kNewerDataFlag) != 0 && !ReadNewer(&in, &damage->newer)) return false;
  return in.ok() && in.remaining() == 0;
}

}  // namespace seendb
