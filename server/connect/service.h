// connect/service.h: the Connect protocol before the service of the routes: a unary call, a POST of
// /seendb.v1.SeenDB/NAME, becomes a request of the route that it belongs to, and its answer
// Connect's. So tokens, admission, limits, audit and the router of a cluster see a request of that
// route.

#pragma once

#include "http/service.h"

namespace seendb::connect {

/// See the head of this file. Passes every other request on as it is. Threads: any.
class ConnectService final : public http::Service {
 public:
  /// Borrows the service of the routes.
  explicit ConnectService(http::Service* routes);

  http::Plan Begin(const http::RequestHead& head) override;
  http::Task<> Handle(const http::Plan& plan, const http::Request& request,
                      http::Response* response) override;
  void Done(const http::Outcome& outcome) override { routes_.Done(outcome); }

 private:
  http::Task<> Call(const http::Plan& plan, const http::Request& request, http::Response* response);

  http::Service& routes_;
};

}  // namespace seendb::connect
