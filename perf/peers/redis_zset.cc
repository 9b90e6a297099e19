// Redis sorted sets of raw ids, scored by time: what SeenDB replaces. One set a user.
//
//   redis-zset-range   ZRANGE of the whole set, and a hash set in the client
//   redis-zset-scores  ZMSCORE of the candidates: the set stays in the server

#include <bit>

#include <xxhash.h>

#include "peers/redis.h"

namespace seendb::perf {
namespace {

// A hash set of borrowed strings: open addressing, at most half full, XXH3; no allocation a string.
class TextSet {
 public:
  void Clear(size_t count) {
    const size_t size = std::bit_ceil(count * 2 + 2);
    slots_.assign(size, {});
    mask_ = size - 1;
  }
  void Insert(std::string_view text) {
    const uint64_t hash = Hash(text);
    size_t at = hash & mask_;
    while (slots_[at].data != nullptr) at = (at + 1) & mask_;
    slots_[at] = {text.data(), static_cast<uint32_t>(text.size()),
                  static_cast<uint32_t>(hash >> 32)};
  }
  bool Contains(std::string_view text) const {
    const uint64_t hash = Hash(text);
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask_; slots_[at].data != nullptr; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.tag == tag && std::string_view(slot.data, slot.size) == text) return true;
    }
    return false;
  }

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0;
    uint32_t tag = 0;
  };
  static uint64_t Hash(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }
  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

class RangeSession final : public Session {
 public:
  RangeSession(const std::string& address, std::string prefix)
      : redis_(address), prefix_(std::move(prefix)) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    const std::string key = prefix_ + question.user_text;
    const Reply reply = redis_.Run({"ZRANGE", key, "0", "-1"});
    set_.Clear(reply->elements);
    for (size_t i = 0; i < reply->elements; ++i) {
      set_.Insert({reply->element[i]->str, reply->element[i]->len});
    }
    unseen->clear();
    for (size_t i = 0; i < question.texts.size(); ++i) {
      if (!set_.Contains(question.texts[i])) unseen->push_back(static_cast<uint32_t>(i));
    }
  }

 private:
  RedisConnection redis_;
  const std::string prefix_;
  TextSet set_;
};

class ScoresSession final : public Session {
 public:
  ScoresSession(const std::string& address, std::string prefix)
      : redis_(address), prefix_(std::move(prefix)) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    const std::string key = prefix_ + question.user_text;
    words_ = {"ZMSCORE", key};
    words_.insert(words_.end(), question.texts.begin(), question.texts.end());
    const Reply reply = redis_.Run(words_);
    unseen->clear();
    for (size_t i = 0; i < reply->elements; ++i) {
      if (reply->element[i]->type == REDIS_REPLY_NIL) unseen->push_back(static_cast<uint32_t>(i));
    }
  }

 private:
  RedisConnection redis_;
  const std::string prefix_;
  std::vector<std::string_view> words_;
};

class RedisZset final : public RedisPeer {
 public:
  RedisZset(const PeerOptions& options, bool scores) : RedisPeer(options), scores_(scores) {}

  void SetTime(int64_t now_ms) override { score_ = std::to_string(now_ms); }
  void Add(uint64_t user, int, std::span<const uint64_t> items) override {
    constexpr size_t kMembers = 1'000;  // a command
    const std::string key = Keep(KeyOf(std::to_string(user)));
    for (size_t begin = 0; begin < items.size(); begin += kMembers) {
      const auto piece = items.subspan(begin, std::min(kMembers, items.size() - begin));
      std::vector<std::string> texts;
      for (const uint64_t item : piece) texts.push_back(TextOf(item));
      std::vector<std::string_view> words = {"ZADD", key};
      for (const std::string& text : texts) {
        words.push_back(score_);
        words.push_back(text);
      }
      redis().Append(words);
      if (++pending_ >= 64) Drain();
    }
  }
  void Drain() override {
    for (; pending_ > 0; --pending_) redis().Next();
  }
  std::unique_ptr<Session> Connect() override {
    if (scores_) return std::make_unique<ScoresSession>(address(), prefix());
    return std::make_unique<RangeSession>(address(), prefix());
  }

 private:
  const bool scores_;
  std::string score_ = std::to_string(kStartMs);
  size_t pending_ = 0;
};

}  // namespace

std::unique_ptr<Peer> MakeZsetRange(const PeerOptions& options, std::string* why) {
  *why = WhyNoRedis(options);
  return why->empty() ? std::make_unique<RedisZset>(options, false) : nullptr;
}
std::unique_ptr<Peer> MakeZsetScores(const PeerOptions& options, std::string* why) {
  *why = WhyNoRedis(options);
  return why->empty() ? std::make_unique<RedisZset>(options, true) : nullptr;
}

}  // namespace seendb::perf
