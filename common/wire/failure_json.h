// common/wire/failure_json.h: the failure that another process answered with, read back:
// `{"error":{"code":"busy","message":"...","field":"/items/3"}}`.
//
// Pure functions. Threads: any.

#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "seendb/status.h"

namespace seendb::wire {

/// The failure in `body`; `unnamed` is its code where the body has none that is known here. The
/// message is empty where the body is no such answer. Precondition: `unnamed` is not kOk.
Status FailureOf(std::string_view body, StatusCode unnamed);

/// The same of the object below "error"; and that object.
Status FailureOfObject(const nlohmann::json& error, StatusCode unnamed);
nlohmann::json ObjectOf(const Status& failure);

}  // namespace seendb::wire
