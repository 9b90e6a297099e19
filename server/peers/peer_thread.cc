#include "peers/peer_thread.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "peers/peer_connection.h"

namespace seendb::peers {
namespace {

using Clock = std::chrono::steady_clock;

PeerAnswer Unsent(std::string why) {
  return {.kind = PeerAnswer::Kind::kFull, .why = std::move(why)};
}

}  // namespace

PeerThread::PeerThread(const PeerClientOptions& options)
    : options_(options),
      tls_(options.tls),
      work_(context_.get_executor()),
      tidying_(context_),
      thread_([this] { context_.run(); }) {
  boost::asio::post(context_, [this] { Tidy(); });
}

PeerThread::~PeerThread() { Stop(); }

void PeerThread::Post(PeerRequest request, PeerClient::Done done) {
  auto exchange = std::make_shared<Exchange>();
  exchange->until = Clock::now() + request.timeout;
  exchange->request = std::move(request);
  exchange->done = std::move(done);
  {
    const MutexLock lock(mutex_);
    if (!stopped_) {
      boost::asio::post(context_, [this, exchange] { Take(exchange); });
      return;
    }
  }
  exchange->done(Unsent("the server is shutting down"));
}

void PeerThread::After(std::chrono::milliseconds time, std::function<void()> then) {
  const MutexLock lock(mutex_);
  if (stopped_) return;
  const auto timer = std::make_shared<boost::asio::steady_timer>(context_, time);
  boost::asio::post(context_, [this, timer, then = std::move(then)]() mutable {
    if (ending_) return;
    timers_.insert(timer);
    timer->async_wait([this, timer, then = std::move(then)](const boost::system::error_code& ec) {
      if (ec || ending_) return;
      timers_.erase(timer);
      then();
    });
  });
}

void PeerThread::SetTls(const net::TlsContext& tls) {
  const MutexLock lock(mutex_);
  if (stopped_) return;
  boost::asio::post(context_, [this, tls] {
    tls_ = tls;
    for (auto& [url, pool] : pools_) pool.idle.clear();
  });
}

void PeerThread::Stop() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  boost::asio::post(context_, [this] { AbortAll(); });
  work_.reset();
  thread_.join();
}

void PeerThread::Take(const std::shared_ptr<Exchange>& exchange) {
  Pool& pool = pools_[exchange->request.url];
  while (!pool.idle.empty() && pool.idle.back()->IsStale()) pool.idle.pop_back();
  if (!pool.idle.empty() || pool.busy.size() < options_.connections_most ||
      exchange->request.waits_for_none) {
    return Begin(&pool, exchange, /*fresh=*/false);
  }
  if (pool.waiting.size() >= options_.waiting_most) {
    return exchange->done(Unsent("too many requests to the node wait"));
  }
  pool.waiting.push_back(exchange);
}

void PeerThread::Begin(Pool* pool, const std::shared_ptr<Exchange>& exchange, bool fresh) {
  std::shared_ptr<PeerConnection> connection;
  if (fresh || pool->idle.empty()) {
    connection =
        std::make_shared<PeerConnection>(context_, this, options_, tls_, exchange->request.url);
  } else {
    connection = std::move(pool->idle.back());
    pool->idle.pop_back();
  }
  pool->busy.emplace(connection.get(), connection);
  connection->Begin(exchange);
}

void PeerThread::Release(const std::shared_ptr<PeerConnection>& connection, bool keep) {
  Pool& pool = pools_[connection->url()];
  pool.busy.erase(connection.get());
  if (keep && connection->tls() == tls_) pool.idle.push_back(connection);
  while (!pool.waiting.empty() && pool.busy.size() < options_.connections_most) {
    const std::shared_ptr<Exchange> next = std::move(pool.waiting.front());
    pool.waiting.pop_front();
    if (next->until <= Clock::now()) {
      next->done({.kind = PeerAnswer::Kind::kTimedOut, .why = "no connection was free in time"});
      continue;
    }
    Begin(&pool, next, /*fresh=*/false);
  }
}

void PeerThread::Repeat(const std::shared_ptr<Exchange>& exchange) {
  Begin(&pools_[exchange->request.url], exchange, /*fresh=*/true);
}

/// Closes what nobody used for long, and answers what waited for too long.
void PeerThread::Tidy() {
  if (ending_) return;  // the timer was over before it could be cancelled
  constexpr std::chrono::milliseconds kTidyEvery{100};
  const Clock::time_point now = Clock::now();
  std::vector<std::shared_ptr<Exchange>> late;
  std::vector<std::shared_ptr<PeerConnection>> stuck;
  for (auto& [url, pool] : pools_) {
    for (const auto& [raw, connection] : pool.busy) {
      if (connection->IsLate(now)) stuck.push_back(connection);
    }
    std::erase_if(pool.idle, [&, this](const auto& connection) {
      return connection->idle_since() + options_.idle < now;
    });
    const auto is_late = [&](const std::shared_ptr<Exchange>& one) { return one->until <= now; };
    std::copy_if(pool.waiting.begin(), pool.waiting.end(), std::back_inserter(late), is_late);
    std::erase_if(pool.waiting, is_late);
  }
  std::erase_if(pools_, [](const auto& one) {
    return one.second.idle.empty() && one.second.busy.empty() && one.second.waiting.empty();
  });
  for (const auto& connection : stuck) {
    connection->Abort(PeerAnswer::Kind::kTimedOut, "no answer in time");
  }
  for (const auto& exchange : late) {
    exchange->done({.kind = PeerAnswer::Kind::kTimedOut, .why = "no connection was free in time"});
  }
  tidying_.expires_after(kTidyEvery);
  tidying_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) Tidy();
  });
}

void PeerThread::AbortAll() {
  ending_ = true;
  tidying_.cancel();
  for (const auto& timer : std::exchange(timers_, {})) timer->cancel();
  std::map<std::string, Pool> pools = std::move(pools_);
  pools_.clear();
  for (auto& [url, pool] : pools) {
    for (const auto& exchange : pool.waiting) {
      exchange->done(Unsent("the server is shutting down"));
    }
    for (const auto& [raw, connection] : pool.busy) {
      connection->Abort(PeerAnswer::Kind::kBroken, "the server is shutting down");
    }
  }
}

}  // namespace seendb::peers
