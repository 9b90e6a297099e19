// server/api/openapi.h: the OpenAPI 3.1 document of the server, api/openapi.json.

#pragma once

#include <string_view>

namespace seendb::api {

/// The whole document.
std::string_view OpenApiText();

}  // namespace seendb::api
