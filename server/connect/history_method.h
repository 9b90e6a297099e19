// connect/history_method.h: History, by GET /users/{user}/history.

#pragma once

#include "connect/methods.h"

namespace seendb::connect {

/// See Method::to_route and from_route.
Status HistoryToRoute(const google::protobuf::Message& request, int64_t left_ms, RouteRequest* to);
Status HistoryFromRoute(const google::protobuf::Message& request, const http::Response& response,
                        google::protobuf::Message* answer);

}  // namespace seendb::connect
