// seendb/redis_comparer.h: whether a database calls seen what an old store calls seen, and what
// else.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "filter_asker.h"
#include "redis/key_reader.h"
#include "redis/keys.h"
#include "seendb/policy.h"

namespace seendb::tool {

/// An item on which the two do not agree.
struct Difference {
  std::string user, item;
  std::optional<int64_t> at_ms;
};
/// Most differences of a kind that are described.
inline constexpr size_t kDifferencesMax = 10;

/// What a comparison found.
struct ComparisonTally {
  uint64_t users = 0;
  uint64_t members = 0;         ///< of their keys
  uint64_t outside_window = 0;  ///< of them: older than the window, or no play at all; not asked
  uint64_t checked = 0;         ///< asked
  uint64_t missing = 0;         ///< of those: unseen in the database. None may be
  uint64_t others_checked = 0;  ///< items of other users, which the old store calls unseen
  uint64_t extra =
      0;  ///< of those: seen in the database, by a false positive or because it knows more
  uint64_t degraded = 0;  ///< answers that lack something
  uint64_t not_read = 0;  ///< keys: not there, of another type or form, or without times
  std::vector<Difference> missing_samples = {}, extra_samples = {};
};

/// What the members mean, and what the database keeps of them.
struct ComparisonOptions {
  redis::KeyTemplate users;
  std::string form = {};  ///< of the users' part of their keys (key_forms.h); empty: any
  bool hashes = false;    ///< a key that holds a hash has items and their times
  redis::ScoreUnit unit = redis::ScoreUnit::kSeconds;
  std::optional<int64_t> at_ms = {};
  EventKind kind = EventKind::kPlays;
  seendb::Policy policy = {};
  int64_t now_ms = 0;
};

/// Compares page by page. Threads: one.
class RedisComparer {
 public:
  /// `client` and `asker` must outlive it.
  RedisComparer(redis::Client& client, FilterAsker& asker, ComparisonOptions options);
  /// Asks the database about all members of these keys, and about some items of other users.
  Status Compare(const std::vector<std::string>& keys);
  const ComparisonTally& tally() const { return tally_; }

 private:
  struct Asked {
    FilterQuestion question;
    std::vector<std::optional<int64_t>> at_ms;  // of the members; items of others follow them
    const std::string* key = nullptr;
    redis::KeyKind kind = redis::KeyKind::kZset;
  };

  Status TakePiece(const std::string& key, const redis::KeyPiece& piece);
  bool IsInside(std::optional<int64_t> at_ms) const;
  void AddOthers(Asked* asked);
  Status AskAll();
  Status Judge(const std::vector<Asked>& all);

  redis::Client& client_;
  FilterAsker& asker_;
  redis::KeyReader reader_;
  const ComparisonOptions options_;
  const int64_t window_begin_ms_;
  ComparisonTally tally_;
  std::vector<Asked> asked_;
  size_t items_ = 0;                // of asked_
  std::deque<std::string> recent_;  // items of other users
};

}  // namespace seendb::tool
