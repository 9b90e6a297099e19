// SeenDB, embedded: four of its states.
//
//   seendb           closed months sealed, the current one merged (a list of 3,300 items)
//   seendb-sealed    every month sealed
//   seendb-operands  closed months sealed, the current one's deltas unmerged in memory
//   seendb-exact     representation "exact": lists for ever

#include "peers/peer.h"
#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {
namespace {

constexpr char kCollection[] = "bench";
constexpr size_t kBatch = 10'000;

enum class Current { kOperands, kMerged, kSealed };

class SeenDbSession final : public Session {
 public:
  explicit SeenDbSession(Engine* engine) : engine_(engine) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    FilterRequest request;
    request.collection = kCollection;
    request.user = IdRef(question.user);
    request.items = question.ids;
    answer_.unseen.swap(*unseen);
    Check(engine_->Filter(request, &answer_));
    answer_.unseen.swap(*unseen);
  }

 private:
  Engine* engine_;
  FilterResponse answer_;
};

class SeenDb final : public Peer {
 public:
  SeenDb(const PeerOptions& options, Current current, Representation representation)
      : options_(options), current_(current), clock_(kStartMs) {
    Open();
    PolicyPatch patch;
    patch.representation = representation;
    patch.fpr = options.fpr * kWindow;
    Check(engine_->PutCollection(kCollection, patch));
  }

  void SetTime(int64_t now_ms) override {
    Send();
    clock_.Set(now_ms);
  }
  void Add(uint64_t user, int, std::span<const uint64_t> items) override {
    for (const uint64_t item : items) plays_.push_back({IdRef(user), IdRef(item), std::nullopt});
    if (plays_.size() >= kBatch) Send();
  }
  void Drain() override {
    Send();
    Check(engine_->Drain());
  }
  void EndMonth(int) override {
    Send();
    Check(engine_->SealClosed());
  }
  void Settle() override {
    if (current_ == Current::kOperands) return;
    Check(engine_->Compact());
    if (current_ != Current::kSealed) return;
    Policy policy;
    Check(engine_->Seal(kCollection, BucketLabel(policy, BucketIndexOf(policy, clock_.NowMs()))));
  }
  std::unique_ptr<Session> Connect() override {
    return std::make_unique<SeenDbSession>(engine_.get());
  }
  uint64_t Bytes() override {
    uint64_t bytes = 0;
    for (const BucketInfo& bucket : engine_->Buckets()) {
      if (bucket.collection == kCollection) bytes += bucket.bytes;
    }
    return bytes;
  }
  uint64_t LogBytes() override { return engine_->Stats().wal_bytes_written; }
  bool Reopen() override {
    Check(engine_->Close());
    engine_.reset();
    Open();
    return true;
  }

 private:
  void Open() {
    Options options;
    options.shards = options_.shards;
    options.background = false;
    options.block_cache_bytes = options_.block_cache_bytes;
    const Seams seams{&clock_, options_.env};
    auto opened = Engine::Open(options_.folder + "/seendb", options, seams);
    Check(opened.status());
    engine_ = std::move(opened).value();
  }
  void Send() {
    if (plays_.empty()) return;
    const auto recorded = engine_->RecordPlays(plays_, {.collection = kCollection});
    Check(recorded.status());
    if (recorded->accepted != plays_.size()) Fail("SeenDB refused plays");
    plays_.clear();
  }

  const PeerOptions options_;
  const Current current_;
  ManualClock clock_;
  std::unique_ptr<Engine> engine_;
  std::vector<Play> plays_;
};

}  // namespace

std::unique_ptr<Peer> MakeSeenDb(const PeerOptions& options, std::string*) {
  return std::make_unique<SeenDb>(options, Current::kMerged, Representation::kBloom);
}
std::unique_ptr<Peer> MakeSeenDbSealed(const PeerOptions& options, std::string*) {
  return std::make_unique<SeenDb>(options, Current::kSealed, Representation::kBloom);
}
std::unique_ptr<Peer> MakeSeenDbOperands(const PeerOptions& options, std::string*) {
  return std::make_unique<SeenDb>(options, Current::kOperands, Representation::kBloom);
}
std::unique_ptr<Peer> MakeSeenDbExact(const PeerOptions& options, std::string*) {
  return std::make_unique<SeenDb>(options, Current::kMerged, Representation::kExact);
}

}  // namespace seendb::perf
