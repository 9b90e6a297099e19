// recovery/losses.h: what a repair could not read of a shard, and whom that may concern, on the
// way into the markers of the new one (data_loss.h).

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recovery/rebuilt_shard.h"
#include "seendb/policy.h"
#include "seendb/status.h"
#include "tables/data_loss.h"
#include "tables/table_set.h"

namespace seendb {

/// See the head of this file.
class RepairLosses {
 public:
  /// `repaired_before`: there may have been markers of losses.
  RepairLosses(int64_t now_ms, bool repaired_before)
      : now_ms_(now_ms), repaired_before_(repaired_before) {}

  /// Anybody's plays.
  void LosePlays(const std::string& reason) { log_.Join({now_ms_, reason, {}}); }
  /// A part of the log: anybody's plays, and whatever else was written then.
  void LoseLog(const std::string& reason) {
    LosePlays(reason);
    log_lost_ = true;
  }
  /// What a table of the family held between some keys.
  void LoseRows(const std::string& family, const std::string& table,
                const std::vector<UserRange>& ranges);
  /// What a user's bucket, or its history, held.
  void LoseUser(const FamilyName& family, const std::string& user, const std::string& reason);

  /// Writes the markers of the shard's collections, with those that it has got already, and tells
  /// of them in `*texts`.
  Status Write(const std::map<std::string, Policy>& policies, RebuiltShard* shard,
               std::vector<std::string>* texts);
  /// What else people are to know.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  const int64_t now_ms_;
  const bool repaired_before_;
  std::map<std::string, DataLoss> by_key_;  // the marker's
  DataLoss log_;
  bool log_lost_ = false;
  bool forget_whole_ = false;  // what clears and pauses kept from history: it is not whole any more
  std::vector<std::string> notes_;
};

}  // namespace seendb
