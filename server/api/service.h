// server/api/service.h: the application behind the listener: finds the route, checks what can be
// checked before the body, runs the handler.

#pragma once

#include "api/context.h"
#include "http/service.h"

namespace seendb::api {

/// See the head of this file. Threads: any.
class ApiService final : public http::Service {
 public:
  /// `context` is borrowed.
  explicit ApiService(Context* context) : context_(*context) {}

  http::Plan Begin(const http::RequestHead& head) override;
  http::Task<> Handle(const http::Plan& plan, const http::Request& request,
                      http::Response* response) override;
  void Done(const http::Outcome& outcome) override;

  /// The engine begins to open its shards (Engine::FinishOpening): requests about users are tried
  /// from now on.
  void EngineOpening(Engine* engine);
  /// The engine is open: serve from now on.
  void EngineOpened(Engine* engine);

 private:
  http::Task<> Answer(Call& call);
  http::Task<> AnswerOnceAudited(Call call);

  Context& context_;
};

/// The labels of all routes, for Metrics.
std::vector<std::string> RouteLabels();

}  // namespace seendb::api
