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
  bool memory_alone = false;             ///< waits for no disk on this thread
  bool needs_disk = false;               ///< of kIncomplete: it would have to
  http::Waiting* waiting = nullptr;      ///< for its user's turn; null: waits on this thread
  http::Waiting::Came came = {};         ///< the turn, or that there is none in time
  int64_t age_us = 0;                    ///< that the deadline has been running for
  int64_t later_us = 0;                  ///< of kIncomplete: its deadline; 0: none
  uint64_t log_tag = 0;                  ///< of the request's user, for Response::log_tag
  const files::Token* caller = nullptr;  ///< who asks
  std::string_view lacks = {};           ///< as Call::lacks
  bool items_behind = false;             ///< it uses items, and the store is behind its topics
  admission::Priority priority = admission::Priority::kNormal;  ///< that it counts with
  /// What the old store of its collection said; null: it was not asked.
  std::shared_ptr<const migration::OldAnswer> old = nullptr;
  /// Of kIncomplete: what the old store is to be asked first; then it comes again, with `old`.
  std::optional<migration::Question> question = {};
  migration::Migration* migration = nullptr;  ///< that takes the question
};

/// Answers the request in `json` (followed by http::kBodyPadding readable bytes), appending to
/// `*out`; on failure nothing is appended. kIncomplete: nothing was done. With
/// `wait->needs_disk` (where `wait->memory_alone` is set) the request would sync to disk, or memory
/// alone can't tell the answer, or there is much to tell of items. With `wait->question` the old
/// store comes first. With neither another recording request of its user is under way:
/// `wait->waiting` is resumed with the turn, which goes into `wait->came`.
Status AnswerFilter(Context& context, std::string_view json, FilterWait* wait, std::string* out);

}  // namespace seendb::api
