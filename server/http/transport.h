// server/http/transport.h: the bytes of a connection, in and out, and the times that the peer has
// for them. One read and one write may be under way at a time; the loop is told of their ends.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <boost/asio/buffer.hpp>

#include "http/arrival.h"
#include "http/bytes.h"
#include "http/connection.h"
#include "http/io_thread.h"
#include "http/loop.h"
#include "http/stream.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's I/O thread.
class Transport {
 public:
  /// A read buffer's least free space, and its size while a body streams through it.
  static constexpr size_t kReadBytes = 16u << 10;
  static constexpr size_t kBodyReadBytes = 64u << 10;

  /// Takes the socket, the facts and the first bytes of `*arrival`. `thread` and `loop` outlive it.
  Transport(Arrival* arrival, IoThread* thread, Loop* loop);
  ~Transport() { Close(); }

  /// Reads some bytes, up to `room`, into `*to`, which stays until then. False: no memory.
  bool Read(Bytes* to, size_t room);
  /// A read is under way; it holds the buffer.
  bool reading() const { return reading_; }
  /// Puts what was read into its buffer; returns how much.
  size_t Receive();
  /// Reads bytes that nobody looks at, past TLS. False: no memory.
  bool ReadRest();
  /// Waits until something has come, past TLS.
  void AwaitReadable();
  /// Reads what has come of `*left` bytes of a body, without a turn of the loop; none under TLS.
  void ReadHere(Bytes* to, uint64_t* left);
  /// Takes up to `left` bytes away, of what was received and of what is in the kernel where that
  /// can drop it; returns what is left of them.
  uint64_t Drop(uint64_t left);
  /// Whether bytes can be dropped without being read.
  bool DropsInKernel() const;

  /// Writes all of `buffers`, which stay until then.
  void Write(const std::array<boost::asio::const_buffer, 2>& buffers);
  /// Tells a peer under TLS that nothing more comes.
  void SayEnd();
  /// Closes the socket; what is under way ends without the loop.
  void Close();
  /// The connection on its way to another thread; this one is to be closed. Precondition: as
  /// Stream::Release.
  Arrival Release();

  /// When what was just read or can be read came, at the earliest.
  Clock::time_point CameAt();
  Clock::time_point came_at() const { return came_at_; }  ///< of what was received last
  Clock::time_point read_at() const { return read_at_; }  ///< when a read ended last

  /// How long a head may take from its first byte on, and how long nothing may come.
  int64_t HeaderMs() const;
  int64_t IdleMs() const;
  static Clock::time_point After(int64_t ms) {
    return Clock::now() + std::chrono::milliseconds(ms);
  }

  Stream& stream() { return stream_; }
  bool secure() const { return stream_.secure(); }
  IoThread* thread() const { return thread_; }
  const Limits& limits() const { return shared_->limits; }

  Connection connection;             ///< what is known of it
  Bytes in;                          ///< received, not parsed
  Clock::time_point deadline;        ///< of what is waited for
  Clock::time_point transfer_until;  ///< of the body, or of the answer that is written

 private:
  void OnRead(const boost::system::error_code& ec, size_t count);
  void OnWritten(const boost::system::error_code& ec, size_t count);
  void WroteSome(size_t bytes);

  IoThread* const thread_;
  Shared* const shared_;
  Loop* const loop_;
  Stream stream_;
  bool closed_ = false;
  bool reading_ = false;
  Bytes* to_ = nullptr;           // of the last read
  size_t count_ = 0;              // bytes that it brought
  size_t written_ = 0;            // of what is being written
  Clock::time_point read_until_;  // the peer has to have read more of the answer by then
  Clock::time_point met_at_;      // when its first bytes came to the door, unread; zero: taken
  Clock::time_point read_at_;
  Clock::time_point came_at_;
};

}  // namespace seendb::http
