// common/wire/appended.h: the answer of POST /internal/append: the outcome of a record, as the node
// that appended it tells the node that asked.
//
//   {"version":1,"offset":7,"applied":true,
//    "verdict":{"code":"not_found","message":"...","field":"..."},
//    "recorded":{"accepted":1,"refused":1,
//                "refusals":[{"index":1,"reason":"too_old","error":{...}}],
//                "refused_by":{"too_old":1},"outside_window":0,"beyond_cap":0,"day":"",
//                "first_today":[]},
//    "erasure":{"known":true,"written":true,"until_ms":5},
//    "user_set":{"count":2,"at_ms":5,"ends_ms":9}}
//
// Nodes of two versions read each other: "offset" alone must be there; another member that is
// missing is its default, and one that is not known here is passed over
// (server/doc/cluster-format.md). Pure functions. Threads: any.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "seendb/events.h"
#include "seendb/status.h"
#include "seendb/user_sets.h"

namespace seendb::wire {

/// What became of a record that was appended.
struct Appended {
  int64_t offset = 0;
  /// False: it is in the log, and was not applied in time. What follows is empty then.
  bool applied = false;
  Status verdict = {};         ///< of what it does to this replica: kNotFound, say, of a collection
  RecordResult recorded = {};  ///< of plays and impressions
  Erasure erasure = {};        ///< of an erasure
  UserSetInfo user_set = {};  ///< of a user's set that was put: the one that counts; without a name
};

/// The "version" that nodes of today write. It grows with what is added; what a member means stays.
inline constexpr int kAppendedVersion = 1;

std::string AppendedToJson(const Appended& appended);
/// kUnavailable: the text is no such answer; whether the record was appended is open.
Result<Appended> AppendedFromJson(std::string_view json);

}  // namespace seendb::wire
