// Ready: how long after its start a seendb-server is ready (its line on stdout), with so many plays
// in the journals of one that was killed, and with so many bytes of tables and no journal. 4
// shards.

#include <filesystem>
#include <string_view>

#include "load/server_process.h"
#include "scenario/all.h"
#include "scenario/world.h"
#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kBatch = 10;
constexpr uint64_t kItemsAMonth = 3'300;

double ReadySeconds(const Settings& settings, const std::string& path) {
  const Stopwatch watch;
  const ServerProcess server(settings.server, {"--db", path, "--listen", "127.0.0.1:0"});
  return watch.Seconds();
}

/// Drained plays of so many users in sealed and open buckets; the bytes on disk.
double MakeTables(const std::string& path, uint64_t users) {
  ManualClock clock(kStartMs);
  Options options;
  options.shards = 4;
  options.background = false;
  const Seams seams{&clock, nullptr};
  auto opened = Engine::Open(path, options, seams);
  Check(opened.status());
  Engine& engine = **opened;
  clock.Set(kMonthBeginMs[0] + 5 * kDayMs);
  for (uint64_t user = 0; user < users; ++user) {
    std::vector<Play> plays;
    for (const uint64_t item : PlayedItems(user, 0, 0, kItemsAMonth)) {
      plays.push_back({IdRef(user), IdRef(item), std::nullopt});
    }
    Check(engine.RecordPlays(plays).status());
    if (user % 500 == 499) Check(engine.Drain());
  }
  Check(engine.Drain());
  Check(engine.Compact());
  Check(engine.Close());
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.path().extension() == ".sst") bytes += static_cast<double>(entry.file_size());
  }
  return bytes;
}

/// One more figure for the line through the first and the last.
void AddSlope(const std::string& what, const std::string& metric, double from, double to,
              double from_s, double to_s, Report* report) {
  report->Add({"ready", {{"what", what}, {"size", "slope"}}, "seendb", metric},
              (to_s - from_s) / (to - from));
}

void Journals(const Settings& settings, Report* report) {
  const std::vector<uint64_t> sizes = settings.quick
                                          ? std::vector<uint64_t>{200'000, 1'000'000}
                                          : std::vector<uint64_t>{10'000'000, 40'000'000};
  std::vector<double> seconds;
  for (const uint64_t plays : sizes) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/db";
    LeaveJournal(settings, path, plays, kBatch);
    seconds.push_back(ReadySeconds(settings, path));
    report->Add({"ready",
                 {{"what", "journal"}, {"size", Number(static_cast<double>(plays)) + " plays"}},
                 "seendb",
                 "ready_s"},
                seconds.back());
  }
  AddSlope("journal", "s_per_million_plays", static_cast<double>(sizes.front()) / 1e6,
           static_cast<double>(sizes.back()) / 1e6, seconds.front(), seconds.back(), report);
}

/// 50,000 users are 1 GB: about a minute to make.
void Tables(const Settings& settings, Report* report) {
  const std::vector<uint64_t> users =
      settings.quick ? std::vector<uint64_t>{100, 500} : std::vector<uint64_t>{50'000, 250'000};
  std::vector<double> seconds, gigabytes;
  for (const uint64_t count : users) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/db";
    gigabytes.push_back(MakeTables(path, count) / 1e9);
    seconds.push_back(ReadySeconds(settings, path));
    report->Add({"ready",
                 {{"what", "tables"}, {"size", Number(gigabytes.back()) + " GB"}},
                 "seendb",
                 "ready_s"},
                seconds.back());
  }
  AddSlope("tables", "s_per_gb", gigabytes.front(), gigabytes.back(), seconds.front(),
           seconds.back(), report);
}

}  // namespace

void RunReady(const Settings& settings, Report* report) {
  if (settings.server.empty()) {
    report->Note("ready", "absent: no server program was named (--server)");
    return;
  }
  const auto wants = [&settings](std::string_view what) {
    return what.find(settings.only) != what.npos;
  };
  if (wants("journal")) Journals(settings, report);
  if (wants("tables")) Tables(settings, report);
}

}  // namespace seendb::perf
