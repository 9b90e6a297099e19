#include "membership/prober.h"

#include <future>
#include <memory>
#include <utility>

namespace seendb::membership {
namespace {

using peers::PeerAnswer;

constexpr unsigned kOk = 200;

int64_t WallMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

ProbeResult ResultOf(PeerAnswer answer, int64_t began_ms) {
  ProbeResult result;
  if (answer.kind != PeerAnswer::Kind::kAnswered) {
    const bool refused = answer.kind == PeerAnswer::Kind::kRefused;
    result.kind = refused ? ProbeResult::Kind::kRefused : ProbeResult::Kind::kMissed;
    result.why = std::move(answer.why);
  } else if (answer.status != kOk) {
    result.why = "answers " + std::to_string(answer.status);
  } else {
    result.kind = ProbeResult::Kind::kAnswered;
    result.body = std::move(answer.body);
    result.asked_at_ms = began_ms + (WallMs() - began_ms) / 2;
  }
  return result;
}

}  // namespace

std::vector<ProbeResult> ProbeAll(peers::PeerClient* client,
                                  const std::vector<ProbeTarget>& targets,
                                  std::chrono::milliseconds timeout) {
  std::vector<std::future<ProbeResult>> under_way;
  for (const ProbeTarget& target : targets) {
    auto came = std::make_shared<std::promise<ProbeResult>>();
    under_way.push_back(came->get_future());
    client->Ask(
        {.url = target.url, .method = "GET", .target = "/internal/status", .timeout = timeout},
        [came, began_ms = WallMs()](PeerAnswer answer) {
          came->set_value(ResultOf(std::move(answer), began_ms));
        });
  }
  std::vector<ProbeResult> results;
  results.reserve(under_way.size());
  for (auto& one : under_way) results.push_back(one.get());
  return results;
}

}  // namespace seendb::membership
