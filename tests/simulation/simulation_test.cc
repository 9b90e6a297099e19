// That the simulation would notice: engines that forget a play or lie about one are caught and the
// script made small; and that a seed repeats itself.

#include <algorithm>

#include <gtest/gtest.h>

#include "simulation/generate.h"
#include "simulation/minimise.h"
#include "simulation/passing.h"

namespace seendb::simulation::SEENDB_TEST_FILE {
namespace {

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

// Keeps the plays, and says that it erased the user, or that it knows none of that name.
template <bool kKnown>
class Undead final : public Passing {
 public:
  using Passing::Passing;
  Status EraseUser(IdRef, const EraseOptions&, Erasure* erasure) override {
    *erasure = {kKnown, kKnown, inner_->NowMs()};
    return {};
  }
};

// Deletes all items of a call but the last.
class Sparing final : public Passing {
 public:
  using Passing::Passing;
  Status DeleteHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       CallTime, EventGroups) override {
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
  Status SetRecording(IdRef, bool, CallTime) override { return {}; }
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

// Takes a log's offset, and all events of the batch but the last.
class Dropping final : public Passing {
 public:
  using Passing::Passing;
  Result<IngestResult> Ingest(const IngestBatch& batch) override {
    IngestBatch less = batch;
    if (!less.plays.empty()) less.plays = less.plays.first(less.plays.size() - 1);
    less.origins = less.origins.first(less.plays.size());
    Result<IngestResult> result = inner_->Ingest(less);
    if (result.ok() && less.plays.size() < batch.plays.size()) ++result->accepted;
    return result;
  }
};

// Reads a log on behind a message that it left out.
class Hasty final : public Passing {
 public:
  using Passing::Passing;
  std::vector<SourceInfo> Sources() override {
    std::vector<SourceInfo> sources = inner_->Sources();
    for (SourceInfo& source : sources) {
      if (source.next_offset) ++*source.next_offset;
    }
    return sources;
  }
};

// Says that it forgot a topic, and knows its offsets.
class Clinging final : public Passing {
 public:
  using Passing::Passing;
  Status ForgetTopic(std::string_view) override { return {}; }
};

// Leaves nothing of first plays in the outbox.
class Careless final : public Passing {
 public:
  using Passing::Passing;
  Result<IngestResult> Ingest(const IngestBatch& batch) override {
    IngestBatch carefree = batch;
    carefree.outbox_first_plays = false;
    return inner_->Ingest(carefree);
  }
};

// Never says that something is missing.
class Assuring final : public Passing {
 public:
  using Passing::Passing;
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    const Status status = inner_->Filter(request, response);
    response->degraded = false;
    response->missing.clear();
    return status;
  }
};

// Stops all shards with one, until a drain.
class Halting final : public Passing {
 public:
  using Passing::Passing;
  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    if (!halted_.ok()) return halted_;
    Result<RecordResult> result = inner_->RecordPlays(plays, options);
    halted_ = result.status();
    return result;
  }
  Status Drain() override {
    halted_ = {};
    return inner_->Drain();
  }

 private:
  Status halted_;
};

// Never heals.
class Ailing final : public Passing {
 public:
  using Passing::Passing;
  Status Drain() override { return {}; }
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
TEST(SimulationTest, CatchesAnEngineThatDoesNotErase) { ExpectCaught<Undead<true>>(); }
TEST(SimulationTest, CatchesAnEngineThatDeniesKnownUsers) { ExpectCaught<Undead<false>>(); }
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

TEST(SimulationTest, CatchesAnEngineThatDropsAMessage) { ExpectCaught<Dropping>(); }
TEST(SimulationTest, CatchesAnEngineThatPassesAMessageOver) { ExpectCaught<Hasty>(); }
TEST(SimulationTest, CatchesAnEngineThatKeepsATopic) { ExpectCaught<Clinging>(); }
TEST(SimulationTest, CatchesAnEngineThatTellsNotOfALog) { ExpectCaught<Careless>(); }

// A bucket that a clock dropped which was ahead.
TEST(SimulationTest, CatchesAnEngineThatDropsInSilence) {
  std::string error;
  const std::optional<Script> script = Parse(
      "options shards=1 ring_slots=2 options_files=0\nclock 1600000000000\n"
      "put article bucket=1 window=2 retention=2 fpr=0.01\nplay article u1:v1@now\ndrain\n"
      "set-clock 259200000\ndrop\nset-clock -259200000\n"
      "filter article u1 facts=3 limit=0 explain=1 record=0 strict=0 late=0 items=v1\n",
      &error);
  ASSERT_TRUE(script) << error;
  const Outcome right = Simulate(*script);
  EXPECT_FALSE(right.failed) << right.what;
  EXPECT_GT(right.tally.degraded, 0U);
  EXPECT_TRUE(Simulate(*script, OpenWrapped<Assuring>).failed);
}

// A shard that stops, calls about either shard, then it is healed.
Script ShardThatStops(const std::string& skip) {
  std::string text =
      "options shards=2 ring_slots=2 options_files=0\nclock 1600000000000\n"
      "play default u0:v1@now u1:v1@now u2:v1@now u3:v1@now\n"
      "fail kinds=1 part=shard-0000*.log skip=" +
      skip + " error=eio seed=0\nheal 20 seed=" + skip + "\n";
  for (int i = 0; i < 16; ++i) {
    const std::string user = "u" + std::to_string(i % 4);
    text += "play default " + user + ":w" + std::to_string(i) + "@now\nfilter default " + user +
            " facts=3 limit=0 explain=1 record=0 strict=0 late=0 items=v1,w" + std::to_string(i) +
            "\n";
  }
  std::string error;
  const std::optional<Script> script = Parse(text + "drain\n", &error);
  EXPECT_TRUE(script) << error;
  return script.value_or(Script{});
}

TEST(SimulationTest, AShardIsHealedWhileOthersGoOn) {
  for (const char* skip : {"0", "1", "2", "3"}) {
    const Outcome outcome = Simulate(ShardThatStops(skip));
    EXPECT_FALSE(outcome.failed) << skip << ": " << outcome.what;
    EXPECT_EQ(outcome.tally.healed, 1U);
    EXPECT_GT(outcome.tally.beside, 4U);
  }
}

TEST(SimulationTest, CatchesAnEngineThatStopsAltogether) {
  EXPECT_TRUE(Simulate(ShardThatStops("0"), OpenWrapped<Halting>).failed);
}
TEST(SimulationTest, CatchesAnEngineThatDoesNotHeal) {
  EXPECT_TRUE(Simulate(ShardThatStops("0"), OpenWrapped<Ailing>).failed);
}

TEST(SimulationTest, ASeedRepeatsItself) {
  for (const uint64_t seed : {3U, 4U, 5U}) {
    const Script script = Generate(seed, kSmall);
    const Outcome first = Simulate(script), second = Simulate(script);
    EXPECT_FALSE(first.failed) << seed << ": " << first.what;
    EXPECT_EQ(first.digest, second.digest) << seed;
  }
}

// The call is done once, at its point or after, and the model hears of it.
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
  bool history = false, verify = false, days = false, ingest = false, clock = false, heal = false;
  for (uint64_t seed = 7; seed < 17; ++seed) {
    const Script script = Generate(seed, kSmall);
    std::string error;
    const std::optional<Script> again = Parse(ToText(script), &error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(ToText(*again), ToText(script));
    for (const Operation& one : again->operations) {
      history = history || one.verb == Verb::kDelete;
      verify = verify || one.filter.verify;
      ingest = ingest || one.verb == Verb::kIngest;
      clock = clock || one.verb == Verb::kSetClock;
      heal = heal || one.verb == Verb::kHeal;
      days = days || (!one.events.empty() && !one.events[0].day.empty());
    }
  }
  EXPECT_TRUE(history);
  EXPECT_TRUE(verify);
  EXPECT_TRUE(days);
  EXPECT_TRUE(ingest);
  EXPECT_TRUE(clock);
  EXPECT_TRUE(heal);
}

}  // namespace
}  // namespace seendb::simulation::SEENDB_TEST_FILE
