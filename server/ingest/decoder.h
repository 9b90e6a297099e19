// server/ingest/decoder.h: the events of one message: a JSON object, or an array of them, in which
// user, item and time are found by the topic's paths, and, where an event has it, what the player
// said and the day its client was told last (null: nothing), or the surface where it was shown, and
// groups of the item: an array of texts, or one text. A mark has user, group, until and time
// instead. The decoder ignores all other members.
//
// A message is taken whole or not at all. Ids are text or unsigned 64-bit integers; one may be the
// record's key or a header of it, as text (in quotes or not), for all events of the message. Times
// are numbers of the topic's unit since 1970, with a fraction or without, or text as ISO 8601 and
// databases write it; without a path for it the record's own time counts. A message without bytes
// (a tombstone), and one whose path to the user or the item ends in null on the way (a deletion of
// a change log), holds no event and is no fault.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kafka_config.h"
#include "seendb/events.h"
#include "times/time_text.h"
#include "wire/arena.h"
#include "wire/json_read.h"

namespace seendb::ingest {

/// Most events of one message.
inline constexpr size_t kMaxMessageEvents = 32'768;

/// Takes the five bytes of a schema registry off the front of a message.
Status SkipRegistryBytes(std::string_view* payload);

/// A record of a log, as far as events come from it; borrowed.
struct Record {
  std::string_view payload = {};
  std::optional<std::string_view> key = {};
  /// The values of the headers that the topic names, where the record has them.
  std::optional<std::string_view> user_header = {}, item_header = {};
  std::optional<int64_t> at_ms = {};  ///< its time, if it has one
};

/// The members of an event that need room of their own, or that a play has not. A topic's events
/// all have one, or none has.
struct Beside {
  std::string_view surface = {};         ///< of what was served or exposed; empty: none
  std::string_view group = {};           ///< of a mark
  std::optional<int64_t> until_ms = {};  ///< of a mark; absent: always
  /// Groups of the item: what the event is counted by, and what is seen with it.
  std::vector<std::string_view> of = {}, same_as = {};
};

/// See the head of this file. Threads: one at a time, and no other JSON of the thread meanwhile.
class Decoder {
 public:
  /// `topic` is borrowed.
  explicit Decoder(const ops::KafkaTopic& topic);
  /// Where the topic's settings name no zone, dates without one are of this zone; at first of UTC.
  void SetZoneOfCollection(const times::TimeZone& zone);

  /// Appends the events of a record to `*events`; their texts lie in `*arena`, what the player said
  /// in `*watches`. If HasBeside(), `*beside` gets one entry for each event. A mark is an event
  /// without an item; its `at_ms` is when it was said. On a refusal (kInvalidArgument, its field
  /// where in the message; "/@key" and "/@header:NAME" of the record) all of them are as before.
  /// Adds the deletions that were passed over to `*deletions`.
  Status Decode(const Record& record, wire::Arena* arena, std::vector<Play>* events,
                std::deque<Watch>* watches, std::vector<Beside>* beside, uint64_t* deletions) const;
  /// Whether events have something that `*beside` takes.
  bool HasBeside() const { return has_beside_; }

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
    kSurface,
    kGroup,
    kUntil,
    kOf,
    kSameAs,
    kMembers
  };
  struct Reading;

  Status ReadAround(const Record& record, Reading* reading) const;
  Status ReadPayload(Reading* reading) const;
  Status ReadEvent(wire::ondemand::value value, Reading* reading) const;
  Status ReadObject(wire::ondemand::object object, size_t depth, uint32_t candidates,
                    Reading* reading) const;
  Status ReadMember(size_t member, wire::ondemand::value value, Reading* reading) const;
  Status ReadBeside(size_t member, wire::ondemand::value value, Reading* reading) const;
  Status ReadGroupsOf(size_t member, wire::ondemand::value value, Reading* reading) const;
  Status ReadMoment(wire::ondemand::value value, std::optional<int64_t>* at_ms) const;
  Status ReadWatch(size_t member, wire::ondemand::value value, Reading* reading) const;
  Status ReadDay(wire::ondemand::value value, Reading* reading, std::string_view* day) const;
  Status ReadId(wire::ondemand::value value, Reading* reading, IdRef* id) const;

  const ops::KafkaTopic& topic_;
  std::array<const std::vector<std::string>*, kMembers> paths_;
  uint32_t looked_for_ = 0, needed_ = 0;  // bit sets of members
  const bool has_beside_;
  times::TimeForm time_form_;
};

}  // namespace seendb::ingest
