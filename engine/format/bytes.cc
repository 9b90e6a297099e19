#include "format/bytes.h"

#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb {
namespace {

bool HasChecksum(std::string_view value) {
  if (value.size() < 5) return false;
  const std::string_view covered = value.substr(0, value.size() - 4);
  uint32_t stored = 0;
  for (size_t i = 0; i < 4; ++i) {
    stored |= static_cast<uint32_t>(static_cast<uint8_t>(value[covered.size() + i])) << (8 * i);
  }
  return stored == static_cast<uint32_t>(HashBytes(covered));
}

/// A kind of value, by the tag of its newest version that this software knows.
struct Kind {
  Tag newest;
  const char* name;
};
constexpr Kind kKinds[] = {{Tag::kFilter, "seen filter"},
                           {Tag::kImpressionsWithSurfaces, "impressions"},
                           {Tag::kJournal, "journal record"},
                           {Tag::kUser, "user record"},
                           {Tag::kHistoryWords, "history entry"},
                           {Tag::kHistoryJournalWords, "history journal record"},
                           {Tag::kMarks, "marks"},
                           {Tag::kOwnSet, "set of a user"},
                           {Tag::kCounts, "counts"},
                           {Tag::kSetPiece, "piece of a set"}};
constexpr int kKindBits = 4;  // of a tag: the upper ones
constexpr int kVersionMask = 15;

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
  const int tag = static_cast<uint8_t>(value[0]);
  for (const Kind& kind : kKinds) {
    const int newest = static_cast<int>(kind.newest);
    if (newest >> kKindBits != tag >> kKindBits) continue;
    if (tag <= newest || !HasChecksum(value)) return {};
    return std::string(kind.name) + " version " + std::to_string(tag & kVersionMask) +
           " is newer than this software (" + std::to_string(newest & kVersionMask) + ")";
  }
  return {};
}

}  // namespace seendb
