// Arbitrary bytes as NDJSON bodies of plays, impressions and filter requests, through the service
// over an engine in memory: cut anywhere they come to what they come to whole, and events to what
// a plain reading of the lines says. The first byte chooses the route, the second the cuts.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/routes.h"
#include "api/service.h"
#include "fuzz/input.h"
#include "fuzz/plain_json.h"
#include "support/fake_engine.h"
#include "wire/unit/padded.h"

namespace {

using namespace seendb;
using fuzz::Check;
using fuzz::Json;

constexpr size_t kLineBytes = 200;
constexpr size_t kCandidates = 20;

http::Limits SmallLimits() {
  http::Limits limits;
  limits.line_bytes = kLineBytes;
  limits.body_bytes = kLineBytes;  // what a filter request's line may have
  return limits;
}

/// The parts of a server that keep nothing of a request.
struct Parts {
  ops::Health health;
  ops::Metrics metrics{api::RouteLabels()};
  api::Context context{SmallLimits(), kCandidates, &health, &metrics, nullptr};
  api::ApiService service{&context};
};

/// What the server says to `body` in pieces.
http::Response Answer(Parts* parts, const char* route, std::string_view body, size_t most) {
  test::FakeEngine engine;
  parts->service.EngineOpened(&engine);
  http::RequestHead head;
  head.method = http::Method::kPost;
  head.target = route;
  head.content_type = "application/x-ndjson";
  head.chunked = true;
  const http::Plan plan = parts->service.Begin(head);
  Check(!plan.refused && plan.stream != nullptr);
  std::string held, out;
  fuzz::Cutter cutter(most);
  while (!plan.stream->Failed()) {
    const size_t step = cutter.Next(body.size());
    held += body.substr(0, step);
    body.remove_prefix(step);
    const test::Padded padded(held);
    const size_t taken = plan.stream->Take(padded.view(), body.empty(), &out);
    Check(taken <= held.size() && held.size() - taken <= kLineBytes);
    held.erase(0, taken);
    if (body.empty()) break;
  }
  Check(held.empty());
  http::Response response;
  plan.stream->Finish(&response);
  if (plan.stream->AnswersAsItGoes()) response.body = out;
  return response;
}

/// Runs `line(text)` for each that is not blank; too long ones come as nothing.
template <typename Line>
void ForLines(std::string_view body, Line line) {
  while (!body.empty()) {
    const size_t end = std::min(body.find('\n'), body.size());
    const std::string_view text = body.substr(0, end);
    body.remove_prefix(std::min(body.size(), end + 1));
    if (text.size() > kLineBytes) {
      line(std::nullopt);
    } else if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
      line(fuzz::PlainDocument(text));
    }
  }
}

void CheckEvents(std::string_view body, bool plays, const Json& answer) {
  static_assert(kLineBytes < kMaxFieldsBytes);
  const auto read = plays ? fuzz::PlainPlayOf : fuzz::PlainImpressionOf;
  const test::FakeEngine engine;
  const int64_t latest = engine.now_ms + Policy().max_future_ms;
  uint64_t accepted = 0, refused = 0;
  ForLines(body, [&](const std::optional<Json>& line) {
    const auto event = line ? read(*line) : std::nullopt;
    const bool taken = event && event->at_ms <= latest;
    ++(taken ? accepted : refused);
  });
  Check(answer.at("accepted") == accepted && answer.at("refused") == refused);
  const Json& refusals = answer.at("refusals");
  Check(refusals.size() == std::min<uint64_t>(refused, kMaxRefusals));
  for (size_t i = 1; i < refusals.size(); ++i) {
    Check(refusals[i - 1].at("index") < refusals[i].at("index"));
  }
}

/// One answer a line that is not blank, each a document.
void CheckAnswers(std::string_view body, const std::string& answers) {
  size_t asked = 0, answered = 0;
  ForLines(body, [&](const std::optional<Json>&) { ++asked; });
  for (size_t at = 0; at < answers.size(); ++answered) {
    const size_t end = answers.find('\n', at);
    Check(end != std::string::npos);
    const Json answer = Json::parse(answers.substr(at, end - at), nullptr, false);
    Check(answer.is_object() && (answer.contains("unseen") || answer.contains("error")));
    at = end + 1;
  }
  Check(answered == asked);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Parts parts;
  static constexpr const char* kRoutes[] = {"/plays", "/impressions", "/filter"};
  fuzz::Input input(data, size);
  const size_t route = input.Byte() % std::size(kRoutes);
  const size_t most = 1 + input.Byte();
  const std::string_view body = input.Rest();
  const http::Response whole = Answer(&parts, kRoutes[route], body, 0);
  const http::Response pieces = Answer(&parts, kRoutes[route], body, most);
  Check(whole.status == pieces.status && whole.body == pieces.body);
  if (route == 2) {
    Check(whole.status == 200);
    CheckAnswers(body, whole.body);
  } else {
    const Json recorded = Json::parse(whole.body);
    const bool all_refused = recorded.at("accepted") == 0 && recorded.at("refused") != 0;
    Check(whole.status == (all_refused ? 422 : 200));
    CheckEvents(body, route == 0, recorded);
  }
  return 0;
}
