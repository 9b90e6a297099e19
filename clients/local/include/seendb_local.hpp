// seendb_local.hpp: LocalFilter, the reference of what each language's LocalFilter does: it answers
// the plain question by a dump, and by what its caller has served or seen played since.
//
//   seendb_local::LocalFilter filter(key);
//   if (filter.Take(body, size) != SEENDB_LOCAL_OK) ...          // of GET /users/u1/filter
//   for (size_t position : filter.Unseen(candidates)) ...
//   filter.NoteServed("v7");
//
// Threads: a filter belongs to one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "seendb_local.h"

namespace seendb_local {

/// A candidate. Views are borrowed.
struct Candidate {
  std::string_view id;
  std::optional<uint64_t> number = {};  ///< in place of `id`
  std::vector<std::string_view> of = {}, same_as = {};
  std::optional<int64_t> at_ms = {};
};

/// See the head of this file.
class LocalFilter {
 public:
  explicit LocalFilter(const seendb_local_key& key) : key_(key) {}

  /// Takes a dump in place of the one before, whose parts it may leave out. On failure the former
  /// one stays.
  int Take(const void* bytes, size_t size) {
    seendb_local_filter* fresh = nullptr;
    const int parsed =
        seendb_local_parse(static_cast<const uint8_t*>(bytes), size, filter_.get(), &fresh);
    if (parsed == SEENDB_LOCAL_OK) filter_.reset(fresh);
    return parsed;
  }
  /// What is to be sent as If-None-Match; empty: nothing.
  std::string etag() const { return filter_ ? seendb_local_etag(filter_.get()) : ""; }
  /// Without a dump: degraded.
  seendb_local_info info() const {
    seendb_local_info none{};
    none.degraded = 1;
    return filter_ ? seendb_local_info_of(filter_.get()) : none;
  }

  /// The item counts as seen from now on, whatever later dumps say.
  void NoteServed(std::string_view id) { noted_.insert(HashOf(id)); }
  void NotePlayed(std::string_view id) { noted_.insert(HashOf(id)); }
  /// Forgets what was noted: a dump of a later time has it.
  void ForgetNoted() { noted_.clear(); }

  /// The positions of unseen candidates, ascending; of a repeat, and of candidates with a group of
  /// `same_as` in common, the first.
  std::vector<size_t> Unseen(const std::vector<Candidate>& candidates) const {
    std::vector<size_t> unseen;
    std::unordered_set<std::string> ids;
    std::unordered_set<std::string_view> on_page;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& one = candidates[i];
      const std::string id = one.number ? std::to_string(*one.number) : std::string(one.id);
      if (!ids.insert(id).second) continue;
      if (IsSeen(one.number ? seendb_local_hash_number(&key_, *one.number) : HashOf(one.id))) {
        continue;
      }
      if (IsMarked(one) || IsSame(one, on_page)) continue;
      on_page.insert(one.same_as.begin(), one.same_as.end());
      unseen.push_back(i);
    }
    return unseen;
  }

 private:
  struct Free {
    void operator()(seendb_local_filter* filter) const { seendb_local_free(filter); }
  };

  uint64_t HashOf(std::string_view id) const {
    return seendb_local_hash_text(&key_, id.data(), id.size());
  }
  bool IsSeen(uint64_t item) const {
    uint8_t seen = 0;
    if (filter_) seendb_local_probe(filter_.get(), &item, 1, &seen);
    return seen != 0 || noted_.contains(item);
  }
  bool IsMarked(const Candidate& one) const {
    for (const std::string_view group : one.of) {
      if (filter_ && seendb_local_marked(filter_.get(), group.data(), group.size(),
                                         one.at_ms ? 1 : 0, one.at_ms.value_or(0)) != 0) {
        return true;
      }
    }
    return false;
  }
  bool IsSame(const Candidate& one, const std::unordered_set<std::string_view>& on_page) const {
    for (const std::string_view group : one.same_as) {
      if (on_page.contains(group)) return true;
      if (IsSeen(seendb_local_hash_group(&key_, group.data(), group.size()))) return true;
    }
    return false;
  }

  seendb_local_key key_;
  std::unique_ptr<seendb_local_filter, Free> filter_;
  std::unordered_set<uint64_t> noted_;
};

}  // namespace seendb_local
