// server/ingest/decoder.h: the events of one message: a JSON object, or an array of them, in which
// user, item and time are found by the topic's paths, and, where an event has it, what the player
// said and the day its client was told last (null: nothing). Whatever else is there is ignored.
//
// A message is taken whole or not at all. Ids are text or unsigned 64-bit integers, times unsigned
// integers, ms or s since 1970; without a path for it the record's own time counts.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/arena.h"
#include "api/json_read.h"
#include "ops/kafka_config.h"
#include "seendb/events.h"

namespace seendb::ingest {

/// Most events of one message.
inline constexpr size_t kMaxMessageEvents = 32'768;

/// See the head of this file. Threads: one at a time, and no other JSON of the thread meanwhile.
class Decoder {
 public:
  /// `topic` is borrowed.
  explicit Decoder(const ops::KafkaTopic& topic);

  /// Appends the events of `payload` to `*events`; their texts lie in `*arena`, what the player
  /// said in `*watches`. `record_ms`: the record's time, if it has one. On a refusal
  /// (kInvalidArgument, its field where in the message) `*events` and `*watches` are as before.
  Status Decode(std::string_view payload, std::optional<int64_t> record_ms, api::Arena* arena,
                std::vector<Play>* events, std::deque<Watch>* watches) const;

 private:
  enum Member : size_t {
    kUser,
    kItem,
    kAt,
    kDay,
    kProgress,
    kDuration,
    kDevice,
    kFields,
    kMembers
  };
  struct Reading;

  Status ReadEvent(api::ondemand::value value, Reading* reading) const;
  Status ReadObject(api::ondemand::object object, size_t depth, uint32_t candidates,
                    Reading* reading) const;
  Status ReadMember(size_t member, api::ondemand::value value, Reading* reading) const;
  Status ReadWatch(size_t member, api::ondemand::value value, Reading* reading) const;
  Status ReadDay(api::ondemand::value value, Reading* reading, std::string_view* day) const;
  Status ReadId(api::ondemand::value value, Reading* reading, IdRef* id) const;

  const ops::KafkaTopic& topic_;
  std::array<const std::vector<std::string>*, kMembers> paths_;
  uint32_t looked_for_ = 0, needed_ = 0;  // bit sets of members
};

}  // namespace seendb::ingest
