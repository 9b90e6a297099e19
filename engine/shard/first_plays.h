// shard/first_plays.h: which plays of a call are their users' first of the day, in one shard.
//
// Before the shard is entered, the users whose plays may be first are added and claimed
// (shard/active_days.h), and those who were active today are looked up; inside, the first accepted
// play of each takes the claim; it is written in the plays' own batch. Claims that nothing came of
// end with this object, which lives as long as that one write.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seendb/events.h"
#include "seendb/ingest.h"
#include "shard/active_days.h"

namespace seendb {

/// The present day of a collection.
struct Today {
  int64_t day = 0;
  std::string text;
};

/// See the head of this file. Users' names are borrowed. Threads: one.
class FirstPlays {
 public:
  FirstPlays(ActiveDays* days, std::string_view collection, const Today* today)
      : days_(days), collection_(collection), today_(today) {}
  FirstPlays(FirstPlays&& other) noexcept = default;
  FirstPlays& operator=(FirstPlays&&) = delete;
  ~FirstPlays();

  /// Whether a play says that its client knows of today.
  bool KnowsToday(const Play& play) const { return play.day == today_->text; }
  /// A play of this user may be the first.
  void Add(std::string_view user) { claims_.try_emplace(user); }
  /// Claims the users added; those known to have been active today leave. Waits while others hold
  /// them: the caller holds no lock.
  void Claim();
  /// Looks up who was active today: they leave.
  void KeepFirst();
  /// Whether nobody's first play of the day may be there.
  bool empty() const { return claims_.empty(); }

  /// An accepted play that does not know of today.
  void Take(std::string_view user, uint32_t index);
  /// Adds the days of the plays taken.
  Status AddTo(rocksdb::WriteBatch* batch, const ShardStore& store) const;
  /// Runs `visit(index, FirstOfDay)` for each of them.
  template <typename Visit>
  void ForEachTaken(const Visit& visit) const {
    for (const auto& [user, one] : claims_) {
      if (!one.taken) continue;
      visit(one.index, FirstOfDay{std::string(user), std::string(collection_), today_->text});
    }
  }
  /// What became of that batch; names the plays in `*result` where it was written.
  void End(bool written, RecordResult* result);

 private:
  struct One {
    std::string key;
    bool taken = false;
    uint32_t index = 0;
  };
  void EndWhere(bool taken, ClaimEnd end);

  ActiveDays* const days_;
  const std::string_view collection_;
  const Today* const today_;
  void KeepOnly(std::vector<std::string> keys);

  bool claimed_ = false;
  ActiveDays::Claimed looked_up_;  // between Claim and KeepFirst
  std::map<std::string_view, One> claims_;
};

}  // namespace seendb
