#include "http/listener.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/session.h"

namespace seendb::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// How often deadlines are looked at.
constexpr std::chrono::milliseconds kTick{100};
constexpr int64_t kNeverMs = 24 * 3'600'000;
/// Connections beyond the limit that may ask how the process is, or read their 503; more are closed
/// without an answer.
constexpr int64_t kBeyondLimit = 64;
/// The longest path that a socket can have.
constexpr size_t kUnixPathMost = sizeof(sockaddr_un::sun_path) - 1;

std::string HttpDate() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  const size_t length = std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return std::string(text, length);
}

std::string ToText(const tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

}  // namespace

Listener::Listener(Service* service, const ListenerOptions& options)
    : options_(options), shared_(service, options.limits, options.workers) {
  for (size_t i = 0; i < std::max<size_t>(1, options.threads); ++i) {
    io_threads_.push_back(std::make_unique<IoThread>(&shared_));
    io_threads_.back()->date = HttpDate();
    ticks_.push_back(std::make_unique<asio::steady_timer>(io_threads_.back()->io));
  }
}

Listener::~Listener() {
  StopWorkers(kNeverMs);
  Stop();
}

std::optional<std::string> Listener::Open(const std::string& host, uint16_t port, Door door) {
  boost::system::error_code ec;
  asio::io_context& io = io_threads_.front()->io;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, ec);
  if (ec || found.empty()) return "can't resolve " + host + ": " + ec.message();
  const tcp::endpoint endpoint = found.begin()->endpoint();
  auto at = std::make_unique<Entrance>(io, door);
  if (const auto error = Listen(endpoint, at.get())) {
    return "can't listen on " + ToText(endpoint) + ": " + *error;
  }
  tcp::endpoint bound;
  const Protocol::endpoint local = at->acceptor.local_endpoint(ec);
  std::memcpy(bound.data(), local.data(), local.size());
  at->address = ToText(bound);
  entrances_.push_back(std::move(at));
  return std::nullopt;
}

std::optional<std::string> Listener::OpenUnix(const std::string& path) {
  using asio::local::stream_protocol;
  boost::system::error_code ec;
  asio::io_context& io = io_threads_.front()->io;
  const std::string failed = "can't listen on unix:" + path + ": ";
  struct stat there {};
  if (path.size() > kUnixPathMost) return failed + "the path is too long";
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return failed + "something is there that is no socket";
    stream_protocol::socket probe(io);
    probe.connect(stream_protocol::endpoint(path), ec);
    if (!ec) return failed + "a process listens there";
    if (unlink(path.c_str()) != 0) return failed + std::strerror(errno);
  }
  auto at = std::make_unique<Entrance>(io, Door::kUnix);
  if (const auto error = Listen(stream_protocol::endpoint(path), at.get())) return failed + *error;
  at->address = path;
  entrances_.push_back(std::move(at));
  return std::nullopt;
}

/// The message of a failure.
std::optional<std::string> Listener::Listen(const Protocol::endpoint& endpoint, Entrance* at) {
  boost::system::error_code ec;
  const bool has_path = at->door == Door::kUnix;
  at->acceptor.open(endpoint.protocol(), ec);
  if (!ec && !has_path) at->acceptor.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) at->acceptor.bind(endpoint, ec);
  if (!ec && has_path) {  // before it listens: nobody can connect until then
    const auto* const address = reinterpret_cast<const sockaddr_un*>(endpoint.data());
    if (chmod(address->sun_path, 0660) != 0) return std::strerror(errno);
  }
  if (!ec) at->acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return ec.message();
  return std::nullopt;
}

const std::string& Listener::address(Door door) const {
  static const std::string kNone;
  for (const auto& entrance : entrances_) {
    if (entrance->door == door) return entrance->address;
  }
  return kNone;
}

void Listener::SetTls(TlsContext tls) {
  const MutexLock lock(tls_mutex_);
  tls_ = std::move(tls);
}

void Listener::Start() {
  for (const auto& entrance : entrances_) Accept(entrance.get());
  for (size_t i = 0; i < io_threads_.size(); ++i) {
    IoThread* const thread = io_threads_[i].get();
    Tick(thread, ticks_[i].get());
    threads_.emplace_back([thread] { thread->io.run(); });
  }
}

void Listener::Accept(Entrance* at) {
  IoThread* const thread = io_threads_[next_thread_++ % io_threads_.size()].get();
  at->acceptor.async_accept(
      thread->io, [this, at, thread](const boost::system::error_code& ec, Protocol::socket socket) {
        Accepted(ec, std::move(socket), at, thread);
      });
}

void Listener::Accepted(const boost::system::error_code& ec, Protocol::socket socket, Entrance* at,
                        IoThread* thread) {
  if (!at->acceptor.is_open()) return;
  if (ec) {  // out of descriptors, most likely: wait for some to come back
    at->pause.expires_after(std::chrono::milliseconds(50));
    at->pause.async_wait([this, at](const boost::system::error_code& stopped) {
      if (!stopped && at->acceptor.is_open()) Accept(at);
    });
    return;
  }
  ListenerCounters& counters = shared_.counters;
  const auto limit = static_cast<int64_t>(shared_.limits.connections);
  const int64_t open = counters.open.fetch_add(1, std::memory_order_relaxed);
  counters.opened.fetch_add(1, std::memory_order_relaxed);
  if (open >= limit + kBeyondLimit) {
    counters.open.fetch_sub(1, std::memory_order_relaxed);
    counters.refused.fetch_add(1, std::memory_order_relaxed);
    boost::system::error_code ignored;
    socket.close(ignored);
  } else {
    boost::system::error_code ignored;
    TlsContext tls;
    if (at->door != Door::kUnix) {
      socket.set_option(tcp::no_delay(true), ignored);
      const MutexLock lock(tls_mutex_);
      tls = tls_;
    }
    auto session = std::make_shared<Session>(std::move(socket), std::move(tls), at->door, thread);
    const bool starts = open < limit || MakeRoom();
    asio::post(thread->io,
               [session, starts] { starts ? session->Start() : session->StartBeyondLimit(); });
  }
  Accept(at);
}

/// Has a connection closed that waits for a request: the one that waits longest on the thread that
/// has most of them. False where none does.
bool Listener::MakeRoom() {
  const auto count = [](const std::unique_ptr<IoThread>& thread) {
    return thread->idle_count.load(std::memory_order_relaxed);
  };
  const auto most =
      std::max_element(io_threads_.begin(), io_threads_.end(),
                       [&](const auto& a, const auto& b) { return count(a) < count(b); });
  if (count(*most) == 0) return false;
  asio::post((*most)->io, [this, at = most->get()] {
    if (at->idle.empty()) return;  // a request came: for a moment there is one too many
    shared_.counters.evicted.fetch_add(1, std::memory_order_relaxed);
    static_cast<Session&>(at->idle.front()).Abort();
  });
  return true;
}

/// Renews the date and closes the slow, for ever.
void Listener::Tick(IoThread* thread, asio::steady_timer* timer) {
  timer->expires_after(kTick);
  timer->async_wait([this, thread, timer](const boost::system::error_code& ec) {
    if (ec) return;
    const auto now = Session::Clock::now();
    thread->date = HttpDate();
    std::vector<std::shared_ptr<Session>> overdue;
    for (Session* const session : thread->sessions) {
      if (session->Overdue(now)) overdue.push_back(session->shared_from_this());
    }
    for (const auto& session : overdue) session->TimeOut();
    Tick(thread, timer);
  });
}

void Listener::BeginDrain() { shared_.draining = true; }

bool Listener::WaitIdle(int64_t timeout_ms) {
  const auto until = Session::Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (shared_.counters.in_flight.load() > 0) {
    if (Session::Clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool Listener::StopWorkers(int64_t timeout_ms) {
  const auto until = Session::Clock::now() + std::chrono::milliseconds(timeout_ms);
  bool all = true;
  for (WorkerPool* const pool : {&shared_.engine, &shared_.slow, &shared_.probe}) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Session::Clock::now());
    all = pool->Stop(std::max<int64_t>(0, left.count())) && all;
  }
  return all;
}

void Listener::Stop() {
  if (stopped_) return;
  stopped_ = true;
  for (size_t i = 0; i < io_threads_.size(); ++i) {
    IoThread* const thread = io_threads_[i].get();
    asio::steady_timer* const tick = ticks_[i].get();
    asio::post(thread->io, [this, thread, tick, first = i == 0] {
      if (first) CloseEntrances();
      tick->cancel();
      std::vector<std::shared_ptr<Session>> all;
      for (Session* const session : thread->sessions) all.push_back(session->shared_from_this());
      for (const auto& session : all) session->Abort();
      thread->io.stop();
    });
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Listener::CloseEntrances() {
  for (const auto& entrance : entrances_) {
    boost::system::error_code ignored;
    entrance->acceptor.close(ignored);
    entrance->pause.cancel();
    if (entrance->door == Door::kUnix) unlink(entrance->address.c_str());
  }
}

std::optional<std::pair<std::string, uint16_t>> ParseHostPort(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::string host = text.substr(0, colon);
  if (host.front() == '[') {
    if (host.back() != ']' || host.size() < 4) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return std::nullopt;
  }
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc() || stop != end) return std::nullopt;
  return std::make_pair(std::move(host), port);
}

}  // namespace seendb::http
