#include "http/arrival.h"

#include <algorithm>
#include <memory>

#include <boost/asio/post.hpp>

#include "http/session.h"

namespace seendb::http {
namespace {

/// Of those with equally little, each has its turn.
IoThread* LeastBusy(Shared* shared) {
  const std::vector<IoThread*>& threads = shared->io_threads;
  const size_t first = shared->next_thread.fetch_add(1, std::memory_order_relaxed);
  IoThread* least = nullptr;
  int64_t least_ns = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    IoThread* const thread = threads[(first + i) % threads.size()];
    const int64_t queued_ns = thread->lane->counters().work_ns.load(std::memory_order_relaxed);
    if (least != nullptr && queued_ns >= least_ns) continue;
    least = thread;
    least_ns = queued_ns;
  }
  return least;
}

}  // namespace

bool AllFull(const Shared& shared) {
  return std::all_of(shared.io_threads.begin(), shared.io_threads.end(), [](const IoThread* one) {
    return one->session_count.load(std::memory_order_relaxed) >=
           one->session_limit.load(std::memory_order_relaxed);
  });
}

void HandOver(Arrival arrival, Shared* shared) {
  IoThread* const thread = LeastBusy(shared);
  const auto protocol = Stream::Protocol(arrival.connection.family, 0);
  boost::system::error_code failed;
  const int descriptor = arrival.socket.release(failed);
  arrival.socket = Stream::Socket(thread->io, protocol, descriptor);
  auto session = std::make_shared<Session>(std::move(arrival), thread);
  boost::asio::post(thread->io, [session = std::move(session)] { session->Start(); });
}

}  // namespace seendb::http
