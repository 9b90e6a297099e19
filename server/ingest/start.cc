#include "ingest/start.h"

namespace seendb::ingest {

StartPoint ChooseStart(const PartitionFacts& facts, ops::KafkaStart start) {
  StartPoint point;
  if (facts.held) {
    point.alarm = kBeyondEnd;
    point.held = "the log is not the one that was read: forget the topic to read it";
  } else if (facts.stored) {
    if (*facts.stored > facts.high) {
      point.alarm = kBeyondEnd;
      if (facts.repeatable) {
        point.offset = facts.low;
        return point;
      }
      point.held = "the stored offset " + std::to_string(*facts.stored) +
                   " is beyond the log's end, " + std::to_string(facts.high);
    } else if (*facts.stored < facts.low) {
      point.alarm = "truncated";
      point.lost = facts.low - *facts.stored;
      if (facts.replicated) {
        point.held = "the topic begins at offset " + std::to_string(facts.low) +
                     ", and this replica goes on from " + std::to_string(*facts.stored) +
                     ": what lies between is gone";
      } else {
        point.offset = facts.low;
      }
    } else {
      point.offset = *facts.stored;
      if (facts.last && facts.last->offset >= facts.low) point.check = facts.last;
    }
  } else if (facts.known || facts.topic_known || start == ops::KafkaStart::kEarliest) {
    point.offset = facts.low;
  } else if (start == ops::KafkaStart::kLatest) {
    point.offset = facts.high;
  } else if (start == ops::KafkaStart::kTime) {
    point.wanted_start = start;
  } else {
    point.alarm = "no_start";
    point.held = "nothing is stored of it, and the settings name no start";
  }
  return point;
}

}  // namespace seendb::ingest
