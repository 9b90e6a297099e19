// Redis's Bloom commands (a module, or Redis 8): one filter a user and month, asked by BF.MEXISTS,
// pipelined over the months.

#include "peers/redis.h"

namespace seendb::perf {
namespace {

class BloomSession final : public Session {
 public:
  BloomSession(const std::string& address, std::string prefix)
      : redis_(address), prefix_(std::move(prefix)) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    for (int month = 0; month < kWindow; ++month) {
      const std::string key = prefix_ + question.user_text + "/" + std::to_string(month);
      words_ = {"BF.MEXISTS", key};
      words_.insert(words_.end(), question.texts.begin(), question.texts.end());
      redis_.Append(words_);
    }
    seen_.assign(question.texts.size(), 0);
    for (int month = 0; month < kWindow; ++month) {
      const Reply reply = redis_.Next();
      for (size_t i = 0; i < reply->elements; ++i) {
        if (reply->element[i]->integer != 0) seen_[i] = 1;
      }
    }
    unseen->clear();
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] == 0) unseen->push_back(static_cast<uint32_t>(i));
    }
  }

 private:
  RedisConnection redis_;
  const std::string prefix_;
  std::vector<std::string_view> words_;
  std::vector<uint8_t> seen_;
};

class RedisBloom final : public RedisPeer {
 public:
  explicit RedisBloom(const PeerOptions& options)
      : RedisPeer(options),
        capacity_(std::to_string(options.items_a_month)),
        fpr_(std::to_string(options.fpr)) {}

  void Add(uint64_t user, int month, std::span<const uint64_t> items) override {
    const std::string key = Keep(KeyOf(std::to_string(user), month));
    std::vector<std::string> texts;
    for (const uint64_t item : items) texts.push_back(TextOf(item));
    std::vector<std::string_view> words = {"BF.INSERT", key,  "CAPACITY", capacity_,
                                           "ERROR",     fpr_, "ITEMS"};
    words.insert(words.end(), texts.begin(), texts.end());
    redis().Run(words);
  }
  void Drain() override {}
  std::unique_ptr<Session> Connect() override {
    return std::make_unique<BloomSession>(address(), prefix());
  }

 private:
  const std::string capacity_, fpr_;
};

}  // namespace

std::unique_ptr<Peer> MakeRedisBloom(const PeerOptions& options, std::string* why) {
  *why = WhyNoRedis(options);
  if (!why->empty()) return nullptr;
  if (!RedisConnection(options.redis).Knows("BF.MEXISTS")) {
    *why = "the Redis server has no Bloom commands (name one that has with --redis)";
    return nullptr;
  }
  return std::make_unique<RedisBloom>(options);
}

}  // namespace seendb::perf
