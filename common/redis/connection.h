// redis/connection.h: one connection to one Redis, pipelined.
//
// hiredis writes the commands and reads the replies; the sockets and TLS are Asio's and OpenSSL's,
// because Debian 12's hiredis has no TLS.

#pragma once

#include <chrono>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hiredis/hiredis.h>

#include "net/client_stream.h"
#include "redis/address.h"
#include "redis/reply_limit.h"
#include "seendb/status.h"

namespace seendb::redis {

/// Words of one command, borrowed for the call that takes them.
using Words = std::span<const std::string_view>;

/// A reply, an error of Redis among them. Owns it.
class Reply {
 public:
  Reply() = default;
  explicit Reply(redisReply* reply) : reply_(reply) {}

  const redisReply* get() const { return reply_.get(); }
  /// Redis refused the command.
  bool is_error() const { return reply_ && reply_->type == REDIS_REPLY_ERROR; }
  bool is_nil() const { return !reply_ || reply_->type == REDIS_REPLY_NIL; }
  bool is_array() const { return reply_ && reply_->type == REDIS_REPLY_ARRAY; }
  /// The text of a string, a status or an error; empty otherwise.
  std::string_view text() const { return reply_ ? TextOf(*reply_) : std::string_view(); }
  /// The elements of an array; none otherwise.
  std::span<redisReply* const> elements() const {
    return reply_ ? ElementsOf(*reply_) : std::span<redisReply* const>();
  }
  /// An integer; 0 otherwise.
  long long integer() const {
    return reply_ && reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0;
  }
  /// kInvalidArgument: Redis refused the command as it is. kForbidden: it asks for a password or
  /// for a right (ACL). kUnavailable: it can't now (LOADING, CLUSTERDOWN, BUSY, MASTERDOWN).
  Status status() const;

  static std::string_view TextOf(const redisReply& reply);
  static std::span<redisReply* const> ElementsOf(const redisReply& reply);

 private:
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> reply_;
};

/// See the head of this file. After a failure it is broken: make another. Threads: one.
class Connection {
 public:
  explicit Connection(std::chrono::milliseconds timeout);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Connects, logs in and chooses the database. kUnavailable, kForbidden; kInvalidArgument: a file
  /// of `files` or the number of the database.
  Status Open(const Address& address, const net::TlsFiles& files);
  /// Queues a command.
  void Append(Words words);
  /// Sends what is queued. kUnavailable.
  Status Flush();
  /// The reply to the oldest command without one. kUnavailable: none came in time (each part of it
  /// within the timeout, all of it within four), the connection broke, or what came is not Redis's
  /// protocol, or more than the command asked for (LimitOf), or came before anything was asked.
  Result<Reply> Next();
  /// Append, Flush and Next.
  Result<Reply> Run(Words words);
  Result<Reply> Run(std::initializer_list<std::string_view> words) {
    return Run(Words(words.begin(), words.size()));
  }

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
  };
  /// What the reply that is being read may still be; hiredis asks before it makes an array.
  struct Reading {
    redisReplyObjectFunctions* made_by = nullptr;
    size_t elements_left = 0, bytes_left = 0;
    bool too_much = false;
  };
  template <typename Count>
  static void* MakeArray(const redisReadTask* task, Count elements);
  Status TooMuch() const;

  const std::chrono::milliseconds timeout_;
  net::ClientStream stream_;
  Reading reading_;
  redisReplyObjectFunctions functions_;
  std::deque<ReplyLimit> asked_;  // of commands without a reply
  bool begun_ = false;            // reading_ is of the oldest of them
  bool answered_ = false;         // there was a reply
  bool unasked_ = false;          // something came that nobody asked for
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::string queued_;
  std::vector<char> received_;
};

}  // namespace seendb::redis
