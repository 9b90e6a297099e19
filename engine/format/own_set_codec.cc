#include "format/own_set_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "format/bytes.h"
#include "seendb/id.h"
#include "seendb/item_set.h"

namespace seendb {
namespace {

constexpr uint8_t kDeletedSet = 1, kUnsaidSet = 2;

}  // namespace

int64_t StoredOwnSet::ends_ms() const {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  return said_ms > kLast - lasts_ms ? kLast : said_ms + lasts_ms;
}

bool StoredOwnSet::Parse(std::string_view value) {
  std::string_view body;
  if (!Open32(value, Tag::kOwnSet, &body)) return false;
  Reader in(body);
  const uint64_t damage_bytes = in.Varint();
  const std::string_view section = in.Bytes(damage_bytes);
  const uint8_t flags = in.U8();
  said = (flags & kUnsaidSet) == 0;
  deleted = (flags & kDeletedSet) != 0;
  said_ms = in.Zigzag();
  const uint64_t lasts = in.Varint();
  const uint32_t count = in.Varint32();
  items.clear();
  damage = {};
  if (!in.ok() || flags > kUnsaidSet || lasts > std::numeric_limits<int64_t>::max()) return false;
  lasts_ms = static_cast<int64_t>(lasts);
  if (flags != 0 && count != 0) return false;
  if (!said && (said_ms != 0 || lasts_ms != 0)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view item = in.Bytes(in.Varint());
    if (!in.ok() || item.size() - 1 >= kMaxIdBytes) return false;
    if (i > 0 && item <= items.back()) return false;
    items.push_back(item);
  }
  if (!in.ok() || in.remaining() != 0) return false;
  return damage_bytes == 0 || DamageSet::Read(section, &damage);
}

void StoredOwnSet::Encode(std::string* out) const {
  out->clear();
  out->push_back(static_cast<char>(Tag::kOwnSet));
  std::string section;
  if (!damage.empty()) damage.AppendTo(&section);
  PutVarint(out, section.size());
  out->append(section);
  out->push_back(static_cast<char>(!said ? kUnsaidSet : deleted ? kDeletedSet : 0));
  PutZigzag(out, said ? said_ms : 0);
  PutVarint(out, said ? static_cast<uint64_t>(lasts_ms) : 0);
  PutVarint(out, items.size());
  for (const std::string_view item : items) {
    PutVarint(out, item.size());
    out->append(item);
  }
  Seal32(out);
}

std::string OwnSetPrefix(std::string_view user) {
  std::string key(1, kOwnSetKeys);
  key.push_back(static_cast<char>(user.size()));
  return key.append(user);
}

std::string OwnSetKey(std::string_view user, std::string_view name) {
  return OwnSetPrefix(user).append(name);
}

std::string OwnSetEnd(std::string_view user) {
  return OwnSetPrefix(user).append(1, kOwnSetKeys);  // no name has that byte
}

bool ParseOwnSetKey(std::string_view key, std::string_view* user, std::string_view* name) {
  if (!IsOwnSetKey(key) || key.size() < 2) return false;
  const size_t size = static_cast<uint8_t>(key[1]);
  if (size == 0 || key.size() < 2 + size) return false;
  *user = key.substr(2, size);
  *name = key.substr(2 + size);
  return name->size() - 1 < kMaxSetNameBytes;
}

bool OwnSetUnion::Add(std::string_view value) {
  StoredOwnSet one;
  if (!one.Parse(value)) {
    damage_.Add(value);
    return false;
  }
  damage_.Join(one.damage);
  if (!one.said) return true;
  one.damage = {};
  std::string bytes;
  one.Encode(&bytes);
  const bool later = !newest_.said || one.said_ms > newest_.said_ms ||
                     (one.said_ms == newest_.said_ms && bytes > bytes_);
  if (!later) return true;
  newest_ = std::move(one);
  bytes_ = std::move(bytes);
  return true;
}

void OwnSetUnion::Encode(std::string* out) const {
  StoredOwnSet all = newest_;
  all.damage = damage_;
  all.Encode(out);
}

}  // namespace seendb
