#include "wire/failure_json.h"

#include <cassert>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "wire/status_codes.h"

namespace seendb::wire {

Status FailureOf(std::string_view body, StatusCode unnamed) {
  const nlohmann::json json = ParseOutside(body);
  const auto error = json.is_object() ? json.find("error") : json.end();
  return error == json.end() ? Status(unnamed, "") : FailureOfObject(*error, unnamed);
}

Status FailureOfObject(const nlohmann::json& error, StatusCode unnamed) {
  assert(unnamed != StatusCode::kOk);
  const auto text = [&error](const char* name) {
    if (!error.is_object()) return std::string();
    const auto found = error.find(name);
    if (found == error.end() || !found->is_string()) return std::string();
    const auto& value = found->get_ref<const std::string&>();
    return value.size() <= kFailureTextMost ? value : std::string();
  };
  return {StatusCodeOfName(text("code")).value_or(unnamed), text("message"), text("field")};
}

nlohmann::json ObjectOf(const Status& failure) {
  return {{"code", StatusCodeName(failure.code())},
          {"message", std::string(failure.message())},
          {"field", std::string(failure.field())}};
}

}  // namespace seendb::wire
