#include "api/context.h"

#include "api/status_http.h"

namespace seendb::api {

std::optional<std::string_view> Call::Query(std::string_view name) const {
  for (const auto& [key, value] : plan.query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void Call::Refuse(const Status& status) const { http::WriteError(ToHttpError(status), &response); }

}  // namespace seendb::api
