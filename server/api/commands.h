// server/api/commands.h: the checks of requests that change what a user has, without the change: a
// node of a cluster makes it through the log.

#pragma once

#include <string>

#include "api/context.h"
#include "seendb/engine.h"
#include "wire/events_json.h"

namespace seendb::api {

/// What is wrong with the request: its path, its body, what its caller may.
Status CheckHistoryDelete(const Call& call, bool* lifts_groups);
Status CheckHistoryClear(const Call& call);
Status CheckRecording(const Call& call);

/// The fault of a mark that is said at `now_ms`; a field is that of a line.
Status CheckMark(const Mark& mark, int64_t now_ms);
/// The body of POST /users/{user}/marks, checked, as the log has it.
Status MarksForLog(const Call& call, std::string* value);
/// The path of DELETE /users/{user}/marks/{group}, checked, as the log has it.
Status MarkDeletionForLog(const Call& call, std::string* value);
/// The same failure with its field as the request has it, "/group" or "/marks/0/group". `single`:
/// it was one mark without a list.
Status MarkFailure(const Status& status, bool single);
/// Whether the body has one mark without a list.
bool HasSingleMark(const Call& call);
/// The fault of a time that is said at `now_ms`, if it is one.
Status CheckSaidAt(const CallTime& at_ms, int64_t now_ms);
/// The request PUT /users/{user}/sets/{name}, checked, as the log has it, at most `most` bytes.
Status UserSetForLog(const Call& call, size_t most, std::string* value);
/// The same of its DELETE.
Status UserSetDeletionForLog(const Call& call, std::string* value);
/// Answers a deletion of something that a user has.
void AnswerDeleted(bool was_there, http::Response* response);
/// Answers what became of marks.
void AnswerMarked(const RecordResult& result, http::Response* response);
wire::Recorded MarkedOnWire(const RecordResult& result);

/// What is wrong with deleting the collection: there is none, or it was not asked for twice.
Status CheckDeletion(const Call& call, const std::string& name);

/// Appends the answer to an erasure.
void AppendErasure(const Erasure& erasure, std::string* out);

}  // namespace seendb::api
