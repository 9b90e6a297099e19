// connect/filter_method.h: Filter, by the binary form of POST /filter (api/filter_binary.h): ids as
// they are, the answer as a bitmap and headers.

#pragma once

#include "connect/methods.h"

namespace seendb::connect {

/// See Method::to_route and from_route.
Status FilterToRoute(const google::protobuf::Message& request, int64_t left_ms, RouteRequest* to);
Status FilterFromRoute(const google::protobuf::Message& request, const http::Response& response,
                       google::protobuf::Message* answer);

}  // namespace seendb::connect
