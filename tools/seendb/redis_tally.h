// seendb/redis_tally.h: what became of keys and members on their way out of an old store.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "http_client.h"

namespace seendb::tool {

/// Something that was not taken: which, and why.
struct Problem {
  std::string what, why;
};
/// Most problems that are described.
inline constexpr size_t kProblemsMax = 10;
/// Most keys that were not read for one reason, of these.
inline constexpr uint64_t kKeysOfAReasonMax = 3;

/// Books that are added up. members == accepted + refused.
struct RedisTally {
  uint64_t users = 0;           ///< keys read
  uint64_t members = 0;         ///< of those keys
  uint64_t accepted = 0;        ///< members recorded, or known already
  uint64_t outside_window = 0;  ///< of the accepted: no filter counts them
  uint64_t refused = 0;         ///< members not recorded
  std::map<std::string, uint64_t> refused_by = {};
  uint64_t absent_keys = 0;  ///< named, and not there
  uint64_t bad_keys = 0;     ///< that hold something else, or fit no user
  std::map<std::string, uint64_t> bad_by = {};
  std::vector<Problem> problems = {};  ///< the first

  void Add(const RedisTally& other);
  void Refuse(const std::string& reason, uint64_t members);
  /// A key that was not read, for a reason in general and for its own.
  void LeaveOut(const std::string& key, const std::string& reason, std::string why);
  void Describe(std::string what, std::string why);
};

/// The numbers, without the problems.
Json ToJson(const RedisTally& tally);
RedisTally TallyOfJson(const Json& json);
/// The problems: `[{"what":...,"why":...}]`.
Json ProblemsJson(const RedisTally& tally);

}  // namespace seendb::tool
