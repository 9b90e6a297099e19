// server/ingest/topic_batch.h: what was polled of one topic, decoded, until it is applied: events
// (or updates of items) with their offsets, how far each partition gets, and messages without an
// event.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/decoder.h"
#include "ingest/item_decoder.h"
#include "seendb/ingest.h"
#include "seendb/item_store.h"
#include "seendb/marks.h"

namespace seendb::ingest {

/// When a message arrived, if its log says so: what it holds is judged as it would have been then.
struct Arrival {
  int64_t at_ms = 0;
  int64_t day = 0;  ///< of the topic's collection
  bool operator==(const Arrival&) const = default;
};

/// Headers of a record: names and values, in its order.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// A message as it was polled; borrowed.
struct Message {
  int32_t partition = 0;
  int64_t offset = 0;
  std::optional<int64_t> at_ms = {};        ///< the record's time, if it has one
  std::string_view key = {}, payload = {};  ///< without data: the record has none
  std::optional<Arrival> arrival = {};
  std::optional<std::string_view> user_header = {}, item_header = {};  ///< as in Record
  /// Copies all headers, kRefusedBytes of them at most: of a dead letter alone. Null: there are
  /// none.
  std::function<Headers()> headers = {};
};

/// A message that held no event, and why.
struct DeadLetter {
  int32_t partition = 0;
  int64_t offset = 0;
  std::string reason;
  std::string key, payload;
  bool misrouted = false;  ///< it has an event of another partition's user
  Headers headers = {};
};

/// Of a message that is refused for itself, say for its size.
inline constexpr size_t kRefusedBytes = 64u << 10;

/// A mark out of a topic of marks, with its user; borrowed.
struct UserMark {
  IdRef user = {};
  Mark mark = {};
};

/// See the head of this file. Threads: one at a time.
class TopicBatch {
 public:
  /// `topic` is borrowed. `partition_of`: where each user's events belong; null: wherever they are.
  explicit TopicBatch(const ops::KafkaTopic& topic,
                      std::function<uint32_t(IdRef)> partition_of = {})
      : topic_(topic), decoder_(topic), partition_of_(std::move(partition_of)) {}

  /// Of the topic's collection: see Decoder.
  void SetZoneOfCollection(const times::TimeZone& zone) { decoder_.SetZoneOfCollection(zone); }
  /// By which updates of items are read from here on. Never null once something of such a topic is
  /// added.
  void SetItemTypes(std::shared_ptr<const wire::ItemTypes> types) { types_ = std::move(types); }

  /// Takes the next message of its partition. Precondition: Fits(message).
  void Add(const Message& message);
  /// Takes the next message of its partition without looking into it: it becomes a dead letter, of
  /// which the first kRefusedBytes are kept.
  void Refuse(const Message& message, std::string reason);
  /// Takes a partition to `next_offset` without a message.
  void Step(int32_t partition, int64_t next_offset);
  /// Notes that a partition, applied up to `next_offset`, is not to be read on. Precondition:
  /// nothing was added of it.
  void Hold(int32_t partition, int64_t next_offset);

  bool empty() const { return partitions_.empty(); }
  /// Whether the batch can take it; else it is to be applied first.
  bool Fits(const Message& message) const;
  const std::vector<DeadLetter>& dead_letters() const { return dead_letters_; }
  /// Events that were passed over: a path to their user or item ends in null.
  uint64_t deletions() const { return deletions_; }
  /// For the engine; good until the batch changes. `applied`: by partition, the offset that all
  /// shards are taken to have; one that is not in it begins with this batch.
  /// If the topic has marks, it has steps alone, and `MarksOf` has the rest.
  IngestBatch View(const std::map<int32_t, int64_t>& applied = {});
  /// The marks, good until the batch changes; none of another topic.
  std::vector<UserMark> MarksOf() const;
  /// The updates of items, and how far their topic is read with them; none of another topic.
  const std::vector<ItemUpdate>& updates() const { return updates_; }
  std::vector<ItemSource> ItemSources() const;
  /// Makes the message of a mark or an update, by its position, a dead letter, once.
  void BuryOne(size_t position, std::string reason);
  /// Where each partition gets, and of how many messages.
  struct Progress {
    int64_t next_offset = 0;
    uint64_t messages = 0;
    uint32_t source = 0;  ///< position in View().sources
    std::vector<int64_t> dead_letters;
    std::optional<SourceMark> last;
    bool held = false;
  };
  const std::map<int32_t, Progress>& partitions() const { return partitions_; }
  /// Applied: begins anew.
  void Clear();

 private:
  Progress& Of(int32_t partition);
  Progress& Pass(const Message& message);
  void AddItems(const Message& message);
  void Keep(const Message& message);
  void Bury(const Message& message, std::string reason, size_t bytes_most, bool misrouted);
  /// The user of the first event from the position `first` on that belongs elsewhere.
  std::optional<IdRef> FindMisrouted(size_t first, int32_t partition) const;

  const ops::KafkaTopic& topic_;
  Decoder decoder_;
  const std::function<uint32_t(IdRef)> partition_of_;
  wire::Arena arena_{1u << 20};
  std::vector<Play> events_;
  std::deque<Watch> watches_;                     // of the events; they stay where they are
  std::vector<Beside> beside_;                    // of the events, where they have it
  std::vector<std::string_view> surfaces_;        // of View
  std::shared_ptr<const wire::ItemTypes> types_;  // of a topic of items
  std::vector<ItemUpdate> updates_;               // of it, in place of events
  /// A message of marks or updates, for the case that one of them is refused: as DeadLetter has it.
  std::map<std::pair<int32_t, int64_t>, DeadLetter> kept_;
  size_t kept_bytes_ = 0;
  std::vector<Origin> origins_;  // of the events, or of the updates
  std::optional<int64_t> day_;   // on which the events arrived, if that is known
  std::vector<SourceStep> steps_;
  std::map<int32_t, Progress> partitions_;
  std::vector<DeadLetter> dead_letters_;
  uint64_t deletions_ = 0;
};

}  // namespace seendb::ingest
