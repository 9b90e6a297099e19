// Growth: the same hot users (4 months of 3,300 items) in databases of more and more light users
// (5 plays each, in one of the months; real light users have more, and more months): what does a
// question about a hot user cost, and one about a light user nobody asked about before?

#include <map>

#include "scenario/contest.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kHot = 200;
constexpr uint64_t kFirstLight = 1'000'000;
constexpr uint64_t kLightPlays = 5;
constexpr uint64_t kUsersADrain = 500'000;

// The light users of a month.
void LoadLight(Peer* peer, uint64_t users, int month) {
  for (auto user = static_cast<uint64_t>(month); user < users; user += kWindow) {
    peer->Add(kFirstLight + user, month, PlayedItems(kFirstLight + user, month, 0, kLightPlays));
    if (user / kWindow % kUsersADrain == kUsersADrain - 1) peer->Drain();
  }
  peer->Drain();
}

// As Load does it, with the light users in between.
void LoadBoth(Peer* peer, uint64_t light) {
  for (int month = 0; month < kWindow; ++month) {
    for (uint64_t part = 0; part < 4; ++part) {
      peer->SetTime(kMonthBeginMs[static_cast<size_t>(month)] +
                    static_cast<int64_t>(part + 1) * 7 * kDayMs);
      for (uint64_t user = 0; user < kHot; ++user) {
        peer->Add(user, month, PlayedItems(user, month, part * 825, part * 825 + 825));
      }
      peer->Drain();
    }
    LoadLight(peer, light, month);
    if (month == kWindow - 1) break;
    peer->SetTime(kMonthBeginMs[static_cast<size_t>(month) + 1] + 2 * kHourMs);
    peer->EndMonth(month);
  }
  peer->Settle();
}

}  // namespace

void RunGrowth(const Settings& settings, Report* report) {
  const std::vector<uint64_t> sizes = settings.quick
                                          ? std::vector<uint64_t>{20'000, 200'000}
                                          : std::vector<uint64_t>{100'000, 1'000'000, 10'000'000};
  const TemporaryFolder folder;
  std::map<uint64_t, std::unique_ptr<Peer>> peers;
  std::map<uint64_t, std::unique_ptr<Session>> sessions;
  const std::vector<Question> hot = Questions(kHot, {});
  for (const uint64_t size : sizes) {
    PeerOptions options;
    options.folder = folder.path() + "/" + std::to_string(size);
    std::filesystem::create_directories(options.folder);
    options.shards = 4;
    peers[size] = MakePeer("seendb", options);
    LoadBoth(peers[size].get(), size);
    sessions[size] = peers[size]->Connect();
    CheckAnswers("seendb", sessions[size].get(), hot);
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (const uint64_t size : sizes) {
      const Case where = {{"users", Number(static_cast<double>(size))}};
      const auto us = TimeAnswers(sessions[size].get(), hot, settings.quick ? 0.2 : 1.5);
      std::vector<Question> light(500);
      Random random(static_cast<uint64_t>(round) + size);
      for (Question& one : light) one = Ask(kFirstLight + random.Below(size), {5'000, 0, 1});
      std::vector<double> light_us;
      std::vector<uint32_t> unseen;
      for (const Question& question : light) {
        const Stopwatch one;
        sessions[size]->Ask(question, &unseen);
        light_us.push_back(one.Seconds() * 1e6);
      }
      report->Add({"growth", where, "seendb", "hot_latency_us"}, Quantile(us, 0.5));
      report->Add({"growth", where, "seendb", "hot_p99_us"}, Quantile(us, 0.99));
      report->Add({"growth", where, "seendb", "light_latency_us"}, Quantile(light_us, 0.5));
    }
  }
  report->Note("growth", "light users have 5 plays each, in one month; 200 hot users");
}

}  // namespace seendb::perf
