// server/http/call_wait.h: how the loop of a connection waits, without a thread, until what Resume
// made is called or a limit has passed.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/loop.h"
#include "http/message.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's own, or the one that has its request; what
/// Resume returns any.
class CallWait final : public Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  /// `loop`, which it is a part of, goes on at `executor`.
  CallWait(Loop* loop, boost::asio::any_io_executor executor);

  std::function<void(std::shared_ptr<void>)> Resume() override;
  Came Take() override;

  /// Begins to wait, for `limit_us` at most (0: no limit), and keeps the loop until it goes on.
  /// False: the call has come already.
  bool Begin(int64_t limit_us);
  /// How long the last wait was.
  Clock::duration waited() const { return waited_; }
  /// The request is answered: what still comes for it is dropped.
  void Forget();
  /// The connection is closed. Returns the owner that kept the loop: it may be the last one.
  [[nodiscard]] std::shared_ptr<Loop> Close();

 private:
  void Resumed(uint64_t number, std::shared_ptr<void> given);
  void End();
  void GoOn();

  Loop* const loop_;
  const boost::asio::any_io_executor executor_;
  std::atomic<uint64_t> number_{0};  // counts what Resume made
  bool waits_ = false, resumed_ = false, closed_ = false;
  Came came_;
  Clock::time_point since_;
  Clock::duration waited_{};
  std::optional<boost::asio::steady_timer> limit_;
  std::shared_ptr<Loop> kept_;  // while it waits: nothing else owns it
};

}  // namespace seendb::http
