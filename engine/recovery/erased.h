// recovery/erased.h: what erased users had may have come back with a repair's rows: it goes
// again.

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

/// Erasures, and filters cleared, that were in the logs, in their place among the other writes.
class ReplayedErasures {
 public:
  /// A row of the family `users` in a log.
  void Note(std::string_view user, std::string_view value);
  /// What was noted of a user; null where nothing was.
  const UserRecord* Find(std::string_view user) const;

 private:
  std::map<std::string, UserRecord, std::less<>> records_;  // of those alone
};

/// Forgets, of every user that the shard's family `users` calls erased, or cleared of a collection
/// with its filter, what may be from before: the order of an erasure and of what a table holds is
/// not known any more. A bucket that had ended by then holds nothing of the user; one that began
/// later holds nothing that was erased; of one in between all goes, as a loss. What was `replayed`
/// needs none of it. Precondition: `policies` has those of all families.
Status ForgetErased(const std::map<std::string, Policy>& policies, const ReplayedErasures& replayed,
                    RebuiltShard* shard, RepairLosses* losses);

}  // namespace seendb
