// GET /: what this server is, and where to read on; a page for browsers.

#include <nlohmann/json.hpp>

#include "api/console.h"
#include "api/routes.h"
#include "http/header_list.h"

namespace seendb::api {
namespace {

/// Whether the Accept header names HTML and not JSON: a browser's does, a generated client's not.
bool WantsPage(std::string_view accept) {
  bool html = false;
  while (!accept.empty()) {
    std::string_view parameters = http::CutAt(',', &accept);
    const std::string_view type = http::CutAt(';', &parameters);
    if (type == "application/json") return false;
    html = html || type == "text/html";
  }
  return html;
}

}  // namespace

void HandleRoot(Call& call) {
  const bool elsewhere = AdminIsElsewhere(call.context, call.request.head);
  call.response.headers = "\r\nVary: Accept";
  if (WantsPage(call.request.head.accept)) {
    call.response.content_type = "text/html; charset=utf-8";
    call.response.headers += kPageHeaders;
    call.response.body = FindConsoleFile(elsewhere ? "landing_apart.html" : "landing.html")->text;
    return;
  }
  nlohmann::ordered_json links = {{"openapi", "/openapi.json"},
                                  {"openapi_3_0", "/openapi-3.0.json"},
                                  {"openapi_admin", "/openapi-admin.json"},
                                  {"health", "/healthz"},
                                  {"ready", "/readyz"},
                                  {"metrics", "/metrics"}};
  if (!elsewhere) links["console"] = "/console";
  const nlohmann::ordered_json root = {
      {"product", "SeenDB"}, {"version", SEENDB_VERSION}, {"links", std::move(links)}};
  call.response.body = root.dump();
}

}  // namespace seendb::api
