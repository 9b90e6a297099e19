// shard/served_count.h: how many impressions of one call are forgotten at once, because the call
// alone has more of a user than the policy keeps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filter/hash.h"
#include "filter/keyed_hash.h"

namespace seendb {

/// See the head of this file. Threads: one.
class ServedCount {
 public:
  /// Takes an accepted impression.
  void Add(std::string_view user, Fingerprint item);
  /// Distinct items a user beyond `cap`, of all users.
  uint64_t Beyond(size_t cap);

 private:
  std::unordered_map<std::string, std::vector<Fingerprint>, KeyedHasher> users_;
  std::string last_user_;
  std::vector<Fingerprint>* last_ = nullptr;  // of last_user_
};

}  // namespace seendb
