// Stalls: one client asks about hot users without a pause (5,000 candidates, 4 months of 3,300
// items) while another thread turns the ring, drains 10 plays of each of many users, seals a month,
// drops one. p99 and p99.9 of the client beside a quiet database, where the other thread computes
// something: on a machine of two cores that costs the client as well.

#include <functional>
#include <thread>

#include "scenario/contest.h"
#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kHot = 50;

// Asks until told to stop.
class Client {
 public:
  Client(Engine* engine, const std::vector<Question>& questions) {
    thread_ = std::thread([this, engine, &questions] {
      FilterResponse answer;
      for (size_t i = 0; !stop_; ++i) {
        const Question& question = questions[i % questions.size()];
        FilterRequest request;
        request.user = IdRef(question.user);
        request.items = question.ids;
        const Stopwatch one;
        Check(engine->Filter(request, &answer));
        us_.push_back(one.Seconds() * 1e6);
        if (answer.degraded) Fail("stalls: a degraded answer");
      }
    });
  }
  std::vector<double> Stop() {
    stop_ = true;
    thread_.join();
    return std::move(us_);
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<double> us_;
  std::thread thread_;
};

class Stage {
 public:
  Stage(const Settings& settings, Report* report)
      : seconds_(settings.quick ? 0.3 : 2),
        users_(settings.quick ? 10'000 : 100'000),
        report_(report),
        clock_(kStartMs) {
    Options options;
    options.background = false;
    const Seams seams{&clock_, nullptr};
    auto opened = Engine::Open(folder_.path() + "/db", options, seams);
    Check(opened.status());
    engine_ = std::move(opened).value();
    questions_ = Questions(kHot, {});
    for (int month = 0; month < kWindow; ++month) {
      clock_.Set(kMonthBeginMs[static_cast<size_t>(month)] + 5 * kDayMs);
      for (uint64_t user = 0; user < kHot; ++user) RecordItems(user, month, 0, 3'300);
      Check(engine_->Drain());
      Check(engine_->SealClosed());
    }
  }

  /// Runs `work` again and again, at most `times`, beside the client; `prepare` runs while nobody
  /// is timed.
  void Measure(const char* what, int times, const std::function<void()>& prepare,
               const std::function<void()>& work) {
    std::vector<double> us;
    double spent = 0;
    for (int i = 0; i < times && spent < seconds_; ++i) {
      prepare();
      Client client(engine_.get(), questions_);
      const Stopwatch watch;
      work();
      spent += watch.Seconds();
      const std::vector<double> more = client.Stop();
      us.insert(us.end(), more.begin(), more.end());
    }
    const Case where = {{"beside", what}};
    report_->Add({"stalls", where, "seendb", "p99_us"}, Quantile(us, 0.99));
    report_->Add({"stalls", where, "seendb", "p999_us"}, Quantile(us, 0.999));
    report_->Add({"stalls", where, "seendb", "latency_us"}, Quantile(us, 0.5));
  }

  void Quiet() {
    const double seconds = seconds_;
    Measure(
        "nothing", 1, [] {},
        [seconds] {
          const Stopwatch watch;
          while (watch.Seconds() < seconds)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        });
    Measure(
        "computing", 1, [] {},
        [seconds] {
          const Stopwatch watch;
          volatile uint64_t sum = 0;
          while (watch.Seconds() < seconds) sum = sum + 1;
        });
  }
  void Drain() {
    Measure(
        "drain", 20, [this] { StageHour(kWindow - 1); }, [this] { Check(engine_->Drain()); });
  }
  void Rotation() {
    Measure(
        "rotation", 60,
        [this] {
          for (uint64_t user = 0; user < 100; ++user) RecordItems(user, kWindow - 1, 0, 10);
        },
        [this] {
          clock_.Set(clock_.NowMs() + kHourMs);
          Check(engine_->RunDue());
        });
  }
  /// Of the month before, to which late plays come each time.
  void Seal() {
    Measure(
        "seal", 20,
        [this] {
          StageHour(kWindow - 2);
          Check(engine_->Drain());
        },
        [this] { Check(engine_->Seal("default", "2026-08")); });
  }
  /// Buckets of a day with everybody's plays: two of them past retention each time. Days pass, but
  /// the hot users' month lasts.
  void Drop() {
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, 1};
    patch.window = 1;
    patch.retention = 2;
    Check(engine_->PutCollection("daily", patch));
    Measure(
        "drop", 7,
        [this] {
          std::vector<Play> plays;
          for (uint64_t user = 0; user < users_; ++user) {
            plays.push_back({IdRef(user), IdRef(user * 7 + hour_), std::nullopt});
          }
          hour_ += 1;
          Check(engine_->RecordPlays(plays, {.collection = "daily"}).status());
          Check(engine_->Drain());
        },
        [this] {
          clock_.Set(clock_.NowMs() + 3 * kDayMs);
          Check(engine_->DropExpired());
        });
  }

 private:
  void RecordItems(uint64_t user, int month, uint64_t begin, uint64_t end) {
    std::vector<Play> plays;
    const int64_t at_ms = kMonthBeginMs[static_cast<size_t>(month)] + kDayMs;
    for (const uint64_t item : PlayedItems(user, month, begin, end)) {
      plays.push_back({IdRef(user), IdRef(item), at_ms});
    }
    Check(engine_->RecordPlays(plays).status());
  }
  void StageHour(int month) {
    std::vector<Play> plays;
    const int64_t at_ms = kMonthBeginMs[static_cast<size_t>(month)] + kDayMs;
    for (uint64_t user = 0; user < users_; ++user) {
      for (const uint64_t item : PlayedItems(kHot + user, month, hour_ * 10, hour_ * 10 + 10)) {
        plays.push_back({IdRef(kHot + user), IdRef(item), at_ms});
      }
      if (plays.size() < 10'000 && user + 1 < users_) continue;
      Check(engine_->RecordPlays(plays).status());
      plays.clear();
    }
    hour_ += 1;
  }

  const double seconds_;
  const uint64_t users_;
  Report* const report_;
  const TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<Engine> engine_;
  std::vector<Question> questions_;
  uint64_t hour_ = 0;
};

}  // namespace

void RunStalls(const Settings& settings, Report* report) {
  for (int round = 0; round < std::min(settings.rounds, 3); ++round) {
    Stage stage(settings, report);
    stage.Quiet();
    stage.Drain();
    stage.Rotation();
    stage.Seal();
    stage.Drop();
  }
}

}  // namespace seendb::perf
