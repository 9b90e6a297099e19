#include "base/whole_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace seendb {
namespace {

constexpr size_t kReadAtOnce = 64u << 10;
constexpr size_t kLineFileBytesMost = 64u << 10;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path, size_t bytes_most) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  const auto failed = [&path] {
    return Status::IOError("can't read " + path + ": " + std::strerror(errno));
  };
  if (file == nullptr && errno == ENOENT) {
    return Status::NotFound(std::string(failed().message()));
  }
  if (file == nullptr) return failed();
  std::string text;
  for (size_t got = 1; got > 0 && text.size() <= bytes_most;) {
    const size_t before = text.size();
    text.resize(before + std::min(kReadAtOnce, bytes_most + 1 - before));
    got = std::fread(text.data() + before, 1, text.size() - before, file.get());
    text.resize(before + got);
  }
  if (std::ferror(file.get()) != 0) return failed();
  if (text.size() <= bytes_most) return text;
  return Status::InvalidArgument(path + " is over " + std::to_string(bytes_most) + " bytes");
}

Result<std::string> ReadFirstLine(const std::string& path) {
  Result<std::string> text = ReadWholeFile(path, kLineFileBytesMost);
  if (!text.ok()) return text;
  std::string line = std::move(text).value();
  line.resize(std::min(line.find('\n'), line.size()));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace seendb
