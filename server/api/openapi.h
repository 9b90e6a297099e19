// server/api/openapi.h: the OpenAPI 3.1 document of the server, api/openapi.json.

#pragma once

#include <string_view>

namespace seendb::api {

/// The whole document.
std::string_view OpenApiText();

/// The same as an OpenAPI 3.0 document, made when it is first asked for.
std::string_view OpenApi30Text();

}  // namespace seendb::api
