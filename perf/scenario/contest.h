// scenario/contest.h: peers side by side: made, loaded with the same plays, asked the same
// questions.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peers/peer.h"
#include "scenario/all.h"

namespace seendb::perf {

/// A peer in a scenario.
struct Contestant {
  std::string name;
  bool is_redis = false;
  std::unique_ptr<Peer> peer;
};

/// Makes the named peers, each in a folder of its own below `options.folder`. One that can't run
/// is left out, with a note.
std::vector<Contestant> Invite(const Settings& settings, const std::string& scenario,
                               std::span<const std::string_view> names, PeerOptions options,
                               Report* report);

/// Plays to load.
struct Plays {
  uint64_t users = 100;
  std::function<uint64_t(uint64_t user)> items_a_month;  ///< of a user
  int months = kWindow;
  int drains = 8;          ///< a month
  bool half_open = false;  ///< of the last month only the first half has passed
};
/// The same number for everybody.
std::function<uint64_t(uint64_t)> Everybody(uint64_t items);

/// Loads a peer, month after month, and settles it. The count of items loaded.
uint64_t Load(Peer* peer, const Plays& plays);

/// One question for each of the users [0, users).
std::vector<Question> Questions(uint64_t users, const Asking& asking);

/// Asks every question once and ends the program unless every played candidate is found, and at
/// most 3% of the others.
void CheckAnswers(const std::string& name, Session* session, std::span<const Question> questions);

/// Asks the questions in turn for about `seconds`, at least five times; each answer's time in us.
std::vector<double> TimeAnswers(Session* session, std::span<const Question> questions,
                                double seconds);

}  // namespace seendb::perf
