// Bloom filters as plain strings in Redis, one a user and month, read whole and probed in the
// client. The filter and its kernels are SeenDB's own, sized for the month.

#include "filter/block_bloom.h"
#include "filter/hash.h"
#include "filter/sizing.h"
#include "peers/redis.h"

namespace seendb::perf {
namespace {

class BytesSession final : public Session {
 public:
  BytesSession(const std::string& address, std::string prefix, uint64_t blocks)
      : redis_(address), prefix_(std::move(prefix)), blocks_(blocks) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    const size_t count = question.ids.size();
    std::string keys[kWindow];
    std::vector<std::string_view> words = {"MGET"};
    for (int month = 0; month < kWindow; ++month) {
      keys[month] = prefix_ + question.user_text + "/" + std::to_string(month);
      words.push_back(keys[month]);
    }
    redis_.Append(words);
    fingerprints_.resize(count);
    hits_.resize(count);
    seen_.assign(count, 0);
    FingerprintsOf(question.ids, fingerprints_.data());
    const Reply reply = redis_.Next();
    for (size_t m = 0; m < reply->elements; ++m) {
      const redisReply& one = *reply->element[m];
      if (one.type == REDIS_REPLY_NIL) continue;
      if (one.len != blocks_ * kBlockBytes) Fail("a filter in Redis has another size");
      ProbeMany(reinterpret_cast<const uint8_t*>(one.str), blocks_, fingerprints_.data(), count,
                hits_.data());
      for (size_t i = 0; i < count; ++i) seen_[i] |= hits_[i];
    }
    TakeUnseen(seen_, unseen);
  }

 private:
  RedisConnection redis_;
  const std::string prefix_;
  const uint64_t blocks_;
  std::vector<Fingerprint> fingerprints_;
  std::vector<uint8_t> hits_, seen_;
};

class RedisBytes final : public RedisPeer {
 public:
  explicit RedisBytes(const PeerOptions& options)
      : RedisPeer(options), blocks_(BlocksFor(options.items_a_month, options.fpr)) {}

  void Add(uint64_t user, int month, std::span<const uint64_t> items) override {
    const std::string key = Keep(KeyOf(std::to_string(user), month));
    const Reply reply = redis().Run({"GET", key});
    std::string bits;
    if (reply->type == REDIS_REPLY_STRING) bits.assign(reply->str, reply->len);
    bits.resize(blocks_ * kBlockBytes, '\0');
    for (const uint64_t item : items) {
      Insert(reinterpret_cast<uint8_t*>(bits.data()), blocks_, FingerprintOf(IdRef(item)));
    }
    redis().Run({"SET", key, bits});
  }
  void Drain() override {}
  std::unique_ptr<Session> Connect() override {
    return std::make_unique<BytesSession>(address(), prefix(), blocks_);
  }

 private:
  const uint64_t blocks_;
};

}  // namespace

std::unique_ptr<Peer> MakeRedisBytes(const PeerOptions& options, std::string* why) {
  *why = WhyNoRedis(options);
  return why->empty() ? std::make_unique<RedisBytes>(options) : nullptr;
}

}  // namespace seendb::perf
