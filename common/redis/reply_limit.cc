#include "redis/reply_limit.h"

#include <algorithm>
#include <array>

namespace seendb::redis {
namespace {

// A score as text takes 24 bytes and its length; errors are longer.
constexpr size_t kScoreBytes = 64, kFewBytes = 64u << 10, kFewElements = 1'024;
// Keys of up to 5,000 members are read whole, and may have grown since they were counted; a scan of
// one that is stored as one piece gives all of it.
constexpr ReplyLimit kMembers{1u << 17, 16u << 20};
// 16,384 slots, in ranges of one, with some nodes each.
constexpr ReplyLimit kSlotsOrInfo{1u << 19, 8u << 20};

constexpr std::array<std::string_view, 8> kReadMembers = {"ZRANGE", "LRANGE", "SMEMBERS", "HGETALL",
                                                          "ZSCAN",  "SSCAN",  "HSCAN",    "SCAN"};

}  // namespace

ReplyLimit LimitOf(std::span<const std::string_view> words) {
  const std::string_view command = words.empty() ? std::string_view() : words.front();
  if (command == "ZMSCORE") return {words.size(), kFewBytes + words.size() * kScoreBytes};
  if (std::find(kReadMembers.begin(), kReadMembers.end(), command) != kReadMembers.end()) {
    return kMembers;
  }
  if (command == "CLUSTER" || command == "INFO") return kSlotsOrInfo;
  return {kFewElements, kFewBytes};
}

}  // namespace seendb::redis
