#include "http/transport.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace seendb::http {
namespace {

/// Of a body that is read beside its head, before the next connection has its turn.
constexpr size_t kBodyReadHere = 1u << 20;
/// How long an answer may be read at any rate.
constexpr std::chrono::seconds kAnyRate{5};
/// The times of Limits while more comes than can be read; that of a head also at the door.
constexpr int64_t kShortHeaderMs = 2'000;
constexpr int64_t kShortIdleMs = 10'000;
/// A look for what has come that is older than this says too little of when it came.
constexpr std::chrono::milliseconds kLate{20};
/// The kernel's clock of what a connection receives goes by these.
constexpr std::chrono::milliseconds kTcpTick{4};

}  // namespace

Transport::Transport(Arrival* arrival, IoThread* thread, Loop* loop)
    : connection(std::move(arrival->connection)),
      in(&thread->shared->unlimited),
      deadline(After(thread->shared->limits.idle_ms)),
      thread_(thread),
      shared_(thread->shared),
      loop_(loop),
      stream_(std::move(arrival->socket), std::move(arrival->tls)),
      met_at_(arrival->received.empty() ? arrival->came : Clock::time_point()),
      read_at_(Clock::now()),
      came_at_(arrival->came) {
  connection.secure = stream_.secure();
  static_cast<void>(in.Append(arrival->received));  // `unlimited` gives all
}

bool Transport::Read(Bytes* to, size_t room) {
  char* const at = to->Reserve(room);
  if (at == nullptr) return false;
  to_ = to;
  reading_ = true;
  stream_.Read(boost::asio::buffer(at, room),
               [this, held = loop_->shared_from_this()](const boost::system::error_code& ec,
                                                        size_t count) { OnRead(ec, count); });
  return true;
}

bool Transport::ReadRest() {
  char* const at = in.Reserve(kReadBytes);
  if (at == nullptr) return false;
  reading_ = true;
  stream_.ReadRaw(boost::asio::buffer(at, kReadBytes),
                  [this, held = loop_->shared_from_this()](const boost::system::error_code& ec,
                                                           size_t count) { OnRead(ec, count); });
  return true;
}

void Transport::OnRead(const boost::system::error_code& ec, size_t count) {
  reading_ = false;
  read_at_ = Clock::now();
  count_ = count;
  if (closed_) return;
  shared_->counters.bytes_in.fetch_add(count, std::memory_order_relaxed);
  loop_->Came(Loop::Event::kRead, !ec);
}

size_t Transport::Receive() {
  came_at_ = CameAt();
  to_->Commit(count_);
  return std::exchange(count_, 0);
}

void Transport::AwaitReadable() {
  stream_.WaitReadable(
      [this, held = loop_->shared_from_this()](const boost::system::error_code& ec) {
        if (!closed_) loop_->Came(Loop::Event::kRead, !ec);
      });
}

/// So it counts as waiting work before the next head is judged, and it is cheaper.
void Transport::ReadHere(Bytes* to, uint64_t* left) {
  if (stream_.secure()) return;
  for (size_t here = 0; *left > 0 && here < kBodyReadHere;) {
    size_t room = std::max({kBodyReadBytes, to->size(), to->Room()});
    if (int unread = 0; room < *left && ioctl(stream_.descriptor(), FIONREAD, &unread) == 0) {
      room = std::max(room, static_cast<size_t>(unread));
    }
    room = static_cast<size_t>(std::min<uint64_t>(room, *left));
    char* const at = to->Reserve(room);
    if (at == nullptr) return;  // Read refuses it
    const ssize_t count = recv(stream_.descriptor(), at, room, MSG_DONTWAIT);
    if (count <= 0) return;  // nothing more yet, or the peer has closed: the next read tells
    to->Commit(static_cast<size_t>(count));
    *left -= static_cast<uint64_t>(count);
    here += static_cast<size_t>(count);
    shared_->counters.bytes_in.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  }
}

/// Only TCP drops bytes that nobody looks at, and only without TLS.
bool Transport::DropsInKernel() const { return !stream_.secure() && connection.family != AF_UNIX; }

uint64_t Transport::Drop(uint64_t left) {
  const size_t here = std::min<uint64_t>(left, in.size());
  in.Consume(here);
  left -= here;
  while (left > 0 && DropsInKernel()) {
    const size_t most = std::min<uint64_t>(left, size_t{1} << 30);
    const ssize_t count = recv(stream_.descriptor(), nullptr, most, MSG_TRUNC | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return left;
    if (count == 0) return 0;  // the peer has closed, as the next read will tell
    left -= std::min(left, static_cast<uint64_t>(count));
    shared_->counters.bytes_in.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  }
  return left;
}

void Transport::Write(const std::array<boost::asio::const_buffer, 2>& buffers) {
  transfer_until = After(limits().transfer_ms);
  read_until_ = Clock::now() + kAnyRate;
  written_ = 0;
  WroteSome(0);
  stream_.Write(
      buffers,
      [this](const boost::system::error_code& ec, size_t written) -> size_t {
        WroteSome(written);
        return ec ? 0 : 1u << 20;
      },
      [this, held = loop_->shared_from_this()](const boost::system::error_code& ec, size_t count) {
        OnWritten(ec, count);
      });
}

/// So many bytes of what is being written went out. Each gives the peer the time for it by
/// limits.read_bytes_per_s, up to kAnyRate in advance.
void Transport::WroteSome(size_t bytes) {
  const auto now = Clock::now();
  deadline = std::min(now + std::chrono::milliseconds(limits().idle_ms), transfer_until);
  if (const int64_t rate = limits().read_bytes_per_s; rate > 0) {
    const std::chrono::duration<double> worth(static_cast<double>(bytes - written_) /
                                              static_cast<double>(rate));
    const Clock::duration most = kAnyRate;
    read_until_ = std::max(read_until_, now);
    read_until_ += worth < most ? std::chrono::duration_cast<Clock::duration>(worth) : most;
    read_until_ = std::min(read_until_, now + most);
    deadline = std::min(deadline, read_until_);
  }
  written_ = bytes;
}

void Transport::OnWritten(const boost::system::error_code& ec, size_t count) {
  if (closed_) return;
  if (!ec) shared_->counters.bytes_out.fetch_add(count, std::memory_order_relaxed);
  loop_->Came(Loop::Event::kWritten, !ec);
}

void Transport::SayEnd() {
  stream_.SayEnd([this, held = loop_->shared_from_this()](const boost::system::error_code&) {
    if (!closed_) loop_->Came(Loop::Event::kWritten, true);
  });
}

void Transport::Close() {
  if (std::exchange(closed_, true)) return;
  stream_.Close();
}

Arrival Transport::Release() {
  return {.socket = stream_.Release(),
          .connection = std::move(connection),
          .received = std::string(in.view()),
          .came = came_at_};
}

int64_t Transport::HeaderMs() const {
  const int64_t header_ms = limits().header_ms;
  const bool short_of_it = thread_->lane == nullptr || thread_->flooded();
  return short_of_it ? std::min(header_ms, kShortHeaderMs) : header_ms;
}

int64_t Transport::IdleMs() const {
  const int64_t idle_ms = limits().idle_ms;
  return thread_->flooded() ? std::min(idle_ms, kShortIdleMs) : idle_ms;
}

Clock::time_point Transport::CameAt() {
  Clock::time_point at = thread_->CameAfter();
  const Clock::time_point now = Clock::now();
  if (now - at > kLate && !stream_.secure() && connection.family != AF_UNIX) {
    tcp_info info{};
    socklen_t length = sizeof(info);
    if (getsockopt(stream_.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0) {
      const auto ago = std::chrono::milliseconds(info.tcpi_last_data_recv) + kTcpTick;
      at = std::max(at, now - ago);
    }
  }
  const Clock::time_point met = std::exchange(met_at_, Clock::time_point());
  return met == Clock::time_point() ? at : std::min(at, met);
}

}  // namespace seendb::http
