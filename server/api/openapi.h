// server/api/openapi.h: what the server's API is, as two OpenAPI documents: openapi.json for
// callers, and openapi_admin.json for operators and nodes (what lies below /admin/ and /internal/),
// so that a client that is generated of the first has what its caller calls. A component that both
// have is the same in both (tests/lint/openapi_test.py).
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
