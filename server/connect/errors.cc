#include "connect/errors.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <google/protobuf/message.h>
#include <nlohmann/json.hpp>
#include <seendb/v1/seendb.pb.h>

#include "base/outside_json.h"
#include "connect/json_answer.h"
#include "text/base64.h"
#include "wire/json_text.h"

namespace seendb::connect {
namespace {

/// Connect's table of codes, as far as they are answered here.
constexpr std::array<std::pair<std::string_view, unsigned>, 12> kStatuses = {{
    {"invalid_argument", 400},
    {"unauthenticated", 401},
    {"permission_denied", 403},
    {"not_found", 404},
    {"resource_exhausted", 429},
    {"failed_precondition", 400},
    {"unimplemented", 501},
    {"deadline_exceeded", 504},
    {"unavailable", 503},
    {"internal", 500},
    {"data_loss", 500},
    {"unknown", 500},
}};

/// A detail: the message in Base64 without its padding, and for people as JSON.
void AppendDetail(const std::string& code, const std::string& field, std::string* out) {
  v1::Fault fault;
  fault.set_code(code);
  fault.set_field(field);
  std::string value = text::Base64Of(fault.SerializeAsString());
  while (value.ends_with('=')) value.pop_back();
  out->append("[{\"type\":\"").append(fault.GetTypeName()).append("\",\"value\":\"").append(value);
  out->append("\",\"debug\":{\"code\":");
  wire::AppendJsonString(code, out);
  if (!field.empty()) {
    out->append(",\"field\":");
    wire::AppendJsonString(field, out);
  }
  out->append("}}]");
}

}  // namespace

std::string_view CodeOf(unsigned status, std::string_view code) {
  switch (status) {
    case 401:
      return "unauthenticated";
    case 403:
      return "permission_denied";
    case 404:
      return code == "unimplemented" ? code : "not_found";
    case 405:
    case 501:
      return "unimplemented";
    case 408:
    case 504:
      return "deadline_exceeded";
    case 409:
      return "failed_precondition";
    case 413:
    case 429:
    case 431:
      return "resource_exhausted";
    case 500:
      return code == "corruption" ? "data_loss" : "internal";
    case 503:
      return code == "timeout" ? "deadline_exceeded" : "unavailable";
    case 507:
      return "unavailable";
    default:
      return status < 500 ? "invalid_argument" : "unknown";
  }
}

unsigned StatusOf(std::string_view connect_code, unsigned status) {
  if (status == 404 || status == 405 || status == 415) return status;
  const auto* const row =
      std::find_if(kStatuses.begin(), kStatuses.end(),
                   [connect_code](const auto& one) { return one.first == connect_code; });
  return row == kStatuses.end() ? 500 : row->second;
}

void ShapeError(http::Response* response) {
  const auto whole = ParseOutside(response->body);
  const auto at = whole.is_object() ? whole.find("error") : whole.end();
  const bool ours = whole.is_object() && at != whole.end() && at->is_object();
  const nlohmann::json error = ours ? *at : nlohmann::json::object();
  const std::string_view code = CodeOf(response->status, response->error_code);
  std::string body = "{\"code\":\"";
  body.append(code).append("\",\"message\":");
  wire::AppendJsonString(TextIn(error, "message"), &body);
  body.append(",\"details\":");
  AppendDetail(std::string(response->error_code), TextIn(error, "field"), &body);
  body.push_back('}');
  response->status = StatusOf(code, response->status);
  response->body = std::move(body);
  response->content_type = "application/json";
}

}  // namespace seendb::connect
