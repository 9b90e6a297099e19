// seendb/ingest.h: events out of a partitioned log (Kafka), recorded together with how far the log
// has been read, so that each event counts once whatever is killed in between.
//
// A source is one partition of a topic. Every shard keeps, for each source, the offset to read
// next and what it counted, written in the same batch as the events they cover: a shard never
// knows an offset whose events it has not got, nor the other way round. Shards are written one
// after the other, so that a crash leaves some ahead: whoever reads the log begins at the lowest
// offset, and Engine::Ingest lets each shard leave out what it has.
//
//   const SourceStep step{.topic = "plays", .partition = 3, .next_offset = 12};
//   const Play play{IdRef("u1"), IdRef("v1"), at_ms};
//   const Origin origin{.source = 0, .offset = 11};
//   auto done = engine->Ingest({.sources = {&step, 1}, .plays = {&play, 1},
//                               .origins = {&origin, 1}});
//
// Threads: plain values; views must outlive the call they are passed to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/events.h"
#include "seendb/facts.h"

namespace seendb {

/// Most events of one Ingest call; a reader makes several calls of more, at borders of messages.
inline constexpr size_t kMaxIngestEvents = 65'536;
/// Longest name of a topic, in bytes; it has no '/'.
inline constexpr size_t kMaxTopicBytes = 249;

/// A message of a source and the time that the log says of it. It tells a log from another one of
/// the same name: where the log still has a message at `offset`, its time is the same.
struct SourceMark {
  int64_t offset = 0;
  int64_t time_ms = 0;  ///< since 1970

  bool operator==(const SourceMark&) const = default;  ///< both members
};

/// How far a batch takes one source.
struct SourceStep {
  std::string_view topic;                      ///< 1-kMaxTopicBytes bytes, no '/'
  uint32_t partition = 0;                      ///< of the topic
  int64_t next_offset = 0;                     ///< to read once the batch is applied, >= 0
  std::span<const int64_t> dead_letters = {};  ///< offsets of messages that held no event
  /// The newest message below next_offset that has a time; nothing: the one known before stays.
  std::optional<SourceMark> last = {};
  /// Notes, instead of a step, that nothing is read of the source any more until
  /// Engine::ForgetTopic: its log is not the one that was read. Nothing else changes.
  bool held = false;
  /// The offset that the caller takes for stored in every shard: the batch has all that the log has
  /// from there on. A shard that stored less, or forgot the source, lacks what lies before: the
  /// call is refused. Nothing: reading begins with this step, and nothing is checked.
  std::optional<int64_t> from = {};
};

/// Where an event comes from.
struct Origin {
  uint32_t source = 0;  ///< position in IngestBatch::sources
  int64_t offset = 0;   ///< of its message, below the source's next_offset
  /// When it arrived: its time is judged as it would have been then, whenever the log is read. One
  /// without a time has this one. Nothing: it arrives now.
  std::optional<int64_t> arrived_ms = {};
};

/// A user's first play of a day in a collection (RecordResult::first_today).
struct FirstOfDay {
  std::string user;  ///< canonical text
  std::string collection;
  std::string day;  ///< "2026-11-20"

  bool operator==(const FirstOfDay&) const = default;  ///< all members
};

/// Events of one collection and the steps they make. Of each source, the batch holds everything
/// from where the lowest shard was; a source may step without events. Where the policy says
/// first_of_day, all of them arrived on one day, or have no time of arrival.
struct IngestBatch {
  std::string_view collection = "default";   ///< kNotFound if unknown
  Fact fact = Fact::kPlayed;                 ///< what all the events are
  std::span<const SourceStep> sources = {};  ///< each once
  std::span<const Play> plays = {};          ///< the events, whatever the fact
  std::span<const Origin> origins = {};      ///< of each event
  /// The surface of each event that was served or exposed (Exposure::surface). Empty: none has one.
  std::span<const std::string_view> surfaces = {};
  /// The first plays of the day among the events go to the outbox, in the write that holds the
  /// events (Engine::ReadOutbox). False: they are written as such, and told to nobody.
  bool outbox_first_plays = false;
  /// Each partition of the sources has the users of one shard, the one of the same number: a step
  /// goes to that shard alone, and other shards may be absent. False: it goes to every shard.
  bool partition_is_shard = false;
};

/// What became of a batch: accepted + refused + repeated == its events. `day` is that of their
/// arrival. Of events that are repeated nothing else is told.
struct IngestResult : RecordResult {
  uint64_t repeated = 0;  ///< recorded or refused by an earlier call
};

/// What all shards counted of a source, each message once, since it was first read.
struct SourceCounts {
  uint64_t plays_accepted = 0, plays_refused = 0;
  uint64_t impressions_accepted = 0, impressions_refused = 0;
  uint64_t exposures_accepted = 0, exposures_refused = 0;
  uint64_t dead_letters = 0;

  /// Adds member by member.
  SourceCounts& operator+=(const SourceCounts& more) {
    plays_accepted += more.plays_accepted;
    plays_refused += more.plays_refused;
    impressions_accepted += more.impressions_accepted;
    impressions_refused += more.impressions_refused;
    exposures_accepted += more.exposures_accepted;
    exposures_refused += more.exposures_refused;
    dead_letters += more.dead_letters;
    return *this;
  }
};

/// One source as the database knows it.
struct SourceInfo {
  std::string topic;
  uint32_t partition = 0;
  /// To read next: the lowest that a shard has stored, of those not absent. Nothing where one of
  /// them does not know it, or lost it: the source is to be read from where its log begins.
  std::optional<int64_t> next_offset;
  /// The same of shard `partition` alone, for IngestBatch::partition_is_shard; nothing where that
  /// shard is absent, too.
  std::optional<int64_t> next_of_shard = {};
  SourceCounts counts;
  /// The newest known message before next_offset, and before next_of_shard.
  std::optional<SourceMark> last = {}, last_of_shard = {};
  bool held = false;  ///< SourceStep::held was noted
};

// The outbox: first plays of the day that were ingested and are still to be told. A row has those
// of one message in one shard; it stays until Engine::DeleteOutbox. The rows of a source in a shard
// are read in the order of their offsets.

/// Rows that wait, of one source in one shard.
struct OutboxSource {
  uint32_t shard = 0;
  std::string topic;
  uint32_t partition = 0;
  uint64_t rows = 0;  ///< at least 1 where it comes from Engine::OutboxSources
};

/// One row.
struct OutboxRow {
  uint32_t shard = 0;
  std::string topic;
  uint32_t partition = 0;
  int64_t offset = 0;                        ///< of the message
  int64_t at_ms = 0;                         ///< when it was written, by the engine's clock
  std::vector<FirstOfDay> first_plays = {};  ///< empty: all of them are of users erased since
};

}  // namespace seendb
