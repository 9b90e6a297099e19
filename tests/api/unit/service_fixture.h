// tests/api/unit/service_fixture.h: whole requests through the service, without sockets,
// over an engine in memory.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/routes.h"
#include "api/service.h"
#include "support/fake_engine.h"
#include "support/run_here.h"
#include "wire/unit/padded.h"

namespace seendb::test {

using http::Method;
using Json = nlohmann::json;

/// An answer with its body read.
struct Answer {
  unsigned status = 0;
  std::string body, allow;
  std::string_view content_type;
  int retry_after_s = 0;
  Json json() const { return Json::parse(body); }
  std::string code() const { return json().at("error").at("code"); }
  std::string field() const { return json().at("error").at("field"); }
};

/// The service as a listener drives it, in memory.
class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() { limits_.line_bytes = 256; }

  void Open(bool manual_clock = false) {
    if (manual_clock) clock_.emplace(1'000);
    context_ = std::make_unique<api::Context>(limits_, 100, &health_, &metrics_,
                                              manual_clock ? &*clock_ : nullptr);
    service_ = std::make_unique<api::ApiService>(context_.get());
    service_->EngineOpened(&engine_);
  }
  void SetUp() override { Open(); }

  Answer Ask(Method method, std::string target, std::string_view body = "",
             std::string content_type = "application/json", size_t piece = SIZE_MAX) {
    http::RequestHead head;
    head.method = method;
    head.target = std::move(target);
    head.content_type = std::move(content_type);
    head.content_length = body.size();
    return Ask(head, body, piece);
  }

  Answer Ask(const http::RequestHead& head, std::string_view body, size_t piece = SIZE_MAX) {
    const http::Plan plan = service_->Begin(head);
    http::Response response;
    if (plan.refused) {
      http::WriteError(plan.refusal, &response);
      response.allow = plan.allow;
    } else if (plan.body == http::BodyMode::kStream) {
      Stream(plan, body, piece, &response);
    } else {
      const Padded padded(plan.body == http::BodyMode::kWhole ? body : "");
      test::RunHere(service_->Handle(plan, {head, padded.view()}, &response));
    }
    service_->Done({.head = head,
                    .plan = plan,
                    .status = response.status,
                    .error_code = response.error_code,
                    .log_tag = response.log_tag,
                    .at = std::chrono::steady_clock::now(),
                    .took = std::chrono::milliseconds(3),
                    .worked = std::chrono::milliseconds(2)});
    return {response.status, response.body, response.allow, response.content_type,
            response.retry_after_s};
  }

  static void Stream(const http::Plan& plan, std::string_view body, size_t piece,
                     http::Response* response) {
    std::string held, out;
    while (!plan.stream->Failed()) {
      const size_t step = std::min(piece, body.size());
      held += body.substr(0, step);
      body.remove_prefix(step);
      const Padded padded(held);
      held.erase(0, plan.stream->Take(padded.view(), body.empty(), &out));
      if (body.empty() && !plan.stream->HasMore()) break;
    }
    plan.stream->Finish(response);
    if (plan.stream->AnswersAsItGoes() && !plan.stream->Failed()) response->body = out;
  }

  http::Limits limits_;
  ops::Health health_;
  ops::Metrics metrics_{api::RouteLabels()};
  std::optional<ops::ManualClock> clock_;
  FakeEngine engine_;
  std::unique_ptr<api::Context> context_;
  std::unique_ptr<api::ApiService> service_;
};

}  // namespace seendb::test
