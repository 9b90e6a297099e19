// recovery/erased.h: a repair may bring back rows of users who were erased. Deletes them again.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "format/user_codec.h"
#include "recovery/losses.h"
#include "recovery/rebuilt_shard.h"
#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb {

/// Erasures and clears of filters that were read from logs: the replay has them in their order
/// among the other writes.
class ReplayedErasures {
 public:
  /// A row of the family `users` in a log.
  void Note(std::string_view user, std::string_view value);
  /// What was noted of a user; null where nothing was.
  const UserRecord* Find(std::string_view user) const;

 private:
  std::map<std::string, UserRecord, std::less<>> records_;  // of those alone
};

/// Deletes what erased users, and users whose filters were cleared, may have had before: after a
/// rebuild the order of an erasure among the rows of tables is not known. The shard's family
/// `users` names the users and times. A bucket that had ended by that time loses the user's rows;
/// one that begins more than `max_future` later keeps them; any other loses them, which is marked
/// as a loss. Impressions and active days say themselves when they were written. An erasure in
/// `replayed` needs none of this. Precondition: `policies` has those of all families.
Status ForgetErased(const std::map<std::string, Policy>& policies, const ReplayedErasures& replayed,
                    RebuiltShard* shard, RepairLosses* losses);

}  // namespace seendb
