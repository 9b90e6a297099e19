// server/api/filter.h: one filter request, from JSON to JSON.

#pragma once

#include <string>
#include <string_view>

#include "api/context.h"

namespace seendb::api {

/// Answers the request in `json` (followed by http::kBodyPadding readable bytes), appending to
/// `*out`; on failure nothing is appended. Where `must_wait` is not null and the request would
/// sync to disk, it is set instead, and nothing is done.
Status AnswerFilter(Context& context, std::string_view json, bool* must_wait, std::string* out);

}  // namespace seendb::api
