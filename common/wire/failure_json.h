// common/wire/failure_json.h: the failure that another process answered with, read back:
// `{"error":{"code":"busy","message":"...","field":"/items/3"}}`.
//
// Pure functions. Threads: any.

#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "seendb/status.h"

namespace seendb::wire {

/// The most bytes of a message, and of a field, that are taken from another process.
inline constexpr size_t kFailureTextMost = 4'096;

/// The failure in `body`; `unnamed` is its code where the body has none that is known here. The
/// message is empty where the body is no such answer, or has one of more than kFailureTextMost
/// bytes: it is passed on to clients. Precondition: `unnamed` is not kOk.
Status FailureOf(std::string_view body, StatusCode unnamed);

/// Reads the failure out of the object that stands at "error".
Status FailureOfObject(const nlohmann::json& error, StatusCode unnamed);
/// Makes that object.
nlohmann::json ObjectOf(const Status& failure);

}  // namespace seendb::wire
