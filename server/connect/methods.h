// connect/methods.h: the methods of the service SeenDB, each as the route that answers it: a
// message becomes a request of that route, and its answer a message. Ids of a filter go by the
// binary form, without JSON; events, which have more than that form has, and pages of history go by
// JSON, since the handlers, the audit and the router of a cluster all take a request with its body.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/message.h"
#include "seendb/status.h"

namespace google::protobuf {
class Message;
}

namespace seendb::connect {

/// A request of a route.
struct RouteRequest {
  std::string target;  ///< with the query
  std::string body;
};

/// One method.
struct Method {
  std::string_view name;
  http::Method http_method = http::Method::kPost;  ///< of the route
  std::string_view path;                           ///< of the route, where "-" stands for a user
  std::string_view content_type;                   ///< of what it is sent; empty: it takes no body
  std::unique_ptr<google::protobuf::Message> (*make_request)();
  std::unique_ptr<google::protobuf::Message> (*make_answer)();
  /// Makes the request of the route. `left_ms`: the caller waits so long from now on; 0: not known.
  Status (*to_route)(const google::protobuf::Message& request, int64_t left_ms, RouteRequest* to);
  /// Reads the answer of the route, which is a success.
  Status (*from_route)(const google::protobuf::Message& request, const http::Response& response,
                       google::protobuf::Message* answer);
};

/// All methods.
std::span<const Method> Methods();

}  // namespace seendb::connect
