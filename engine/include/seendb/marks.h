// seendb/marks.h: marks of a user: all of a group of items up to a time is seen, however many items
// that are; or all of it, for ever.
//
//   const Mark mark{.group = "channel:9", .until_ms = 1795694400000};
//   auto marked = engine->PutMarks(user, {&mark, 1});
//   const std::string_view of[] = {"channel:9"};
//   const CandidateGroups groups[] = {{.of = of, .at_ms = 1795694000000}};
//   const Question question{.groups = groups};  // of a filter request: its first item is seen
//
// Marks are the user's, in all collections. An erasure takes them, a clear does not, and nothing
// expires. The mark of a group that reaches furthest counts. A mark said no later than the group's
// deletion does not count, in whatever order they come.
//
// Borrowed views: they must outlive the call they are passed to. Threads: plain values.

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
#include "seendb/history.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb {

/// Most groups of a user that have a mark; deletions do not count.
inline constexpr size_t kMaxMarkedGroups = 10'000;
/// Most marks of one call, and of one page.
inline constexpr size_t kMaxMarksAtOnce = 1'000;

/// One thing said about a group.
struct Mark {
  std::string_view group = {};           ///< 1-kMaxGroupBytes bytes of UTF-8
  std::optional<int64_t> until_ms = {};  ///< published up to then, included; absent: always
  CallTime at_ms = {};                   ///< when it is said; absent: now
};

/// A mark that counts.
struct MarkEntry {
  std::string group;
  std::optional<int64_t> until_ms;  ///< absent: always
  int64_t said_ms = 0;
};

/// One page of a user's marks.
struct MarksRequest {
  IdRef user = {};              ///< whose
  uint32_t limit = 100;         ///< 1-kMaxMarksAtOnce
  std::string_view after = {};  ///< groups behind this one; empty: from the first
};

/// The answer.
struct MarksPage {
  std::vector<MarkEntry> marks;  ///< by group, as bytes
  std::string after;             ///< MarksRequest::after of the next page; empty: this was the last
  bool degraded = false;         ///< something could not be read; marks may be missing
};

/// The part of an engine that keeps marks. Threads: any, at once.
class UserMarks {
 public:
  /// Marks groups of a user, all or none. They last as plays of the one that syncs soonest.
  virtual Result<RecordResult> PutMarks(IdRef user, std::span<const Mark> marks) = 0;
  /// Deletes the mark of a group, synced; whether one counted.
  virtual Result<bool> DeleteMark(IdRef user, std::string_view group, CallTime at_ms = {}) = 0;
  /// Reads a page of marks into `*page` (cleared first).
  virtual Status ReadMarks(const MarksRequest& request, MarksPage* page) = 0;

 protected:
  ~UserMarks() = default;
};

}  // namespace seendb
