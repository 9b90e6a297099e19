#include "peers/redis.h"

#include <algorithm>
#include <atomic>

#include <unistd.h>

namespace seendb::perf {
namespace {

std::string NewPrefix() {
  static std::atomic<int> made{0};
  return "seendb-perf/" + std::to_string(getpid()) + "/" + std::to_string(made++) + "/";
}

}  // namespace

RedisConnection::RedisConnection(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) Fail("--redis wants HOST:PORT");
  context_.reset(
      redisConnect(address.substr(0, colon).c_str(), std::atoi(address.c_str() + colon + 1)));
  if (context_ == nullptr || context_->err != 0) Fail("no Redis at " + address);
}

void RedisConnection::Append(std::span<const std::string_view> words) {
  words_.clear();
  sizes_.clear();
  for (const std::string_view word : words) {
    words_.push_back(word.data());
    sizes_.push_back(word.size());
  }
  const auto count = static_cast<int>(words.size());
  if (redisAppendCommandArgv(context_.get(), count, words_.data(), sizes_.data()) != REDIS_OK) {
    Fail("Redis: a command can't be written");
  }
}

Reply RedisConnection::Next() {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
    Fail(std::string("Redis: ") + context_->errstr);
  }
  Reply owned(static_cast<redisReply*>(reply));
  if (owned->type == REDIS_REPLY_ERROR) Fail(std::string("Redis: ") + owned->str);
  return owned;
}

Reply RedisConnection::Run(std::span<const std::string_view> words) {
  Append(words);
  return Next();
}

bool RedisConnection::Knows(std::string_view command) {
  const Reply reply = Run({"COMMAND", "INFO", command});
  return reply->elements == 1 && reply->element[0]->type == REDIS_REPLY_ARRAY;
}

RedisPeer::RedisPeer(const PeerOptions& options)
    : address_(options.redis),
      long_ids_(options.long_ids),
      prefix_(NewPrefix()),
      redis_(options.redis) {}

RedisPeer::~RedisPeer() {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  for (const std::string& key : keys_) redis_.Append(std::vector<std::string_view>{"DEL", key});
  for (size_t i = 0; i < keys_.size(); ++i) redis_.Next();
}

std::string RedisPeer::Keep(std::string key) {
  keys_.push_back(key);
  return key;
}

uint64_t RedisPeer::Bytes() {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  for (const std::string& key : keys_) {
    redis_.Append(std::vector<std::string_view>{"MEMORY", "USAGE", key, "SAMPLES", "0"});
  }
  uint64_t bytes = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Reply reply = redis_.Next();
    if (reply->type == REDIS_REPLY_INTEGER) bytes += static_cast<uint64_t>(reply->integer);
  }
  return bytes;
}

std::string WhyNoRedis(const PeerOptions& options) {
  return options.redis.empty() ? "no Redis server was named (--redis HOST:PORT)" : "";
}

}  // namespace seendb::perf
