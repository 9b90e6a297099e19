#include "http/error.h"

#include <string>

#include "wire/json_text.h"

namespace seendb::http {

void WriteError(const Error& error, Response* response) {
  response->status = error.status;
  response->error_code = error.code;
  response->content_type = "application/json";
  response->body.assign("{\"error\":");
  wire::AppendErrorObject(error.code, error.message, error.field, &response->body);
  response->body.push_back('}');
  response->retry_after_s = error.status == 503 ? 1 : error.retry_after_s;
  if (error.retry_after_s > 0) {
    response->headers +=
        "\r\nSeenDB-Retry-After-Ms: " + std::to_string(error.retry_after_s) + "000";
  }
  if (error.status != 401) return;
  response->headers.append("\r\nWWW-Authenticate: ");
  response->headers.append(error.challenge.empty() ? "Bearer" : error.challenge);
}

}  // namespace seendb::http
