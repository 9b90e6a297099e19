// server/api/refusals.h: refused events are counted by reason, and told to the log at a bounded
// rate.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/event_counts.h"
#include "base/sync.h"
#include "seendb/events.h"
#include "wire/refusal_names.h"

namespace seendb::api {

/// Lines of the log about refused events: of each kind and reason one in kPause at most, with how
/// many were refused since the last one. Threads: any.
class RefusalLog {
 public:
  static constexpr std::chrono::seconds kPause{10};
  using Time = std::chrono::steady_clock::time_point;

  /// One line.
  struct Line {
    EventKind kind = EventKind::kPlays;
    std::string_view reason;
    uint64_t refused = 0;  ///< since the last line of this kind and reason
  };
  /// Counts `refused` events; true where a line is due, which is then in `*line`.
  bool Note(EventKind kind, size_t reason, uint64_t refused, Time now, Line* line);

 private:
  struct Row {
    uint64_t refused = 0;
    Time next{};
  };
  Mutex mutex_{LockRank::kLeaf};
  std::array<std::array<Row, wire::kRefusedBy>, kEventKinds> rows_ GUARDED_BY(mutex_);
};

/// Counts the events of a batch that were refused, and logs them.
void NoteRefused(RefusalLog* log, ops::CollectionCounters* counters, EventKind kind,
                 std::string_view collection, const RecordResult& result);
/// The same of one line that holds no event.
void NoteMalformed(RefusalLog* log, ops::CollectionCounters* counters, EventKind kind,
                   std::string_view collection, const Status& why);

}  // namespace seendb::api
