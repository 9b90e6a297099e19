#include "ingest/topic_outcomes.h"

namespace seendb::ingest {

void TopicOutcomes::NoteTakenBefore(const std::string& topic) {
  const MutexLock lock(mutex_);
  topics_[topic].ever_taken = true;
}

void TopicOutcomes::Note(const std::string& topic, const Batch& batch, Clock::time_point now) {
  const MutexLock lock(mutex_);
  Outcome& outcome = topics_[topic];
  if (batch.taken > 0) {
    outcome = {.ever_taken = true};
    return;
  }
  const uint64_t deletions = outcome.ever_taken ? 0 : batch.deletions;
  if (batch.not_taken + deletions == 0) return;
  if (outcome.not_taken == 0) outcome.since = now;
  outcome.not_taken += batch.not_taken + deletions;
  outcome.why = batch.not_taken > 0 ? batch.why : "a path to the user or the item ends in null";
}

std::map<std::string, std::string> TopicOutcomes::NothingTaken(Clock::time_point now) const {
  std::map<std::string, std::string> sentences;
  const MutexLock lock(mutex_);
  for (const auto& [topic, outcome] : topics_) {
    const uint64_t least = outcome.ever_taken ? kInARow : 1;
    if (outcome.not_taken < least || now - outcome.since < kPatience) continue;
    sentences[topic] =
        "nothing of topic " + topic +
        " is taken: its events and messages are refused, dead letters or deletions, the newest: " +
        outcome.why;
  }
  return sentences;
}

}  // namespace seendb::ingest
