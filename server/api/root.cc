// GET /: what this server is, and where to read on.

#include <nlohmann/json.hpp>

#include "api/routes.h"

namespace seendb::api {

void HandleRoot(Call& call) {
  const nlohmann::ordered_json root = {{"product", "SeenDB"},
                                       {"version", SEENDB_VERSION},
                                       {"links",
                                        {{"openapi", "/openapi.json"},
                                         {"openapi_3_0", "/openapi-3.0.json"},
                                         {"openapi_admin", "/openapi-admin.json"},
                                         {"health", "/healthz"},
                                         {"ready", "/readyz"},
                                         {"metrics", "/metrics"}}}};
  call.response.body = root.dump();
}

}  // namespace seendb::api
