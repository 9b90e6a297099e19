// store/repair_erased.h: what erased users had may have come back with a repair's rows: it goes
// again.

#pragma once

#include <map>
#include <set>
#include <string>

#include "seendb/policy.h"
#include "seendb/status.h"
#include "store/rebuilt_shard.h"
#include "store/repair_losses.h"

namespace seendb {

/// Forgets, of every user that the shard's family `users` calls erased, what may be from before:
/// the order of an erasure and of what a table holds is not known any more. A bucket that had ended
/// by then holds nothing of the user; one that began later holds nothing that was erased; of one in
/// between all goes, as a loss. `replayed`: users whose erasure was in the logs, in its place.
/// Precondition: `policies` has those of all families.
Status ForgetErased(const std::map<std::string, Policy>& policies,
                    const std::set<std::string>& replayed, RebuiltShard* shard,
                    RepairLosses* losses);

}  // namespace seendb
