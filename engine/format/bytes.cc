#include "format/bytes.h"

#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb {
namespace {

constexpr int kValueVersion = 1;  // of every kind

bool HasChecksum(std::string_view value) {
  if (value.size() < 5) return false;
  const std::string_view covered = value.substr(0, value.size() - 4);
  uint32_t stored = 0;
  for (size_t i = 0; i < 4; ++i) {
    stored |= static_cast<uint32_t>(static_cast<uint8_t>(value[covered.size() + i])) << (8 * i);
  }
  return stored == static_cast<uint32_t>(HashBytes(covered));
}

const char* KindName(uint8_t kind) {
  for (const auto& [tag, name] :
       {std::pair{Tag::kFilter, "seen filter"}, std::pair{Tag::kImpressions, "impressions"},
        std::pair{Tag::kJournal, "journal record"}, std::pair{Tag::kUser, "user record"},
        std::pair{Tag::kHistory, "history entry"},
        std::pair{Tag::kHistoryJournal, "history journal record"}}) {
    if (static_cast<uint8_t>(tag) >> 4 == kind) return name;
  }
  return nullptr;
}

}  // namespace

uint64_t HashBytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void Seal32(std::string* out) { PutU32(out, static_cast<uint32_t>(HashBytes(*out))); }

bool Open32(std::string_view value, Tag tag, std::string_view* body) {
  if (value.empty() || static_cast<uint8_t>(value[0]) != static_cast<uint8_t>(tag)) return false;
  if (!HasChecksum(value)) return false;
  *body = value.substr(1, value.size() - 5);
  return true;
}

std::string NewerText(std::string_view value) {
  if (value.empty()) return {};
  const auto tag = static_cast<uint8_t>(value[0]);
  const char* const kind = KindName(tag >> 4);
  const int version = tag & 15;
  if (kind == nullptr || version <= kValueVersion || !HasChecksum(value)) return {};
  return std::string(kind) + " version " + std::to_string(version) +
         " is newer than this software (" + std::to_string(kValueVersion) + ")";
}

}  // namespace seendb
