// The rules by which the model of a cluster's log (tests/model/cluster/log_world.h) applies a
// record are those of the applier: every log of four records, each about a user of its own, on an
// engine.

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/log_record.h"
#include "model/cluster/log_world.h"
#include "model/cluster/real.h"
#include "replica/applier.h"
#include "replica/policies.h"
#include "replica/replicas.h"
#include "seams.h"
#include "simulation/quick_env.h"
#include "simulation/world.h"
#include "support/mem_disk.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using cluster_model::Changes;
using cluster_model::Content;
using cluster_model::Record;

/// 2026-03-10 12:00 UTC.
constexpr int64_t kBeginMs = 1'773'144'000'000;
constexpr int64_t kMinuteMs = 60'000;
// The time of each write, in minutes, and the item of each play.
constexpr std::array<int64_t, cluster_model::kWrites> kTimes{1, 3, 2};
constexpr std::array<const char*, 2> kItems{"early", "late"};
constexpr int kLength = 4;

TEST(ModelOfTheLog, AppliesRecordsAsTheApplierDoes) {
  const Changes changes{cluster_model::kMadeAgain};
  const auto meta = std::make_shared<const cluster::Meta>(cluster_model::FoldOf({}, changes, 1));
  const auto options = Replicas::EngineOptions(*meta->init(), {.background = false});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  MemDisk disk;
  simulation::DiskPoints points;
  const auto env = simulation::NewQuickEnv(disk.env(), false, &points);
  simulation::SimulatedClock clock;
  clock.now_ms = kBeginMs + 10 * kMinuteMs;
  auto opened = Engine::Open("/db", *options, Seams{.clock = &clock, .env = env.get()});
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  const std::unique_ptr<Engine> engine = std::move(opened).value();
  ASSERT_TRUE(engine->AttachShard(0, "").ok());
  Policies policies(
      engine.get(), [] {}, nullptr);
  policies.Follow(meta, 0);
  ASSERT_EQ(policies.problem(), "");
  Applier applier(
      {engine.get(), "feed.log", [&] { return meta; }, [](auto) { return true; }, nullptr});

  // A record is one of three writes, whose writer had read of the collection's new making or not.
  constexpr int kRecords = 2 * cluster_model::kWrites;
  int64_t offset = 0;
  int users = 0;
  for (int log = 0; log < kRecords * kRecords * kRecords * kRecords; ++log) {
    std::string user;
    do {
      user = "u" + std::to_string(users++);
    } while (engine->ShardOf(IdRef(user)) != 0);
    Content content;
    int left = log;
    std::string told;
    for (int i = 0; i < kLength; ++i, left /= kRecords, ++offset) {
      const auto write = static_cast<size_t>(left % kRecords / 2);
      const int read_at = left % 2;
      told += " w" + std::to_string(write) + "@" + std::to_string(read_at);
      const bool erases = write == cluster_model::kErase;
      const int64_t at_ms = kBeginMs + kTimes[write] * kMinuteMs;
      const std::string header = cluster::EncodeLogHeader(
          {erases ? cluster::LogKind::kErase : cluster::LogKind::kPlays, at_ms,
           static_cast<uint64_t>(offset), cluster_model::OffsetBehind(read_at)});
      std::string value;
      if (!erases) {
        value = R"({"events":[{"user":")" + user + R"(","item":")" + kItems[write] + R"(","at":)" +
                std::to_string(at_ms) + R"(}],"collection":"video"})";
      }
      Applied applied;
      const Status done = applier.Apply({.partition = 0,
                                         .offset = offset,
                                         .time_ms = {},
                                         .key = user,
                                         .value = value,
                                         .header = header},
                                        offset, &applied);
      ASSERT_TRUE(done.ok()) << done.ToString() << told;
      const Record record{static_cast<uint8_t>(write + 1), static_cast<int8_t>(read_at)};
      const bool took = cluster_model::ApplyRecord(record, *meta, &content);
      ASSERT_EQ(applied.recorded.accepted > 0, took) << told;
      const IdRef items[] = {IdRef(kItems[0]), IdRef(kItems[1])};
      FilterResponse answer;
      const Status asked = engine->Filter(
          {.collection = cluster_model::kCollection, .user = IdRef(user), .items = items}, &answer);
      ASSERT_TRUE(asked.ok()) << asked.ToString();
      uint8_t seen = 3;
      for (const auto position : answer.unseen)
        seen = static_cast<uint8_t>(seen & ~(1 << position));
      ASSERT_EQ(seen, content.plays) << told;
    }
  }
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
