#include "resume_state.h"

#include <filesystem>
#include <system_error>

#include "report_json.h"
#include "state_file.h"

namespace seendb::tool {

Result<ResumeState> ReadResumeState(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status::InvalidArgument(path + " is a folder; name a file for the state");
  }
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return Status::InvalidArgument(path + " is no file; name one for the state");
  }
  auto read = ReadStateFile(path);
  if (!read.ok()) return read.status();
  const Json& json = *read;
  if (json.empty()) return ResumeState{};
  if (!json.contains("file") || !json.contains("rows")) {
    return Status::InvalidArgument(path + " is not the state of a load; remove it or name another");
  }
  return ResumeState{TextOf(json, "file"),         CountOf(json, "file_bytes"),
                     TextOf(json, "collection"),   CountOf(json, "rows"),
                     CountOf(json, "accepted"),    CountOf(json, "refused"),
                     CountOf(json, "bad"),         CountOf(json, "outside_window"),
                     CountOf(json, "position"),    TextOf(json, "hash"),
                     TextOf(json, "columns"),      CountOf(json, "judged_accepted"),
                     CountOf(json, "judged_wrong")};
}

Status WriteResumeState(const std::string& path, const ResumeState& state) {
  return WriteStateFile(path, {{"file", state.file},
                               {"file_bytes", state.file_bytes},
                               {"collection", state.collection},
                               {"rows", state.rows},
                               {"accepted", state.accepted},
                               {"refused", state.refused},
                               {"bad", state.bad},
                               {"outside_window", state.outside_window},
                               {"position", state.position},
                               {"hash", state.hash},
                               {"columns", state.columns},
                               {"judged_accepted", state.judged_accepted},
                               {"judged_wrong", state.judged_wrong}});
}

Status CheckResumable(const ResumeState& saved, const ResumeState& wanted) {
  if (saved.rows == 0) return {};
  if (saved.file != wanted.file || saved.collection != wanted.collection) {
    return Status::InvalidArgument("the state is of " + saved.file + " into " + saved.collection +
                                   ", not of " + wanted.file + " into " + wanted.collection);
  }
  if (wanted.file_bytes < saved.file_bytes) {
    return Status::InvalidArgument(
        wanted.file +
        " is smaller than when its load stopped: another file of that name? Load it " +
        "with another state file, or without --resume. If the log was rotated, load the old file " +
        "too, without --resume, for the rows it got last: plays that are recorded already do no "
        "harm");
  }
  if (!saved.columns.empty() && saved.columns != wanted.columns) {
    return Status::InvalidArgument("the state is of other columns: " + saved.columns + "; now " +
                                   wanted.columns);
  }
  return {};
}

}  // namespace seendb::tool
