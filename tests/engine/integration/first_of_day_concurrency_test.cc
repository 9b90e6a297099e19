// Calls at once for the same users, single ones and out of a log, of one day: each first play is
// told once, whoever tells it.

#include <atomic>
#include <chrono>
#include <thread>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kThreads = 8, kRounds = 40, kUsers = 3;

class FirstOfDayConcurrencyTest : public EngineTest {
 protected:
  void SetUp() override {
    Open();
    PolicyPatch patch;
    patch.first_of_day = true;
    Put("default", patch);
  }

  // A round of a thread: all users of it, beginning with another one.
  struct Round {
    Round(int number, int thread) {
      for (int i = 0; i < kUsers; ++i) {
        numbers.push_back(number * kUsers + (i + thread) % kUsers);
        users.push_back("u" + std::to_string(numbers.back()));
      }
      for (const std::string& user : users) plays.push_back({IdRef(user), IdRef(1)});
    }
    std::vector<int> numbers;
    std::vector<std::string> users;
    std::vector<seendb::Play> plays;
  };

  void RecordRound(int number, int thread) {
    const Round round(number, thread);
    const auto recorded = engine_->RecordPlays(round.plays);
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    for (const uint32_t at : recorded->first_today) ++told_[round.numbers[at]];
  }
  void IngestRound(int number, int thread) {
    const Round round(number, thread);
    const std::string topic = "plays" + std::to_string(thread);
    const SourceStep step{topic, 0, (number + 1) * kUsers};
    std::vector<Origin> origins;
    for (int i = 0; i < kUsers; ++i) origins.push_back({0, number * kUsers + i});
    IngestBatch batch;
    batch.sources = {&step, 1};
    batch.plays = round.plays;
    batch.origins = origins;
    batch.outbox_first_plays = true;
    const auto ingested = engine_->Ingest(batch);
    ASSERT_TRUE(ingested.ok()) << ingested.status().ToString();
  }

  // Tells what is in the outbox.
  void TellOutbox() {
    for (const OutboxSource& source : engine_->OutboxSources()) {
      std::vector<OutboxRow> rows;
      ASSERT_TRUE(engine_->ReadOutbox(source, -1, SIZE_MAX, &rows).ok());
      EXPECT_EQ(rows.size(), source.rows);
      for (const OutboxRow& row : rows) {
        for (const FirstOfDay& first : row.first_plays) ++told_[std::stoi(first.user.substr(1))];
      }
    }
  }

  std::atomic<int> told_[kRounds * kUsers] = {};
};

TEST_F(FirstOfDayConcurrencyTest, ExactlyOneTellsIt) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      for (int round = 0; round < kRounds; ++round) {
        if (thread % 4 == 3) {
          IngestRound(round, thread);
        } else {
          RecordRound(round, thread);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  TellOutbox();
  for (int user = 0; user < kRounds * kUsers; ++user) EXPECT_EQ(told_[user], 1) << user;
}

// A look-up that read the day just before the erasure took it must not be remembered.
TEST_F(FirstOfDayConcurrencyTest, AnErasureAmidALookUpForgetsTheDay) {
  constexpr int kMany = 4'000, kErasures = 16;
  const std::string erased = "u" + std::to_string(kMany / 2);
  std::vector<std::string> names;
  std::vector<seendb::Play> plays;
  for (int i = 0; i < kMany; ++i) names.push_back("u" + std::to_string(i));
  for (const std::string& name : names) plays.push_back({IdRef(name), IdRef(1)});
  using SteadyClock = std::chrono::steady_clock;
  SteadyClock::duration took{};
  for (int round = 0; round < kErasures; ++round) {
    ASSERT_TRUE(engine_->RecordPlays(plays).ok());
    Drain();
    Reopen();  // what was known in memory is to be looked up again
    // From the look-up's beginning to its end, as long as the last one took.
    const SteadyClock::duration wait = took * round / kErasures;
    std::atomic<bool> begun{false};
    std::thread looks_up([&] {
      begun = true;
      const auto begin = SteadyClock::now();
      EXPECT_TRUE(engine_->RecordPlays(plays).ok());
      took = SteadyClock::now() - begin;
    });
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(wait);
    EXPECT_TRUE(engine_->EraseUser(IdRef(erased)).ok());
    looks_up.join();
    clock_.Advance(1);
    const seendb::Play again{IdRef(erased), IdRef(1)};
    const auto recorded = engine_->RecordPlays({&again, 1});
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    EXPECT_EQ(recorded->first_today, std::vector<uint32_t>{0}) << round;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
