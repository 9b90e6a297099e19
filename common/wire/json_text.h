// common/wire/json_text.h: text as JSON, and the object that every failure is written as.
//
// Pure functions. Threads: any.

#pragma once

#include <string>
#include <string_view>

namespace seendb::wire {

/// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

/// Appends `{"code":...,"message":...,"field":...}`.
void AppendErrorObject(std::string_view code, std::string_view message, std::string_view field,
                       std::string* out);

}  // namespace seendb::wire
