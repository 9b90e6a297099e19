// server/ingest/dead_letters.h: where messages go that hold no event: a topic, a file, or the log
// alone. They are written before the offsets that pass over them, so after a crash one may be there
// twice, never not at all.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingest/topic_batch.h"
#include "ops/kafka_config.h"
#include "seendb/status.h"

namespace seendb::ingest {

/// See the head of this file. Threads: one at a time.
class DeadLetters {
 public:
  virtual ~DeadLetters() = default;
  /// Writes all of them; on success they survive a killed process. Any failure: repeat the call.
  virtual Status Write(const std::string& topic, const std::vector<DeadLetter>& letters) = 0;

  /// What the settings ask for.
  ///
  /// To a topic: key, payload and headers as they were (of a payload beyond 900,000 bytes its
  /// beginning, of headers 64 KB), and behind them the headers seendb.topic, seendb.partition,
  /// seendb.offset and seendb.reason. To a file: a line of JSON each; what is not UTF-8 is in
  /// `key_base64` or `payload_base64` as it was, beside its text with such bytes replaced.
  /// Otherwise only the log tells of them.
  static Result<std::unique_ptr<DeadLetters>> New(const ops::KafkaConfig& config);
};

}  // namespace seendb::ingest
