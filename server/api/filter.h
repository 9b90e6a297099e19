// server/api/filter.h: one filter request, from JSON to JSON.

#pragma once

#include <string>
#include <string_view>

#include "api/context.h"

namespace seendb::api {

/// Answers the request in `json` (followed by http::kBodyPadding readable bytes), appending to
/// `*out`; on failure nothing is appended.
Status AnswerFilter(Context& context, std::string_view json, std::string* out);

}  // namespace seendb::api
