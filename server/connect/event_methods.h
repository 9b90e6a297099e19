// connect/event_methods.h: RecordPlays, RecordImpressions and RecordExposures, by JSON of their
// routes.

#pragma once

#include "connect/methods.h"

namespace seendb::connect {

/// See Method::to_route.
Status PlaysToRoute(const google::protobuf::Message& request, int64_t left_ms, RouteRequest* to);
Status ImpressionsToRoute(const google::protobuf::Message& request, int64_t left_ms,
                          RouteRequest* to);
Status ExposuresToRoute(const google::protobuf::Message& request, int64_t left_ms,
                        RouteRequest* to);
/// See Method::from_route, of all three.
Status RecordedFromRoute(const google::protobuf::Message& request, const http::Response& response,
                         google::protobuf::Message* answer);

}  // namespace seendb::connect
