#include "scenario/contest.h"

#include <filesystem>

namespace seendb::perf {

std::vector<Contestant> Invite(const Settings& settings, const std::string& scenario,
                               std::span<const std::string_view> names, PeerOptions options,
                               Report* report) {
  std::vector<Contestant> contestants;
  const std::string folder = options.folder;
  options.redis = settings.redis;
  const auto wanted = [&](std::string_view name) {
    return settings.peers.empty() ||
           std::find(settings.peers.begin(), settings.peers.end(), name) != settings.peers.end();
  };
  for (const std::string_view name : names) {
    if (!wanted(name)) continue;
    std::string why = "this build has no Redis client (libhiredis-dev)";
    Contestant contestant;
    contestant.name = name;
    options.folder = folder + "/" + contestant.name;
    std::filesystem::create_directories(options.folder);
    for (const PeerKind& kind : AllPeers()) {
      if (name != kind.name) continue;
      contestant.is_redis = kind.is_redis;
      contestant.peer = kind.make(options, &why);
    }
    if (contestant.peer == nullptr) {
      report->Note(scenario, contestant.name + " is absent: " + why);
    } else {
      contestants.push_back(std::move(contestant));
    }
  }
  return contestants;
}

std::function<uint64_t(uint64_t)> Everybody(uint64_t items) {
  return [items](uint64_t) { return items; };
}

uint64_t Load(Peer* peer, const Plays& plays) {
  uint64_t loaded = 0;
  const auto parts = static_cast<uint64_t>(plays.drains);
  for (int month = 0; month < plays.months; ++month) {
    const int64_t begin_ms = kMonthBeginMs[static_cast<size_t>(month)];
    const bool open = month == plays.months - 1;
    const uint64_t passed = open && plays.half_open ? parts / 2 : parts;
    for (uint64_t part = 0; part < passed; ++part) {
      peer->SetTime(begin_ms + static_cast<int64_t>(part + 1) * 29 * kDayMs / plays.drains);
      for (uint64_t user = 0; user < plays.users; ++user) {
        const uint64_t total = plays.items_a_month(user);
        const uint64_t begin = total * part / parts;
        const uint64_t end = total * (part + 1) / parts;
        if (begin == end) continue;
        peer->Add(user, month, PlayedItems(user, month, begin, end));
        loaded += end - begin;
      }
      peer->Drain();
    }
    if (open) break;
    peer->SetTime(kMonthBeginMs[static_cast<size_t>(month) + 1] + 2 * kHourMs);
    peer->EndMonth(month);
  }
  peer->Settle();
  return loaded;
}

std::vector<Question> Questions(uint64_t users, const Asking& asking) {
  std::vector<Question> questions;
  for (uint64_t user = 0; user < users; ++user) questions.push_back(Ask(user, asking));
  return questions;
}

void CheckAnswers(const std::string& name, Session* session, std::span<const Question> questions) {
  std::vector<uint32_t> unseen;
  uint64_t candidates = 0, found = 0, played = 0;
  for (const Question& question : questions) {
    session->Ask(question, &unseen);
    if (unseen.size() > question.numbers.size() - question.seen) {
      Fail(name + " called a played item unseen");
    }
    candidates += question.numbers.size();
    found += question.numbers.size() - unseen.size();
    played += question.seen;
  }
  if (static_cast<double>(found - played) > 0.03 * static_cast<double>(candidates - played)) {
    Fail(name + " called too many items seen that were never played");
  }
}

std::vector<double> TimeAnswers(Session* session, std::span<const Question> questions,
                                double seconds) {
  std::vector<uint32_t> unseen;
  std::vector<double> us;
  const Stopwatch whole;
  for (size_t i = 0; us.size() < 5 || whole.Seconds() < seconds; ++i) {
    const Stopwatch one;
    session->Ask(questions[i % questions.size()], &unseen);
    us.push_back(one.Seconds() * 1e6);
  }
  return us;
}

}  // namespace seendb::perf
