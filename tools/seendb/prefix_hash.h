// seendb/prefix_hash.h: a hash (XXH3, 64 bits) of all bytes of a log up to a place, that costs
// little beside reading them.

#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <xxhash.h>

namespace seendb::tool {

/// See the head of this file. Threads: one.
class PrefixHash {
 public:
  PrefixHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }

  /// Takes in the next bytes.
  void Add(const char* bytes, size_t size) { XXH3_64bits_update(state_.get(), bytes, size); }
  /// Becomes as `other` is.
  void CopyFrom(const PrefixHash& other) { XXH3_copyState(state_.get(), other.state_.get()); }
  /// Of what was taken in so far: 16 hex digits.
  std::string Text() const {
    char text[17];
    std::snprintf(text, sizeof(text), "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits_digest(state_.get())));
    return text;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace seendb::tool
