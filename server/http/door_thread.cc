#include "http/door_thread.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "http/probe.h"
#include "http/session.h"

namespace seendb::http {
namespace {

/// Connections accepted before anything else has its turn.
constexpr int kAcceptedPerTurn = 64;
/// Connections beyond the limit that may ask how the process is, or read their 503; more are closed
/// without an answer.
constexpr int64_t kBeyondLimit = 64;
/// How long first bytes may take beyond the limit of connections.
constexpr std::chrono::seconds kBeyondLimitWait{1};
/// How long nobody is accepted where there are no descriptors.
constexpr std::chrono::milliseconds kNoDescriptorWait{50};

}  // namespace

DoorThread::DoorThread(Shared* shared) : shared_(shared), thread_(shared, /*the_lane=*/nullptr) {}

void DoorThread::Accept(Entrance* entrance) {
  entrance->acceptor.async_wait(boost::asio::socket_base::wait_read,
                                [this, entrance](const boost::system::error_code& ec) {
                                  if (!ec && entrance->acceptor.is_open()) AcceptSome(entrance);
                                });
}

void DoorThread::AcceptSome(Entrance* entrance) {
  for (int i = 0; i < kAcceptedPerTurn; ++i) {
    const int descriptor =
        accept4(entrance->acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      Welcome(descriptor, *entrance);
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno == EAGAIN) break;
    // Out of descriptors, most likely: wait for some to come back.
    entrance->pause.expires_after(kNoDescriptorWait);
    entrance->pause.async_wait([this, entrance](const boost::system::error_code& stopped) {
      if (!stopped && entrance->acceptor.is_open()) Accept(entrance);
    });
    return;
  }
  Accept(entrance);
}

void DoorThread::Welcome(int descriptor, const Entrance& by) {
  Arrival arrival{.socket = Stream::Socket(thread_.io, Stream::Protocol(by.family, 0), descriptor),
                  .connection = {.door = by.door, .family = by.family}};
  if (!CountIn(&arrival)) return;
  if (by.door != Door::kUnix) {
    boost::system::error_code ignored;
    arrival.socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    arrival.tls = shared_->tls.Get();
  }
  if (arrival.tls && AllFull(*shared_)) return TurnAway(std::move(arrival));
  if (arrival.tls) return HandOver(std::move(arrival), shared_);
  if (arrival.over_share) return ServeHere(std::move(arrival));
  const auto until =
      Clock::now() + (arrival.beyond_limit ? Clock::duration(kBeyondLimitWait)
                                           : std::chrono::milliseconds(shared_->limits.idle_ms));
  const auto guest = std::make_shared<Guest>(this, std::move(arrival), until);
  guests_.push_back(guest);
  guest->place = std::prev(guests_.end());
  thread_.AddIdle(guest.get());
  Await(guest);
}

/// Counts the connection; false where there are too many, and it has to go at once.
bool DoorThread::CountIn(Arrival* arrival) {
  ListenerCounters& counters = shared_->counters;
  const auto limit = static_cast<int64_t>(shared_->limits.connections);
  const int64_t open = counters.open.fetch_add(1, std::memory_order_relaxed);
  counters.opened.fetch_add(1, std::memory_order_relaxed);
  if (open >= limit + kBeyondLimit) {
    counters.open.fetch_sub(1, std::memory_order_relaxed);
    counters.refused.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  arrival->beyond_limit = open >= limit && !MakeRoom();
  Connection& connection = arrival->connection;
  connection.peer = Stream::PeerName(arrival->socket);
  if (connection.door != Door::kUnix) {  // its peers have no addresses
    arrival->counted_peer = shared_->peers.Enter(connection.peer);
    arrival->over_share = !arrival->counted_peer;
  }
  if (arrival->over_share) counters.refused.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Has a connection closed that waits for a request: the one that waits longest on the thread that
/// has most of them. Those at the door go at once, the others when their thread comes to it. False
/// where none waits.
bool DoorThread::MakeRoom() {
  const auto count = [](IoThread* thread) {
    return thread->idle_count.load(std::memory_order_relaxed);
  };
  IoThread* most = &thread_;
  for (IoThread* const thread : shared_->io_threads) {
    if (count(thread) > count(most)) most = thread;
  }
  if (count(most) == 0) return false;
  if (most == &thread_) {
    most->CloseLongestIdle();
  } else {
    boost::asio::post(most->io, [most] { most->CloseLongestIdle(); });
  }
  return true;
}

void DoorThread::Await(std::shared_ptr<Guest> guest) {
  Stream::Socket& socket = guest->arrival.socket;
  socket.async_wait(Stream::Socket::wait_read,
                    [this, guest = std::move(guest)](const boost::system::error_code& ec) {
                      if (!ec && guest->here) LookAt(guest);
                    });
}

void DoorThread::LookAt(std::shared_ptr<Guest> guest) {
  char bytes[kProbeBytes];
  const ssize_t count = recv(guest->arrival.socket.native_handle(), bytes, sizeof(bytes), MSG_PEEK);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Await(std::move(guest));
  if (count <= 0) return Close(guest.get());
  const FirstBytes said = JudgeFirstBytes({bytes, static_cast<size_t>(count)});
  Arrival arrival = std::move(Take(guest.get())->arrival);
  arrival.came = Clock::now();
  if (said != FirstBytes::kOther || arrival.beyond_limit) return ServeHere(std::move(arrival));
  if (AllFull(*shared_)) return TurnAway(std::move(arrival));
  HandOver(std::move(arrival), shared_);
}

/// Closes with a reset, which costs the least.
void DoorThread::TurnAway(Arrival arrival) {
  shared_->admission->CountAtDoor();
  boost::system::error_code ignored;
  arrival.socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  CountOut(arrival);
}

void DoorThread::CountOut(const Arrival& arrival) {
  if (arrival.counted_peer) shared_->peers.Leave(arrival.connection.peer);
  shared_->counters.open.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<DoorThread::Guest> DoorThread::Take(Guest* guest) {
  thread_.RemoveIdle(guest);
  guest->here = false;
  std::shared_ptr<Guest> taken = std::move(*guest->place);
  guests_.erase(taken->place);
  return taken;
}

void DoorThread::Close(Guest* guest) {
  const Arrival arrival = std::move(Take(guest)->arrival);
  CountOut(arrival);
}

void DoorThread::ServeHere(Arrival arrival) {
  std::make_shared<Session>(std::move(arrival), &thread_)->Start();
}

void DoorThread::CloseOverdue(Clock::time_point now) {
  for (auto next = guests_.begin(); next != guests_.end();) {
    Guest* const guest = (next++)->get();
    if (now < guest->deadline) continue;
    shared_->counters.timed_out.fetch_add(1, std::memory_order_relaxed);
    Close(guest);
  }
}

void DoorThread::CloseGuests() {
  while (!guests_.empty()) Close(guests_.front().get());
}

}  // namespace seendb::http
