// server/api/filter.h: one filter request, from JSON to JSON.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/context.h"
#include "http/message.h"
#include "migration/migration.h"

namespace seendb::api {

/// How a filter request waits, where it has to.
struct FilterWait {
  bool* for_disk = nullptr;              ///< null: waits on this thread; else set instead
  http::Waiting* waiting = nullptr;      ///< for its user's turn; null: waits on this thread
  int64_t age_us = 0;                    ///< that the deadline has been running for
  int64_t later_us = 0;                  ///< of kIncomplete: its deadline; 0: none
  uint64_t log_tag = 0;                  ///< of the request's user, for Response::log_tag
  const files::Token* caller = nullptr;  ///< who asks
  std::string_view lacks = {};           ///< as Call::lacks
  admission::Priority priority = admission::Priority::kNormal;  ///< that it counts with
  /// What the old store of its collection said; null: it was not asked.
  std::shared_ptr<const migration::OldAnswer> old = nullptr;
  /// Of kIncomplete: what the old store is to be asked first; then it comes again, with `old`.
  std::optional<migration::Question> question = {};
  migration::Migration* migration = nullptr;  ///< that takes the question
};

/// Answers the request in `json` (followed by http::kBodyPadding readable bytes), appending to
/// `*out`; on failure nothing is appended. Where the request would sync to disk, or memory
/// alone can't tell the answer, and `wait->for_disk` is not null, that is set, nothing is done, and
/// the answer is kIncomplete. kIncomplete with `wait->question`: nothing was done. kIncomplete
/// without both: another recording request of its user is under way; nothing was done,
/// `wait->waiting` is resumed with the turn.
Status AnswerFilter(Context& context, std::string_view json, FilterWait* wait, std::string* out);

}  // namespace seendb::api
