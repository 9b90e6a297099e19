#include "seendb_local.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hash.h"

namespace {

constexpr size_t kFingerprintBytes = 6, kBlockBytes = 64, kLanes = 8, kEntryBytes = 32;
constexpr uint32_t kMostLayers = 32;
constexpr size_t kMostGroupBytes = 64;
constexpr uint32_t kLaneSalt[kLanes] = {0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B,
                                        0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19};
constexpr int64_t kAlways = INT64_MAX;

enum Kind : uint8_t { kRing = 1, kImpressions, kExposures, kRecord, kMarks, kBucket };

uint64_t LoadLow(const uint8_t* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(at[i]) << (8 * i);
  return value;
}

/// Reads on while there is enough; then ok is false.
struct Bytes {
  const uint8_t* at;
  size_t left;
  bool ok = true;

  const uint8_t* Take(size_t count) {
    if (!ok || count > left) {
      ok = false;
      return nullptr;
    }
    const uint8_t* const taken = at;
    at += count;
    left -= count;
    return taken;
  }
  uint64_t Number(size_t bytes) {
    const uint8_t* const taken = Take(bytes);
    return taken == nullptr ? 0 : LoadLow(taken, bytes);
  }
};

/// A sorted list of fingerprints, in place.
struct List {
  const uint8_t* bytes = nullptr;
  size_t count = 0;

  uint64_t operator[](size_t i) const {
    return LoadLow(bytes + i * kFingerprintBytes, kFingerprintBytes);
  }
  bool Has(uint64_t item) const {
    size_t begin = 0, end = count;
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      const uint64_t there = (*this)[middle];
      if (there == item) return true;
      if (there < item) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return false;
  }
  bool Read(size_t entries, Bytes* in) {
    if (entries > in->left / kFingerprintBytes) return false;
    count = entries;
    bytes = in->Take(count * kFingerprintBytes);
    if (!in->ok) return false;
    for (size_t i = 1; i < count; ++i) {
      if ((*this)[i - 1] >= (*this)[i]) return false;
    }
    return true;
  }
};

bool HasInBlocks(const uint8_t* bits, uint32_t blocks, uint64_t item) {
  uint64_t hash = item * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= hash >> 32;
  const uint8_t* const block = bits + (((hash >> 32) * blocks) >> 32) * kBlockBytes;
  const auto low = static_cast<uint32_t>(hash);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    uint64_t word = 0;
    std::memcpy(&word, block + lane * sizeof(word), sizeof(word));
    if (((word >> ((low * kLaneSalt[lane]) >> 26)) & 1) == 0) return false;
  }
  return true;
}

/// A part, with its body.
struct Part {
  uint8_t kind = 0;
  uint64_t hash = 0;
  std::string body;
  List list;  // of all kinds but kMarks
  struct Layer {
    uint32_t blocks = 0;
    const uint8_t* bits = nullptr;
    List list;
  };
  std::vector<Layer> layers;
  std::map<std::string, int64_t, std::less<>> marks;

  bool Read() {
    Bytes in{reinterpret_cast<const uint8_t*>(body.data()), body.size()};
    const uint64_t count = in.Number(4);
    if (kind == kMarks) return ReadMarks(count, &in);
    if (kind == kBucket && !ReadLayers(&in)) return false;
    if (!in.ok || !list.Read(count, &in)) return false;
    for (Layer& layer : layers) {
      if (layer.blocks == 0) {
        if (!layer.list.Read(layer.list.count, &in)) return false;
      } else {
        layer.bits = in.Take(size_t{layer.blocks} * kBlockBytes);
      }
    }
    return in.ok && in.left == 0;
  }
  bool ReadLayers(Bytes* in) {
    const uint64_t count = in->Number(4);
    if (!in->ok || count > kMostLayers) return false;
    for (uint64_t i = 0; i < count; ++i) {
      Layer& layer = layers.emplace_back();
      layer.blocks = static_cast<uint32_t>(in->Number(4));
      layer.list.count = in->Number(4);
    }
    return in->ok;
  }
  bool ReadMarks(uint64_t count, Bytes* in) {
    for (uint64_t i = 0; i < count && in->ok; ++i) {
      const size_t size = in->Number(1);
      const auto until_ms = static_cast<int64_t>(in->Number(8));
      const uint8_t* const text = in->Take(size);
      if (!in->ok || size == 0 || size > kMostGroupBytes) return false;
      std::string group(reinterpret_cast<const char*>(text), size);
      if (!marks.empty() && marks.rbegin()->first >= group) return false;
      marks.emplace_hint(marks.end(), std::move(group), until_ms);
    }
    return in->ok && in->left == 0;
  }
  bool Has(uint64_t item) const {
    if (list.Has(item)) return true;
    return std::any_of(layers.begin(), layers.end(), [item](const Layer& layer) {
      return layer.blocks == 0 ? layer.list.Has(item) : HasInBlocks(layer.bits, layer.blocks, item);
    });
  }
};

void AppendHex(uint64_t value, std::string* out) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    out->push_back("0123456789abcdef"[(value >> shift) & 15]);
  }
}

}  // namespace

struct seendb_local_filter {
  seendb_local_info info{};
  std::string etag;
  std::vector<std::shared_ptr<const Part>> parts;  // in the dump's order
  const Part* record = nullptr;
  const Part* marks = nullptr;
  std::vector<const Part*> shown;   // what was served or exposed
  std::vector<const Part*> played;  // the ring and the buckets

  bool Seen(uint64_t item) const {
    const auto has = [item](const Part* part) { return part->Has(item); };
    if (std::any_of(shown.begin(), shown.end(), has)) return true;
    if (!std::any_of(played.begin(), played.end(), has)) return false;
    return record == nullptr || !record->Has(item);
  }
  std::shared_ptr<const Part> Find(uint8_t kind, uint64_t hash) const {
    for (const auto& part : parts) {
      if (part->kind == kind && part->hash == hash) return part;
    }
    return nullptr;
  }
  /// False: the part has no place in a dump.
  bool Add(std::shared_ptr<const Part> part) {
    const uint8_t last = parts.empty() ? 0 : parts.back()->kind;
    if (part->kind < last || (part->kind == last && last != kBucket)) return false;
    if (part->kind == kRing || part->kind == kBucket) played.push_back(part.get());
    if (part->kind == kImpressions || part->kind == kExposures) shown.push_back(part.get());
    if (part->kind == kRecord) record = part.get();
    if (part->kind == kMarks) marks = part.get();
    etag.push_back('-');
    AppendHex(part->hash, &etag);
    info.bytes += part->body.size();
    ++info.parts;
    parts.push_back(std::move(part));
    return true;
  }
};

namespace {

/// The entries of a dump's parts.
struct Entry {
  uint8_t kind = 0;
  bool sent = false;
  uint32_t bytes = 0;
  uint64_t hash = 0;
};

int ReadHead(Bytes* in, seendb_local_filter* filter, size_t* parts) {
  const uint8_t* const magic = in->Take(6);
  if (magic == nullptr || std::memcmp(magic, "SeenFD", 6) != 0) return SEENDB_LOCAL_DAMAGED;
  const uint64_t version = in->Number(1), flags = in->Number(1);
  if (in->ok && (version != 1 || flags > 1)) return SEENDB_LOCAL_NEWER;
  seendb_local_info& info = filter->info;
  info.degraded = static_cast<int>(flags);
  info.as_of_ms = static_cast<int64_t>(in->Number(8));
  info.window_begin_ms = static_cast<int64_t>(in->Number(8));
  info.valid_until_ms = static_cast<int64_t>(in->Number(8));
  info.key_id = in->Number(8);
  filter->etag = "\"";
  AppendHex(in->Number(8), &filter->etag);
  info.hash_version = static_cast<uint32_t>(in->Number(2));
  *parts = in->Number(2);
  const uint64_t labels = in->Number(2);
  for (uint64_t i = 0; i < labels && in->ok; ++i) in->Take(in->Number(1));
  if (!in->ok || *parts > in->left / kEntryBytes) return SEENDB_LOCAL_DAMAGED;
  return SEENDB_LOCAL_OK;
}

int Parse(Bytes in, const seendb_local_filter* former, seendb_local_filter* filter) {
  size_t count = 0;
  if (const int read = ReadHead(&in, filter, &count); read != SEENDB_LOCAL_OK) return read;
  std::vector<Entry> entries(count);
  for (Entry& entry : entries) {
    entry.kind = static_cast<uint8_t>(in.Number(1));
    const uint64_t sent = in.Number(1), zero = in.Number(2);
    entry.sent = sent == 1;
    entry.bytes = static_cast<uint32_t>(in.Number(4));
    entry.hash = in.Number(8);
    in.Take(16);  // the bucket
    if (sent > 1 || zero != 0 || (sent == 0 && entry.bytes != 0)) return SEENDB_LOCAL_DAMAGED;
    if (entry.kind < kRing || entry.kind > kBucket) return SEENDB_LOCAL_NEWER;
  }
  for (const Entry& entry : entries) {
    std::shared_ptr<const Part> part;
    if (entry.sent) {
      const uint8_t* const body = in.Take(entry.bytes);
      if (body == nullptr) return SEENDB_LOCAL_DAMAGED;
      auto fresh = std::make_shared<Part>();
      fresh->kind = entry.kind;
      fresh->hash = entry.hash;
      fresh->body.assign(reinterpret_cast<const char*>(body), entry.bytes);
      if (!fresh->Read()) return SEENDB_LOCAL_DAMAGED;
      part = std::move(fresh);
    } else {
      part = former == nullptr ? nullptr : former->Find(entry.kind, entry.hash);
      if (part == nullptr) return SEENDB_LOCAL_LACKS;
    }
    if (!filter->Add(std::move(part))) return SEENDB_LOCAL_DAMAGED;
  }
  filter->etag.push_back('"');
  return in.left == 0 ? SEENDB_LOCAL_OK : SEENDB_LOCAL_DAMAGED;
}

}  // namespace

extern "C" {

uint64_t seendb_local_hash_number(const seendb_local_key* key, uint64_t number) {
  return seendb_local_hash::OfNumber(*key, number);
}

void seendb_local_hash_numbers(const seendb_local_key* key, const uint64_t* numbers, size_t count,
                               uint64_t* items) {
  for (size_t i = 0; i < count; ++i) items[i] = seendb_local_hash_number(key, numbers[i]);
}

uint64_t seendb_local_hash_text(const seendb_local_key* key, const char* text, size_t size) {
  return seendb_local_hash::OfText(*key, text, size);
}

uint64_t seendb_local_hash_group(const seendb_local_key* key, const char* text, size_t size) {
  std::array<char, 1 + kMostGroupBytes> bytes{'\xFE'};
  size = std::min(size, kMostGroupBytes);
  std::memcpy(bytes.data() + 1, text, size);
  return seendb_local_hash::OfBytes(*key, bytes.data(), 1 + size);
}

int seendb_local_parse(const uint8_t* bytes, size_t size, const seendb_local_filter* former,
                       seendb_local_filter** filter) {
  *filter = nullptr;
  try {
    auto made = std::make_unique<seendb_local_filter>();
    const int parsed = Parse({bytes, size}, former, made.get());
    if (parsed == SEENDB_LOCAL_OK) *filter = made.release();
    return parsed;
  } catch (const std::bad_alloc&) {
    return SEENDB_LOCAL_NO_MEMORY;
  }
}

void seendb_local_free(seendb_local_filter* filter) { delete filter; }

seendb_local_info seendb_local_info_of(const seendb_local_filter* filter) { return filter->info; }

const char* seendb_local_etag(const seendb_local_filter* filter) { return filter->etag.c_str(); }

void seendb_local_probe(const seendb_local_filter* filter, const uint64_t* items, size_t count,
                        uint8_t* seen) {
  for (size_t i = 0; i < count; ++i) seen[i] = filter->Seen(items[i]) ? 1 : 0;
}

int seendb_local_marked(const seendb_local_filter* filter, const char* group, size_t size,
                        int has_at, int64_t at_ms) {
  if (filter->marks == nullptr) return 0;
  const auto mark = filter->marks->marks.find(std::string_view(group, size));
  if (mark == filter->marks->marks.end()) return 0;
  return has_at != 0 ? mark->second >= at_ms : mark->second == kAlways;
}

}  // extern "C"
