#include "patient_send.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace seendb::tool {
namespace {

constexpr int64_t kFirstPauseMs = 100;
constexpr int64_t kLongestPauseMs = 5'000;

}  // namespace

void SleepMs(int64_t ms) {
  constexpr int64_t kStepMs = 50;
  for (; ms > 0 && InterruptedBy() == 0; ms -= kStepMs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ms, kStepMs)));
  }
}

bool WorthRetrying(const Status& status) {
  return status.code() == StatusCode::kBusy || status.code() == StatusCode::kUnavailable;
}

Status TryPatiently(const Patience& patience, const std::function<Status()>& attempt,
                    const std::function<int64_t()>& least_s) {
  int64_t waited_ms = 0;
  int64_t pause_ms = kFirstPauseMs;
  for (;;) {
    Status status = attempt();
    if (status.ok() || !WorthRetrying(status)) return status;
    if (waited_ms >= patience.retry_s * 1000) return status;
    const int64_t wanted_ms = std::max(pause_ms, least_s() * 1000);
    const int64_t now_ms = std::min(wanted_ms, patience.retry_s * 1000 - waited_ms);
    patience.pause ? patience.pause(now_ms) : SleepMs(now_ms);
    if (patience.stop()) return status;
    waited_ms += now_ms;
    pause_ms = std::min(pause_ms * 2, kLongestPauseMs);
  }
}

Result<SendResult> SendPatiently(PlaySink& sink, const PlayBatch& batch, const Patience& patience) {
  SendResult taken;
  Status status = TryPatiently(
      patience,
      [&] {
        auto sent = sink.Send(batch);
        if (!sent.ok()) return sent.status();
        taken = std::move(sent).value();
        return Status();
      },
      [&] { return sink.retry_after_s(); });
  if (!status.ok()) return status;
  return taken;
}

}  // namespace seendb::tool
