#include "resume_state.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "part_file.h"
#include "report_json.h"

namespace seendb::tool {

Result<ResumeState> ReadResumeState(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return ResumeState{};
    return Status::IOError("can't read " + path + ": " + std::strerror(errno));
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("file") || !json.contains("rows")) {
    return Status::InvalidArgument(path + " is not the state of a load; remove it or name another");
  }
  return ResumeState{TextOf(json, "file"),       CountOf(json, "file_bytes"),
                     TextOf(json, "collection"), CountOf(json, "rows"),
                     CountOf(json, "accepted"),  CountOf(json, "refused"),
                     CountOf(json, "bad"),       CountOf(json, "outside_window")};
}

Status WriteResumeState(const std::string& path, const ResumeState& state) {
  const Json json = {{"file", state.file},
                     {"file_bytes", state.file_bytes},
                     {"collection", state.collection},
                     {"rows", state.rows},
                     {"accepted", state.accepted},
                     {"refused", state.refused},
                     {"bad", state.bad},
                     {"outside_window", state.outside_window}};
  const std::string temporary = path + ".part";
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::FILE* const file = OpenPartFile(temporary);
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = (file == nullptr || std::fclose(file) == 0) && written;
  if (!written) return Status::IOError("can't write " + temporary + ": " + std::strerror(errno));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Status::IOError("can't write " + path + ": " + std::strerror(errno));
  }
  return {};
}

Status CheckResumable(const ResumeState& saved, const ResumeState& wanted) {
  if (saved.rows == 0) return {};
  if (saved.file != wanted.file || saved.collection != wanted.collection) {
    return Status::InvalidArgument("the state is of " + saved.file + " into " + saved.collection +
                                   ", not of " + wanted.file + " into " + wanted.collection);
  }
  if (wanted.file_bytes < saved.file_bytes) {
    return Status::InvalidArgument(wanted.file + " is smaller than when its load stopped");
  }
  return {};
}

}  // namespace seendb::tool
