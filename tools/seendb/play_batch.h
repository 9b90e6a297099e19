// seendb/play_batch.h: plays on their way from a log to a database, and the places they go to.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "database.h"
#include "play_reader.h"
#include "seendb/events.h"

namespace seendb::tool {

/// Plays with the rows they come from. Owns the bytes of their texts.
class PlayBatch {
 public:
  /// Copies a play.
  void Add(const PlayRow& play, uint64_t row);
  /// Forgets all plays, keeps the memory.
  void Clear();
  /// How many.
  size_t size() const { return entries_.size(); }
  /// The row number of a play.
  uint64_t RowOf(size_t index) const { return entries_[index].row; }
  /// One play; views this batch.
  PlayRow At(size_t index) const;

 private:
  struct Entry {
    size_t begin;
    uint32_t user_bytes;
    uint32_t item_bytes;
    std::optional<int64_t> at_ms;
    uint64_t row;
    std::optional<Watch>
        watch;  // whose texts follow the item; their sizes count, not where they are
  };
  std::string bytes_;
  std::vector<Entry> entries_;
};

/// What became of a batch: positions in it and reasons for the first refusals.
struct SendResult {
  uint64_t accepted = 0;
  uint64_t refused = 0;
  std::vector<std::pair<size_t, std::string>> refusals;
  uint64_t outside_window = 0;  ///< of the accepted: older than the policy's window
  std::map<std::string, uint64_t> refused_by = {};  ///< all refused, by RefusalReasonName
};

/// The kind that the plays of a batch are recorded as; only kPlays says something of the player.
enum class EventKind { kPlays, kImpressions, kExposures };
/// Several of them, as people say it: "exposures".
std::string_view KindName(EventKind kind);

/// Where plays go. Threads: one.
class PlaySink {
 public:
  virtual ~PlaySink() = default;
  /// Records the batch. kBusy and kUnavailable: try again after `retry_after_s()`; repeating a
  /// batch is harmless.
  virtual Result<SendResult> Send(const PlayBatch& batch) = 0;
  /// The pause the last failed Send asked for; 0: none in particular.
  virtual int64_t retry_after_s() const { return 0; }
};

/// A sink into an open database, which must outlive it. `surface`: of exposures, where all of them
/// were shown; empty: nowhere.
std::unique_ptr<PlaySink> MakeSink(Database& database, std::string collection,
                                   EventKind kind = EventKind::kPlays, std::string surface = {});

/// A sink into a server that it owns the client of.
std::unique_ptr<PlaySink> MakeServerSink(std::unique_ptr<HttpClient> server,
                                         const std::string& collection, EventKind kind);

/// The play as a line of NDJSON: `{"user":"u1","item":"v1","at":1700000000000}`, without `at` where
/// there is none, and with what is said of the player, named as in POST /plays; or with the surface
/// of an exposure.
void AppendNdjson(const PlayRow& play, std::string* out, std::string_view surface = {});

}  // namespace seendb::tool
