// That the simulation would notice: engines that forget a play or lie about one are caught and the
// script made small; and that a seed repeats itself.

#include <algorithm>

#include <gtest/gtest.h>

#include "simulation/generate.h"
#include "simulation/minimise.h"

namespace seendb::simulation {
namespace {

// Passes everything on.
class Passing : public Engine {
 public:
  explicit Passing(std::unique_ptr<Engine> inner) : inner_(std::move(inner)) {}

  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    return inner_->RecordPlays(plays, options);
  }
  Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                         const RecordOptions& options) override {
    return inner_->RecordImpressions(impressions, options);
  }
  Result<IngestResult> Ingest(const IngestBatch& batch) override { return inner_->Ingest(batch); }
  std::vector<SourceInfo> Sources() override { return inner_->Sources(); }
  Status ForgetTopic(std::string_view topic) override { return inner_->ForgetTopic(topic); }
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    return inner_->Filter(request, response);
  }
  Result<UserReport> Inspect(IdRef user, std::string_view collection) override {
    return inner_->Inspect(user, collection);
  }
  Status EraseUser(IdRef user) override { return inner_->EraseUser(user); }
  Status ReadHistory(const HistoryRequest& request, HistoryPage* page) override {
    return inner_->ReadHistory(request, page);
  }
  Status LookupHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       HistoryLookup* found) override {
    return inner_->LookupHistory(user, collection, items, found);
  }
  Status DeleteHistory(IdRef user, std::string_view collection,
                       std::span<const IdRef> items) override {
    return inner_->DeleteHistory(user, collection, items);
  }
  Status ClearHistory(IdRef user, const HistoryClear& clear) override {
    return inner_->ClearHistory(user, clear);
  }
  Status SetRecording(IdRef user, bool paused) override {
    return inner_->SetRecording(user, paused);
  }
  Result<Recording> GetRecording(IdRef user) override { return inner_->GetRecording(user); }
  Status PutCollection(std::string_view name, const PolicyPatch& patch) override {
    return inner_->PutCollection(name, patch);
  }
  std::vector<CollectionInfo> Collections() override { return inner_->Collections(); }
  Status Drain() override { return inner_->Drain(); }
  Status Seal(std::string_view collection, std::string_view bucket) override {
    return inner_->Seal(collection, bucket);
  }
  Status SealClosed() override { return inner_->SealClosed(); }
  Status DropExpired() override { return inner_->DropExpired(); }
  Status Compact() override { return inner_->Compact(); }
  Status Sync() override { return inner_->Sync(); }
  Result<CheckpointReport> Checkpoint(const std::string& dir) override {
    return inner_->Checkpoint(dir);
  }
  Status RunDue() override { return inner_->RunDue(); }
  EngineStats Stats() override { return inner_->Stats(); }
  std::vector<BucketInfo> Buckets() override { return inner_->Buckets(); }
  std::vector<SlotInfo> Ring() override { return inner_->Ring(); }
  Result<VerifyReport> Verify() override { return inner_->Verify(); }
  Status Scan(std::string_view family_prefix,
              const std::function<bool(const ScanRow&)>& row) override {
    return inner_->Scan(family_prefix, row);
  }
  int64_t NowMs() const override { return inner_->NowMs(); }
  uint32_t ShardOf(IdRef user) const override { return inner_->ShardOf(user); }
  Status Close() override { return inner_->Close(); }

 protected:
  std::unique_ptr<Engine> inner_;
};

// Acknowledges a last play that it does not record.
class Forgetful final : public Passing {
 public:
  using Passing::Passing;
  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    if (++calls_ % 10 != 0 || plays.size() < 2) return inner_->RecordPlays(plays, options);
    Result<RecordResult> result = inner_->RecordPlays(plays.first(plays.size() - 1), options);
    if (result.ok()) ++result->accepted;
    return result;
  }

 private:
  int calls_ = 0;
};

// Calls a seen item unseen now and then.
class Lying final : public Passing {
 public:
  using Passing::Passing;
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    const Status status = inner_->Filter(request, response);
    if (status.ok() && response->seen > 0 && response->unseen.size() + 1 == request.items.size()) {
      response->unseen.clear();
      for (uint32_t i = 0; i < request.items.size(); ++i) response->unseen.push_back(i);
      response->seen = 0;
    }
    return status;
  }
};

// Says that it erased a user, and keeps the plays.
class Undead final : public Passing {
 public:
  using Passing::Passing;
  Status EraseUser(IdRef) override { return {}; }
};

// Deletes all items of a call but the last.
class Sparing final : public Passing {
 public:
  using Passing::Passing;
  Status DeleteHistory(IdRef user, std::string_view collection,
                       std::span<const IdRef> items) override {
    return inner_->DeleteHistory(user, collection, items.first(items.size() - 1));
  }
};

// Says that it cleared, and keeps everything.
class Hoarding final : public Passing {
 public:
  using Passing::Passing;
  Status ClearHistory(IdRef, const HistoryClear&) override { return {}; }
};

// Clears filters though nobody asked for it.
class Oblivious final : public Passing {
 public:
  using Passing::Passing;
  Status ClearHistory(IdRef user, const HistoryClear& clear) override {
    return inner_->ClearHistory(user, {.collections = clear.collections, .filter = true});
  }
};

// Clears history alone, whatever it is asked.
class Resentful final : public Passing {
 public:
  using Passing::Passing;
  Status ClearHistory(IdRef user, const HistoryClear& clear) override {
    return inner_->ClearHistory(user, {.collections = clear.collections});
  }
};

// Says that it paused, and goes on.
class Recorder final : public Passing {
 public:
  using Passing::Passing;
  Status SetRecording(IdRef, bool) override { return {}; }
};

// Leaves out the second entry of a long page.
class Skipping final : public Passing {
 public:
  using Passing::Passing;
  Status ReadHistory(const HistoryRequest& request, HistoryPage* page) override {
    const Status status = inner_->ReadHistory(request, page);
    if (page->cursor.empty() && page->entries.size() > 2) {
      page->entries.erase(page->entries.begin() + 1);
    }
    return status;
  }
};

// Answers a look-up with the time of a state and the progress of none.
class Confused final : public Passing {
 public:
  using Passing::Passing;
  Status LookupHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       HistoryLookup* found) override {
    const Status status = inner_->LookupHistory(user, collection, items, found);
    for (auto& entry : found->entries) {
      if (entry) ++entry->progress_s;
    }
    return status;
  }
};

// Refutes one item more than history does.
class Refuting final : public Passing {
 public:
  using Passing::Passing;
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    const Status status = inner_->Filter(request, response);
    std::vector<uint32_t>& unseen = response->unseen;
    if (request.explain || response->refuted == 0 || response->seen == 0) return status;
    uint32_t seen = 0;  // the first one
    while (std::binary_search(unseen.begin(), unseen.end(), seen)) ++seen;
    unseen.insert(std::lower_bound(unseen.begin(), unseen.end(), seen), seen);
    --response->seen;
    ++response->refuted;
    return status;
  }
};

// Never asks history.
class Gullible final : public Passing {
 public:
  using Passing::Passing;
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    FilterRequest unverified = request;
    unverified.verify = false;
    return inner_->Filter(unverified, response);
  }
};

// Tells a first play of the day in every call.
class Repeating final : public Passing {
 public:
  using Passing::Passing;
  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    Result<RecordResult> result = inner_->RecordPlays(plays, options);
    if (result.ok() && !result->day.empty() && result->first_today.empty()) {
      result->first_today = {0};
    }
    return result;
  }
};

// Tells of one first play of the day a call.
class Reticent final : public Passing {
 public:
  using Passing::Passing;
  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    Result<RecordResult> result = inner_->RecordPlays(plays, options);
    if (result.ok() && result->first_today.size() > 1) result->first_today.resize(1);
    return result;
  }
};

template <typename Wrapped>
Result<std::unique_ptr<Engine>> OpenWrapped(const std::string& path, const Options& options,
                                            const Seams& seams) {
  auto opened = OpenEngine(path, options, seams);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<Engine>(std::make_unique<Wrapped>(std::move(opened).value()));
}

constexpr Scale kSmall = {.months = 2, .rounds = 10, .users = 8};

template <typename Wrapped>
void ExpectCaught() {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Script script = Generate(seed, kSmall);
    const Outcome outcome = Simulate(script, OpenWrapped<Wrapped>);
    if (!outcome.failed) continue;
    const Script small = Minimise(script, OpenWrapped<Wrapped>, 5);
    EXPECT_LT(small.operations.size(), script.operations.size());
    EXPECT_TRUE(Simulate(small, OpenWrapped<Wrapped>).failed);
    return;
  }
  FAIL() << "20 seeds passed an engine that breaks its promises";
}

TEST(SimulationTest, CatchesAnEngineThatForgets) { ExpectCaught<Forgetful>(); }
TEST(SimulationTest, CatchesAnEngineThatDoesNotErase) { ExpectCaught<Undead>(); }
TEST(SimulationTest, CatchesAnEngineThatLies) { ExpectCaught<Lying>(); }

TEST(SimulationTest, CatchesAnEngineThatSparesAnItem) { ExpectCaught<Sparing>(); }
TEST(SimulationTest, CatchesAnEngineThatDoesNotClear) { ExpectCaught<Hoarding>(); }
TEST(SimulationTest, CatchesAnEngineThatForgetsUnasked) { ExpectCaught<Oblivious>(); }
TEST(SimulationTest, CatchesAnEngineThatForgetsNotWhenAsked) { ExpectCaught<Resentful>(); }
TEST(SimulationTest, CatchesAnEngineThatDoesNotPause) { ExpectCaught<Recorder>(); }
TEST(SimulationTest, CatchesAnEngineThatSkipsAnEntry) { ExpectCaught<Skipping>(); }
TEST(SimulationTest, CatchesAnEngineThatConfusesStates) { ExpectCaught<Confused>(); }

TEST(SimulationTest, CatchesAnEngineThatRefutesAPlay) { ExpectCaught<Refuting>(); }
TEST(SimulationTest, CatchesAnEngineThatNeverRefutes) { ExpectCaught<Gullible>(); }
TEST(SimulationTest, CatchesAnEngineThatTellsADayTwice) { ExpectCaught<Repeating>(); }
TEST(SimulationTest, CatchesAnEngineThatTellsNotOfADay) { ExpectCaught<Reticent>(); }

TEST(SimulationTest, ASeedRepeatsItself) {
  for (const uint64_t seed : {3, 4, 5}) {
    const Script script = Generate(seed, kSmall);
    const Outcome first = Simulate(script), second = Simulate(script);
    EXPECT_FALSE(first.failed) << seed << ": " << first.what;
    EXPECT_EQ(first.digest, second.digest) << seed;
  }
}

// The deed is done once, at its point or after, and the model hears of it.
TEST(SimulationTest, SomethingIsDoneInTheMiddle) {
  for (const char* around : {"drain", "sync", "seal-closed", "checkpoint", "due"}) {
    for (const int point : {0, 1, 3, 1000}) {
      std::string error;
      const std::optional<Script> script = Parse(
          "options shards=1 ring_slots=2 options_files=0\nclock 1600000000000\n"
          "play default u1:v1@now u2:v2@now\nmiddle " +
              std::to_string(point) + "\n" + around + "\nerase u1\nmiddle " +
              std::to_string(point) + "\n" + around +
              "\nplay default u2:v3@now\nstats\ninspect u1\n",
          &error);
      ASSERT_TRUE(script) << error;
      const Outcome outcome = Simulate(*script);
      EXPECT_FALSE(outcome.failed) << around << " " << point << ": " << outcome.what;
      EXPECT_EQ(outcome.tally.plays, 3U);
      EXPECT_EQ(outcome.tally.done[static_cast<size_t>(Verb::kMiddle)], 2U);
      EXPECT_EQ(outcome.tally.done[static_cast<size_t>(Verb::kErase)], 1U);
    }
  }
}

TEST(SimulationTest, AScriptIsItsText) {
  bool history = false, verify = false, days = false;
  for (uint64_t seed = 7; seed < 17; ++seed) {
    const Script script = Generate(seed, kSmall);
    std::string error;
    const std::optional<Script> again = Parse(ToText(script), &error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(ToText(*again), ToText(script));
    for (const Operation& one : again->operations) {
      history = history || one.verb == Verb::kDelete;
      verify = verify || one.filter.verify;
      days = days || (!one.events.empty() && !one.events[0].day.empty());
    }
  }
  EXPECT_TRUE(history);
  EXPECT_TRUE(verify);
  EXPECT_TRUE(days);
}

}  // namespace
}  // namespace seendb::simulation
