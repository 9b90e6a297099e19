// server/replica/user_facts.h: the records of the log about a user's marks and own sets, done at
// the engine.
//
// What an engine has of a record, done again, changes nothing: a record may be repeated until the
// shard has its offset, before anything that lies behind it. Threads: any.

#pragma once

#include <string_view>

#include "seendb/engine.h"
#include "wire/reserve_json.h"

namespace seendb::replica {

/// Puts the marks of a record `marks`; those without a time are said at `arrived`. What became of
/// them is in `*result`.
Status PutMarks(Engine* engine, const IdRef& user, std::string_view value, const CallTime& arrived,
                RecordResult* result);
/// Deletes the mark that a record `mark_delete` names; `accepted` is 1 where one counted.
Status DeleteMark(Engine* engine, const IdRef& user, std::string_view value,
                  const CallTime& arrived, RecordResult* result);

/// Puts the set that a record `user_set` has, said at `arrived_ms` where it has no time, or deletes
/// the one that it names. `*info` becomes the set that counts by then; `accepted` of a deletion is
/// 1 where one counted.
Status ChangeUserSet(Engine* engine, const IdRef& user, std::string_view value, int64_t arrived_ms,
                     UserSetInfo* info, RecordResult* result);

/// Promises the items of a record `reserve`, whatever the caps: who wrote it has looked at them.
/// kUnavailable: not before this node's clock shows its time.
Status Reserve(Engine* engine, const IdRef& user, const wire::ReserveCall& promised);

}  // namespace seendb::replica
