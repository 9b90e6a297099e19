// seendb/resume_state.h: how far a load came, kept in a small JSON file, so that a load that was
// stopped goes on where the last acknowledged batch ended. A batch acknowledged but not yet
// noted is sent again, which is harmless. The state knows its log by a hash of all that was read of
// it: one that was rotated, or has new rows on top, is another.

#pragma once

#include <cstdint>
#include <string>

#include "seendb/status.h"

namespace seendb::tool {

/// Progress of one log into one collection.
struct ResumeState {
  std::string file;         ///< the log's name as given
  uint64_t file_bytes = 0;  ///< its size; 0: a pipe
  std::string collection;
  uint64_t rows = 0;  ///< rows dealt with
  uint64_t accepted = 0;
  uint64_t refused = 0;
  uint64_t bad = 0;
  uint64_t outside_window = 0;  ///< of the accepted: older than the policy's window
  uint64_t position = 0;        ///< bytes up to the end of those rows, decompressed
  std::string hash = {};     ///< of these bytes (PrefixHash); empty: an older tool wrote the state
  std::string columns = {};  ///< what was read from where
  /// Accepted plays, and refused and bad ones, of runs that came to the log's end: these runs held
  /// them against --max-refused.
  uint64_t judged_accepted = 0;
  uint64_t judged_wrong = 0;
};

/// The state in `path`; one without rows where there is no such file. kInvalidArgument: something
/// else is there.
Result<ResumeState> ReadResumeState(const std::string& path);
/// Replaces the state in `path` at once: a reader finds the old one or the new one. kIOError.
Status WriteResumeState(const std::string& path, const ResumeState& state);
/// kInvalidArgument where `saved` is of another name, collection or columns than `wanted`, or of a
/// longer file. A log may have grown since.
Status CheckResumable(const ResumeState& saved, const ResumeState& wanted);

}  // namespace seendb::tool
