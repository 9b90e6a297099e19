// shard/marks.h: the marks of a user (seendb/marks.h): the row of the user in the family `own`.
//
// A mark is looked at before it is written, since groups are counted: what is written of a group is
// the furthest, and the last said, of it and of the mark that counts. So a group has one mark, and
// an answer errs towards seen. Changes of a shard's marks go one after the other.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "format/marks_codec.h"
#include "seendb/events.h"
#include "seendb/marks.h"
#include "shard/parts.h"

namespace seendb {

/// Engine::PutMarks. Precondition: the marks are valid. `sync`: on disk before it answers.
Status PutMarks(ShardParts& shard, const std::string& user, std::span<const Mark> marks,
                int64_t now_ms, bool sync, RecordResult* result) REQUIRES_SHARED(shard.use);
/// Engine::DeleteMark. The deletion is not earlier than what it deletes was said.
Status DeleteMark(ShardParts& shard, const std::string& user, std::string_view group, int64_t at_ms,
                  bool* deleted) REQUIRES_SHARED(shard.use);
/// Engine::ReadMarks.
Status ReadMarks(const ShardParts& shard, const std::string& user, const MarksRequest& request,
                 MarksPage* page) REQUIRES_SHARED(shard.use);

/// Reads a user's row, whose bytes the list borrows. kCorruption where it can't be read; a user
/// without a row has an empty list.
Status LoadMarks(const ShardParts& shard, std::string_view user, rocksdb::PinnableSlice* value,
                 MarkList* list);

}  // namespace seendb
