// The OpenAPI documents in the words of OpenAPI 3.0, which some generators of clients need.

#include <string>

#include <nlohmann/json.hpp>

#include "api/openapi.h"

namespace seendb::api {
namespace {

using Json = nlohmann::ordered_json;

// `type` of more than one name: 3.0 has `nullable` instead of "null", and no unions.
void LowerType(Json* schema) {
  const Json types = schema->at("type");
  Json others = Json::array();
  for (const Json& type : types) {
    if (type == "null") {
      (*schema)["nullable"] = true;
    } else {
      others.push_back(type);
    }
  }
  if (others.size() == 1) {
    (*schema)["type"] = others[0];
  } else {
    schema->erase("type");  // anything
  }
}

// Roles are for schemes of OAuth alone.
void LowerSecurity(Json* requirements) {
  for (Json& requirement : *requirements) {
    for (auto& [scheme, roles] : requirement.items()) roles = Json::array();
  }
}

void Lower(Json* node) {
  if (node->is_object()) {
    if (node->contains("security")) LowerSecurity(&node->at("security"));
    if (node->contains("type") && node->at("type").is_array()) LowerType(node);
    node->erase("dependentRequired");
    for (auto& [name, member] : node->items()) {
      if (name != "example") Lower(&member);
    }
  } else if (node->is_array()) {
    for (Json& element : *node) Lower(&element);
  }
}

std::string Lowered(OpenApiPart part) {
  Json document = Json::parse(OpenApiText(part));
  document["openapi"] = "3.0.3";
  document["info"].erase("summary");
  document["info"]["license"].erase("identifier");
  Lower(&document);
  return document.dump();
}

}  // namespace

std::string_view OpenApi30Text(OpenApiPart part) {
  if (part == OpenApiPart::kPublic) {
    static const std::string kPublicText = Lowered(part);
    return kPublicText;
  }
  static const std::string kAdminText = Lowered(part);
  return kAdminText;
}

}  // namespace seendb::api
