#include "api/context.h"

#include "api/routes.h"
#include "api/status_http.h"
#include "wire/json_syntax.h"
#include "wire/media_type.h"

namespace seendb::api {

std::optional<std::string_view> Call::Query(std::string_view name) const {
  for (const auto& [key, value] : plan.query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void Call::Refuse(const Status& status) const {
  const Route& route = Routes()[static_cast<size_t>(plan.route)];
  const bool json = route.takes_json && !request.body.empty() &&
                    wire::ParseMediaType(request.head.content_type) == wire::MediaType::kJson;
  const bool takes_ndjson = route.stream != nullptr;
  const Status told = json ? wire::ExplainSyntax(status, request.body, takes_ndjson) : status;
  http::WriteError(ToHttpError(told), &response);
}

std::string WhyNotReady(const Context& context, ops::Phase phase) {
  if (phase == ops::Phase::kStopping) return "the server is shutting down";
  return context.cluster ? context.cluster->why_not_ready : "the database is being opened";
}

}  // namespace seendb::api
