// server/router/user_of.h: the user that a request is about, as far as its way goes: what is wrong
// with a request is for its handler to say.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/context.h"
#include "seendb/engine.h"

namespace seendb::router {

/// What decides the way of a question.
struct Question {
  uint32_t partition = 0;                   ///< of its user
  bool record = false;                      ///< it records what it answers
  std::optional<int64_t> deadline_ms = {};  ///< that it names itself
};

/// Of a route of Spread::kRead, kFilter or kTurn; nothing: no user is named, or none that there can
/// be.
std::optional<Question> QuestionOf(const api::Call& call, const Engine& engine);
/// Of one line of NDJSON of filters. Followed by http::kBodyPadding readable bytes.
std::optional<Question> QuestionOfLine(std::string_view line, const Engine& engine);

}  // namespace seendb::router
