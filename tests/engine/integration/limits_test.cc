// What an engine refuses of its options and of its clock.

#include <filesystem>
#include <functional>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using LimitsTest = EngineTest;

TEST_F(LimitsTest, OptionsOutOfRangeAreNamed) {
  const struct {
    std::function<void(Options*)> spoil;
    const char* field;
  } cases[] = {
      {[](Options* o) { o->shards = 1025; }, "/shards"},
      {[](Options* o) { o->ring_slots = 1; }, "/ring_slots"},
      {[](Options* o) { o->slot_ms = 0; }, "/slot_ms"},
      {[](Options* o) { o->slot_bytes_max = 0; }, "/slot_bytes_max"},
      {[](Options* o) { o->write_buffer_bytes = 1000; }, "/write_buffer_bytes"},
      {[](Options* o) { o->background_threads = 0; }, "/background_threads"},
      {[](Options* o) { o->background_threads = 257; }, "/background_threads"},
      {[](Options* o) { o->max_column_families = 0; }, "/max_column_families"},
      {[](Options* o) { o->max_collections = 0; }, "/max_collections"},
      {[](Options* o) { o->default_policy.window = 9; }, "/default_policy/window"},
      {[](Options* o) { o->default_policy.history.days = 0; }, "/default_policy/history/days"},
      {[](Options* o) { o->list_limit = 15; }, "/list_limit"},
      {[](Options* o) { o->max_candidates = 0; }, "/max_candidates"},
      {[](Options* o) { o->sync_interval_ms = 0; }, "/sync_interval_ms"},
      {[](Options* o) { o->maintenance_begin_minute = -1; }, "/maintenance_begin_minute"},
      {[](Options* o) { o->maintenance_end_minute = 1441; }, "/maintenance_end_minute"},
  };
  for (const auto& one : cases) {
    Options spoilt = options_;
    one.spoil(&spoilt);
    const auto opened = Engine::Open(Path(), spoilt);
    ASSERT_FALSE(opened.ok()) << one.field;
    EXPECT_EQ(opened.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(opened.status().field(), one.field);
    EXPECT_FALSE(std::filesystem::exists(Path())) << "nothing was made";
  }
}

TEST_F(LimitsTest, AnEmptyPathIsRefused) {
  const auto opened = Engine::Open("", options_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(opened.status().field(), "/path");
}

// A bucket of the year 12026 could be made, but its label not be read again.
TEST_F(LimitsTest, TimesBeyondTheCalendarAreRefused) {
  Open();
  for (const int64_t now : {kLastTimeMs + 1, kFirstTimeMs - 1, INT64_MAX / 2}) {
    clock_.Set(now);
    const Status due = engine_->RunDue();
    EXPECT_EQ(due.code(), StatusCode::kInvalidArgument) << due.ToString();
    EXPECT_EQ(Play("u", {"i"}), 0u);
    EXPECT_EQ(Play("u", {"i"}, now), 0u);
    EXPECT_EQ(Serve("u", {"i"}), 0u);
    EXPECT_EQ(Unseen("u", {"i"}), Items{"i"});
    EXPECT_EQ(engine_->PutCollection("c", {}).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(engine_->Collections().size(), 1u);
  }
  clock_.Set(kLastTimeMs);
  RunDue();
  EXPECT_EQ(Play("u", {"i"}), 1u);
  EXPECT_EQ(Play("u", {"j"}, kLastTimeMs + 1), 0u);
  Drain();
  Reopen();
  EXPECT_EQ(Unseen("u", {"i", "j"}), Items{"j"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
