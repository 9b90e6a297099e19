// server/http/door_thread.h: the thread that connections come in by.
//
// It accepts at all listeners and keeps a connection until its first bytes have come. A request
// that watches the process is answered here, so no work that an I/O thread has queued delays it.
// Any other connection goes to the I/O thread that has the least work queued, with nothing read.
// Under TLS first bytes say nothing: such a connection goes to an I/O thread at once.
//
//   accepted -> Guest: waits for first bytes -> Session here (a probe), until a request is none
//                                            -> HandOver (any other)
//
// Threads: its own.

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/arrival.h"
#include "http/io_thread.h"

namespace seendb::http {

/// One listening socket.
struct Entrance {
  Entrance(boost::asio::io_context& io, Door at) : door(at), acceptor(io), pause(io) {}

  const Door door;
  int family = 0;  ///< AF_INET, AF_INET6 or AF_UNIX
  boost::asio::basic_socket_acceptor<Stream::Protocol> acceptor;
  boost::asio::steady_timer pause;  ///< while there is no descriptor for another connection
  std::string address;              ///< that it is bound to
};

/// See the head of this file.
class DoorThread {
 public:
  explicit DoorThread(Shared* shared);
  DoorThread(const DoorThread&) = delete;
  DoorThread& operator=(const DoorThread&) = delete;

  /// Its sessions and handlers.
  IoThread* thread() { return &thread_; }
  /// Connections at the door that wait for a request. Any thread.
  size_t waiting() const { return thread_.idle_count.load(std::memory_order_relaxed); }
  /// Begins to accept at `entrance`, which is borrowed.
  void Accept(Entrance* entrance);
  /// Closes the connections whose first bytes are overdue.
  void CloseOverdue(Clock::time_point now);
  /// Closes all whose first bytes have not come.
  void CloseGuests();

 private:
  /// A connection that has said nothing.
  struct Guest final : Idler {
    Guest(DoorThread* at, Arrival who, Clock::time_point until)
        : door(at), arrival(std::move(who)), deadline(until) {}
    void MakeRoom() override { door->Close(this); }

    DoorThread* const door;
    Arrival arrival;
    const Clock::time_point deadline;
    std::list<std::shared_ptr<Guest>>::iterator place;
    bool here = true;  // false: it was closed, or went on
  };

  void AcceptSome(Entrance* entrance);
  void Welcome(int descriptor, const Entrance& by);
  bool CountIn(Arrival* arrival);
  bool MakeRoom();
  void Await(std::shared_ptr<Guest> guest);
  void LookAt(std::shared_ptr<Guest> guest);
  std::shared_ptr<Guest> Take(Guest* guest);
  void Close(Guest* guest);
  void TurnAway(Arrival arrival);
  void CountOut(const Arrival& arrival);
  void ServeHere(Arrival arrival);

  Shared* const shared_;
  std::list<std::shared_ptr<Guest>> guests_;
  IoThread thread_;  // last: its handlers reach for the others
};

}  // namespace seendb::http
