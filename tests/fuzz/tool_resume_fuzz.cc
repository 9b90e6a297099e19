// Arbitrary bytes as the state of a load that was stopped: refused, or read to what is written and
// read again as itself. The states of two logs are taken for each other only where they say so.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "fuzz/input.h"
#include "resume_state.h"

namespace {

using namespace seendb;
using tool::ResumeState;

const std::string& Path() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("seendb-resume-" + std::to_string(getpid())))
          .string();
  return path;
}

bool Same(const ResumeState& a, const ResumeState& b) {
  return a.file == b.file && a.file_bytes == b.file_bytes && a.collection == b.collection &&
         a.rows == b.rows && a.accepted == b.accepted && a.refused == b.refused && a.bad == b.bad;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::FILE* const file = std::fopen(Path().c_str(), "wb");
  fuzz::Check(file != nullptr && (size == 0 || std::fwrite(data, 1, size, file) == size));
  fuzz::Check(std::fclose(file) == 0);
  const Result<ResumeState> read = tool::ReadResumeState(Path());
  if (!read.ok()) {
    fuzz::Check(read.status().code() == StatusCode::kInvalidArgument);
  } else {
    fuzz::Check(tool::WriteResumeState(Path(), *read).ok());
    const Result<ResumeState> again = tool::ReadResumeState(Path());
    fuzz::Check(again.ok() && Same(*again, *read));
    fuzz::Check(tool::CheckResumable(*read, *again).ok());
    ResumeState other = *read;
    other.file += "x";
    fuzz::Check(tool::CheckResumable(*read, other).ok() == (read->rows == 0));
  }
  std::filesystem::remove(Path());
  return 0;
}
