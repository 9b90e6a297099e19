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
    : options_(options),
      shared_(service, options.limits, options.workers,
              options.admission != nullptr ? options.admission : &own_admission_.emplace()),
      door_(&shared_) {
  for (size_t i = 0; i < std::max<size_t>(1, options.threads); ++i) {
    admission::Lane* const lane = shared_.admission->AddLane({"io" + std::to_string(i)});
    io_threads_.push_back(std::make_unique<IoThread>(&shared_, lane));
    shared_.io_threads.push_back(io_threads_.back().get());
  }
  for (IoThread* const thread : AllThreads()) {
    thread->date = HttpDate();
    ticks_.push_back(std::make_unique<asio::steady_timer>(thread->io));
  }
}

Listener::~Listener() {
  StopWorkers(kNeverMs);
  Stop();
}

std::optional<std::string> Listener::Open(const std::string& host, uint16_t port, Door door) {
  boost::system::error_code ec;
  asio::io_context& io = door_.thread()->io;
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
  asio::io_context& io = door_.thread()->io;
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
  if (!ec) at->acceptor.listen(static_cast<int>(shared_.limits.backlog), ec);
  if (!ec) at->acceptor.non_blocking(true, ec);
  at->family = endpoint.protocol().family();
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

void Listener::SetTls(TlsContext tls) { shared_.tls.Set(std::move(tls)); }

std::vector<IoThread*> Listener::AllThreads() {
  std::vector<IoThread*> all = {door_.thread()};
  for (const auto& thread : io_threads_) all.push_back(thread.get());
  return all;
}

void Listener::Start(bool held) {
  held_ = held;
  for (const auto& entrance : entrances_) {
    if (!held || entrance->door == Door::kAdmin) door_.Accept(entrance.get());
  }
  const std::vector<IoThread*> all = AllThreads();
  for (size_t i = 0; i < all.size(); ++i) {
    Tick(all[i], ticks_[i].get());
    threads_.emplace_back([thread = all[i]] { thread->Run(); });
  }
}

void Listener::Admit() {
  if (!held_.exchange(false)) return;
  asio::post(door_.thread()->io, [this] {
    for (const auto& entrance : entrances_) {
      if (entrance->door != Door::kAdmin) door_.Accept(entrance.get());
    }
  });
}

/// Renews the date, closes the slow, and takes memory from the idle, for ever.
void Listener::Tick(IoThread* thread, asio::steady_timer* timer) {
  timer->expires_after(kTick);
  timer->async_wait([this, thread, timer](const boost::system::error_code& ec) {
    if (ec) return;
    const auto now = Session::Clock::now();
    thread->date = HttpDate();
    std::vector<std::shared_ptr<Session>> overdue;
    for (Session* const session : thread->sessions) {
      if (session->Overdue(now)) {
        overdue.push_back(session->Self());
      } else {
        session->Shrink(now);
      }
    }
    for (const auto& session : overdue) session->TimeOut();
    if (thread == door_.thread()) door_.CloseOverdue(now);
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
  const std::vector<IoThread*> all_threads = AllThreads();
  for (size_t i = 0; i < all_threads.size(); ++i) {
    IoThread* const thread = all_threads[i];
    asio::steady_timer* const tick = ticks_[i].get();
    asio::post(thread->io, [this, thread, tick] {
      if (thread == door_.thread()) {
        CloseEntrances();
        door_.CloseGuests();
      }
      tick->cancel();
      std::vector<std::shared_ptr<Session>> all;
      for (Session* const session : thread->sessions) all.push_back(session->Self());
      for (const auto& session : all) session->Close();
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
