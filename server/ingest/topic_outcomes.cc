#include "ingest/topic_outcomes.h"

namespace seendb::ingest {

void TopicOutcomes::Note(const std::string& topic, uint64_t taken, uint64_t not_taken,
                         const std::string& why, Clock::time_point now) {
  if (taken == 0 && not_taken == 0) return;
  const MutexLock lock(mutex_);
  Outcome& outcome = topics_[topic];
  if (taken > 0) {
    outcome = {.ever_taken = true};
    return;
  }
  if (outcome.not_taken == 0) outcome.since = now;
  outcome.not_taken += not_taken;
  outcome.why = why;
}

std::map<std::string, std::string> TopicOutcomes::NothingTaken(Clock::time_point now) const {
  std::map<std::string, std::string> sentences;
  const MutexLock lock(mutex_);
  for (const auto& [topic, outcome] : topics_) {
    const uint64_t least = outcome.ever_taken ? kInARow : 1;
    if (outcome.not_taken < least || now - outcome.since < kPatience) continue;
    sentences[topic] =
        "nothing of topic " + topic + " is taken: the last " + std::to_string(outcome.not_taken) +
        " of its events and messages were refused or dead letters, the newest: " + outcome.why;
  }
  return sentences;
}

}  // namespace seendb::ingest
