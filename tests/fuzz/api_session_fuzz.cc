// Arbitrary bytes to a session with the whole API behind it, over an engine in memory: every answer
// is whole, its JSON is JSON, errors have their one shape, and none is the server's own fault.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/routes.h"
#include "api/service.h"
#include "fuzz/answers.h"
#include "fuzz/input.h"
#include "fuzz/session_driver.h"
#include "support/fake_engine.h"

namespace {

using namespace seendb;
using fuzz::Answer;
using fuzz::Check;
using fuzz::Ending;
using Json = nlohmann::json;

http::Limits SmallLimits() {
  http::Limits limits;
  limits.body_bytes = 1'500;
  limits.line_bytes = 300;
  limits.header_bytes = 512;
  limits.inflight_bytes = 1 << 20;
  return limits;
}

/// The API, remembering which of the requests were HEAD.
class Api final : public http::Service {
 public:
  http::Plan Begin(const http::RequestHead& head) override {
    heads.push_back(head.method == http::Method::kHead);
    return service_.Begin(head);
  }
  http::Task<> Handle(const http::Plan& plan, const http::Request& request,
                      http::Response* response) override {
    return service_.Handle(plan, request, response);
  }
  void Done(const http::Outcome& outcome) override { service_.Done(outcome); }
  void Open(Engine* engine) { service_.EngineOpened(engine); }

  std::vector<bool> heads;

 private:
  ops::Health health_;
  ops::Metrics metrics_{api::RouteLabels()};
  ops::ManualClock clock_{1'000};
  api::Context context_{SmallLimits(), 50, &health_, &metrics_, &clock_};
  api::ApiService service_{&context_};
};

void CheckAnswer(const Answer& answer) {
  Check(answer.status == 200 || (answer.status >= 400 && answer.status < 500) ||
        answer.status == 503);
  if (answer.body.empty() || !answer.complete) return;
  if (fuzz::HeaderOf(answer.head, "Content-Type") != "application/json") return;
  const Json body = Json::parse(answer.body, nullptr, false);
  Check(body.is_object());
  const bool all_refused = answer.status == 422;
  if (all_refused) Check(body.at("accepted") == 0 && body.at("refused") != 0);
  Check(body.contains("error") == (answer.status != 200 && !all_refused));
  if (!body.contains("error")) return;
  const Json& error = body.at("error");
  Check(error.size() == 3 && error.at("message").is_string() && error.at("field").is_string());
  Check(!error.at("code").get<std::string>().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Api api;
  static fuzz::SessionDriver driver(&api, SmallLimits());
  fuzz::Input input(data, size);
  const size_t most = input.Byte() % 64;
  const auto ending = static_cast<Ending>(input.Byte() % 3);
  test::FakeEngine engine;
  api.Open(&engine);
  api.heads.clear();
  const std::string said = driver.Talk(input.Rest(), most, ending);
  if (ending == Ending::kGone) return 0;
  for (const Answer& answer : fuzz::AnswersIn(said, api.heads)) CheckAnswer(answer);
  return 0;
}
