// peers/redis.h: a connection to Redis for the peers: commands of many arguments, pipelined, any
// error ends the program.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hiredis/hiredis.h>

#include "peers/peer.h"

namespace seendb::perf {

/// A reply, freed with its owner.
struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

/// One blocking connection. Threads: one at a time.
class RedisConnection {
 public:
  /// `address` is HOST:PORT.
  explicit RedisConnection(const std::string& address);

  /// Sends now, with whatever was appended before; Next() reads the replies in order.
  void Append(std::span<const std::string_view> words);
  Reply Next();
  /// Append and Next. An error reply ends the program.
  Reply Run(std::span<const std::string_view> words);
  Reply Run(std::initializer_list<std::string_view> words) {
    return Run(std::span(words.begin(), words.size()));
  }
  /// Whether the server knows a command.
  bool Knows(std::string_view command);

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
  std::vector<const char*> words_;
  std::vector<size_t> sizes_;
};

/// A peer in Redis: its keys carry a prefix of their own and go when it goes.
class RedisPeer : public Peer {
 public:
  explicit RedisPeer(const PeerOptions& options);
  ~RedisPeer() override;
  /// MEMORY USAGE of all its keys, every element of them counted.
  uint64_t Bytes() override;

 protected:
  /// The name of a key, remembered to be counted and removed.
  std::string Keep(std::string key);
  std::string KeyOf(const std::string& user) const { return prefix_ + user; }
  std::string KeyOf(const std::string& user, int month) const {
    return prefix_ + user + "/" + std::to_string(month);
  }
  std::string TextOf(uint64_t item) const {
    return long_ids_ ? LongText(item) : std::to_string(item);
  }
  const std::string& address() const { return address_; }
  const std::string& prefix() const { return prefix_; }
  RedisConnection& redis() { return redis_; }

 private:
  const std::string address_;
  const bool long_ids_;
  const std::string prefix_;
  RedisConnection redis_;
  std::vector<std::string> keys_;  // sorted when asked for
};

/// Why a Redis peer can't run; empty where it can.
std::string WhyNoRedis(const PeerOptions& options);

}  // namespace seendb::perf
