// server/api/openapi.h: the server's API as two OpenAPI documents. openapi.json is for callers;
// openapi_admin.json is for operators and nodes, and has what lies below /admin/ and /internal/. So
// a client that is generated from the first has no routes that its callers must not call. A
// component that both documents have is the same in both (tests/lint/openapi_test.py).
//
// Threads: any.

#pragma once

#include <cstdint>
#include <string_view>

namespace seendb::api {

enum class OpenApiPart : uint8_t { kPublic, kAdmin };

/// The document, of version 3.1.
std::string_view OpenApiText(OpenApiPart part);

/// The same as an OpenAPI 3.0 document, made when it is first asked for.
std::string_view OpenApi30Text(OpenApiPart part);

}  // namespace seendb::api
