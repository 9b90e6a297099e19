// tests/api/unit/openapi_testing.h: the two OpenAPI documents as one.

#pragma once

#include <nlohmann/json.hpp>

#include "api/openapi.h"

namespace seendb::api {

inline nlohmann::json WholeOpenApi() {
  auto whole = nlohmann::json::parse(OpenApiText(OpenApiPart::kPublic));
  whole.update(nlohmann::json::parse(OpenApiText(OpenApiPart::kAdmin)), /*merge_objects=*/true);
  return whole;
}

}  // namespace seendb::api
