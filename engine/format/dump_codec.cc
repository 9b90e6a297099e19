#include <algorithm>
#include <cassert>

#include "format/bytes.h"
#include "format/dump_parts.h"
#include "seendb/filter_dump.h"

namespace seendb {
namespace {

constexpr std::string_view kDumpMagic("SeenFD");
constexpr size_t kDumpHeadBytes = 54, kDumpEntryBytes = 32;
constexpr size_t kMostLabelBytes = 255;
constexpr size_t kDumpHashDigits = 16;

void PutU16(std::string* out, size_t value) {
  out->push_back(static_cast<char>(value));
  out->push_back(static_cast<char>(value >> 8));
}

void PutI64(std::string* out, int64_t value) { PutU64(out, static_cast<uint64_t>(value)); }

std::string_view LabelOf(const std::string& missing) {
  return std::string_view(missing).substr(0, kMostLabelBytes);
}

void PutLabels(const std::vector<std::string>& missing, std::string* out) {
  for (const std::string& one : missing) {
    const std::string_view label = LabelOf(one);
    out->push_back(static_cast<char>(label.size()));
    out->append(label);
  }
}

bool IsIn(uint64_t hash, std::span<const uint64_t> have) {
  return std::find(have.begin(), have.end(), hash) != have.end();
}

void AppendHex(uint64_t value, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out->push_back(kDigits[(value >> shift) & 15]);
}

int DumpDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void DumpPart::Seal() {
  std::string named;
  named.push_back(static_cast<char>(kind));
  PutI64(&named, begin_ms);
  PutU64(&named, HashBytes(body));
  hash = HashBytes(named);
}

uint64_t FilterDump::FrameHash() const {
  std::string frame;
  frame.push_back(static_cast<char>(kFilterDumpVersion));
  frame.push_back(static_cast<char>(degraded ? 1 : 0));
  PutI64(&frame, window_begin_ms);
  PutI64(&frame, valid_until_ms);
  PutU32(&frame, hash_version);
  PutU64(&frame, key_id);
  PutLabels(missing, &frame);
  return HashBytes(frame);
}

std::vector<uint64_t> FilterDump::Hashes() const {
  std::vector<uint64_t> hashes;
  hashes.reserve(parts.size());
  for (const DumpPart& part : parts) hashes.push_back(part.hash);
  return hashes;
}

std::string FilterDump::Etag() const {
  std::string tag = "\"";
  AppendHex(FrameHash(), &tag);
  for (const DumpPart& part : parts) {
    tag.push_back('-');
    AppendHex(part.hash, &tag);
  }
  tag.push_back('"');
  return tag;
}

size_t FilterDump::EncodedBytes(std::span<const uint64_t> have) const {
  size_t bytes = kDumpHeadBytes + parts.size() * kDumpEntryBytes;
  for (const std::string& one : missing) bytes += 1 + LabelOf(one).size();
  for (const DumpPart& part : parts) bytes += IsIn(part.hash, have) ? 0 : part.body.size();
  return bytes;
}

std::string FilterDump::Encode(std::span<const uint64_t> have) const {
  std::string out;
  out.reserve(EncodedBytes(have));
  out.append(kDumpMagic);
  out.push_back(static_cast<char>(kFilterDumpVersion));
  out.push_back(static_cast<char>(degraded ? 1 : 0));
  PutI64(&out, as_of_ms);
  PutI64(&out, window_begin_ms);
  PutI64(&out, valid_until_ms);
  PutU64(&out, key_id);
  PutU64(&out, FrameHash());
  PutU16(&out, hash_version);
  PutU16(&out, parts.size());
  PutU16(&out, missing.size());
  assert(out.size() == kDumpHeadBytes);
  PutLabels(missing, &out);
  for (const DumpPart& part : parts) {
    const bool sent = !IsIn(part.hash, have);
    out.push_back(static_cast<char>(part.kind));
    out.push_back(static_cast<char>(sent ? 1 : 0));
    PutU16(&out, 0);
    PutU32(&out, sent ? static_cast<uint32_t>(part.body.size()) : 0);
    PutU64(&out, part.hash);
    PutI64(&out, part.begin_ms);
    PutI64(&out, part.end_ms);
  }
  for (const DumpPart& part : parts) {
    if (!IsIn(part.hash, have)) out.append(part.body);
  }
  return out;
}

std::vector<uint64_t> DumpHashesIn(std::string_view etags) {
  std::vector<uint64_t> hashes;
  uint64_t value = 0;
  size_t digits = 0;
  for (size_t i = 0; i <= etags.size(); ++i) {
    const int digit = i < etags.size() ? DumpDigit(etags[i]) : -1;
    if (digit >= 0) {
      value = value << 4 | static_cast<uint64_t>(digit);
      ++digits;
      continue;
    }
    if (digits == kDumpHashDigits) hashes.push_back(value);
    value = digits = 0;
  }
  return hashes;
}

std::string DumpedList(std::span<const Fingerprint> items) {
  std::string body;
  body.reserve(sizeof(uint32_t) + items.size() * kFingerprintBytes);
  PutU32(&body, static_cast<uint32_t>(items.size()));
  for (const Fingerprint item : items) PutFingerprint(&body, item);
  return body;
}

std::string DumpedFilter(const FilterView& view) {
  std::string body;
  PutU32(&body, view.list_count);
  PutU32(&body, view.layer_count);
  for (uint32_t i = 0; i < view.layer_count; ++i) {
    PutU32(&body, view.layers[i].blocks);
    PutU32(&body, view.layers[i].items);
  }
  const auto append = [&body](const uint8_t* bytes, size_t count) {
    if (count > 0) body.append(reinterpret_cast<const char*>(bytes), count);
  };
  append(view.list, size_t{view.list_count} * kFingerprintBytes);
  for (uint32_t i = 0; i < view.layer_count; ++i)
    append(view.layers[i].bits, view.layers[i].bytes());
  return body;
}

std::string DumpedMarks(const MarkList& marks) {
  std::string body;
  PutU32(&body, 0);
  uint32_t groups = 0;
  std::string_view last;
  for (const StoredMark& mark : marks.marks) {
    if (mark.group == last) continue;
    last = mark.group;
    const StoredMark* const counts = marks.Find(mark.group);
    if (counts == nullptr) continue;
    body.push_back(static_cast<char>(mark.group.size()));
    PutI64(&body, counts->until_ms);
    body.append(mark.group);
    ++groups;
  }
  std::string count;
  PutU32(&count, groups);
  body.replace(0, count.size(), count);
  return body;
}

}  // namespace seendb
