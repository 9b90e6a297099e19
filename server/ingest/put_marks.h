// server/ingest/put_marks.h: the marks of a batch, put into the engine before the batch's offsets
// are stored. A mark that comes twice, because the process ended in between, changes nothing: it
// was said at the same time.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ingest/topic_batch.h"
#include "seendb/ingest.h"
#include "seendb/marks.h"

namespace seendb::ingest {

/// The outcome of marks.
struct MarksPut {
  RecordResult counted;  ///< `refusals` is empty
  /// Those that the engine does not take for themselves, by position, and why.
  std::vector<std::pair<size_t, std::string>> not_taken;
};

/// Puts them all, or as many as there were before a failure that is no mark's; then the caller
/// begins anew.
Result<MarksPut> PutMarks(UserMarks* engine, const std::vector<UserMark>& marks);

}  // namespace seendb::ingest
