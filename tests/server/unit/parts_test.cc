// The parts of a process begin in order and end in the reverse.

#include "parts.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

class PartsTest : public ::testing::Test {
 protected:
  /// A row that writes down what is done with it; `fails` is what fails.
  Part Row(std::string_view name, std::string_view fails = {}) {
    const auto done = [this, name, fails](std::string_view what) {
      log_.push_back(std::string(what) + " " + std::string(name));
      return fails != what;
    };
    const auto status = [done](std::string_view what) {
      return done(what) ? Status::Ok() : Status::Busy(std::string(what));
    };
    return {
        .name = name,
        .prepare = [done] { return done("prepare") ? std::optional<int>() : std::optional(7); },
        .shape = [status](Options*) { return status("shape"); },
        .open = [status](Engine*) { return status("open"); },
        .finish = [status](Engine*) { return status("finish"); },
        .start = [done](Engine*) { done("start"); },
        .depart = [done] { done("depart"); },
        .leave = [done] { done("leave"); },
        .stop = [done](int64_t) { return done("stop"); },
        .problems =
            [name](std::vector<std::string>* to) {
              to->push_back("problem of " + std::string(name));
            },
        .metrics = [name](ops::MetricsSnapshot* to) { to->db += name; },
    };
  }
  /// All that was done since the last call.
  std::vector<std::string> Done() { return std::exchange(log_, {}); }

  std::vector<std::string> log_;
};

using Log = std::vector<std::string>;

TEST_F(PartsTest, BeginInOrderAndEndInTheReverse) {
  Parts parts({Row("a"), Part{.name = "nothing"}, Row("b")});
  Options options;
  EXPECT_FALSE(parts.Prepare().has_value());
  EXPECT_EQ(Done(), (Log{"prepare a", "prepare b"}));
  EXPECT_TRUE(parts.Shape(&options).ok());
  EXPECT_TRUE(parts.Open(nullptr).ok());
  EXPECT_TRUE(parts.Finish(nullptr).ok());
  parts.Start(nullptr);
  EXPECT_EQ(Done(), (Log{"shape a", "shape b", "open a", "open b", "finish a", "finish b",
                         "start a", "start b"}));
  parts.Depart();
  parts.Leave();
  EXPECT_FALSE(parts.Stop(5).has_value());
  EXPECT_EQ(Done(), (Log{"depart b", "depart a", "leave b", "leave a", "stop b", "stop a"}));
}

TEST_F(PartsTest, TheFirstFailureEndsAStep) {
  Options options;
  Parts parts({Row("a"), Row("b", "prepare"), Row("c")});
  EXPECT_EQ(parts.Prepare(), 7);
  EXPECT_EQ(Done(), (Log{"prepare a", "prepare b"}));
  for (const char* const step : {"shape", "open", "finish"}) {
    Parts failing({Row("a"), Row("b", step), Row("c")});
    const Status status = std::string(step) == "shape"  ? failing.Shape(&options)
                          : std::string(step) == "open" ? failing.Open(nullptr)
                                                        : failing.Finish(nullptr);
    EXPECT_EQ(status.message(), step);
    EXPECT_EQ(Done(), (Log{std::string(step) + " a", std::string(step) + " b"}));
  }
}

// A part that runs on may use those before it.
TEST_F(PartsTest, APartThatRunsOnIsNamedAndThoseBeforeItStay) {
  Parts parts({Row("a"), Row("b", "stop"), Row("c")});
  EXPECT_EQ(parts.Stop(5), "b");
  EXPECT_EQ(Done(), (Log{"stop c", "stop b"}));
}

TEST_F(PartsTest, ProblemsAndFiguresAreOfAll) {
  const Parts parts({Row("a"), Part{.name = "nothing"}, Row("b")});
  EXPECT_EQ(parts.Problems(), (Log{"problem of a", "problem of b"}));
  ops::MetricsSnapshot snapshot;
  parts.FillMetrics(&snapshot);
  EXPECT_EQ(snapshot.db, "ab");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
