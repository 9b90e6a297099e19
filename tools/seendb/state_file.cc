#include "state_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/outside_json.h"
#include "base/whole_file.h"
#include "part_file.h"

namespace seendb::tool {
namespace {

constexpr size_t kStateBytesMost = 16u << 20;

}  // namespace

Result<Json> ReadStateFile(const std::string& path) {
  const Result<std::string> text = ReadWholeFile(path, kStateBytesMost);
  if (text.status().code() == StatusCode::kNotFound) return Json::object();
  if (!text.ok()) return text.status();
  Json json = ParseOutside<Json>(*text);
  if (!json.is_object()) {
    return Status::InvalidArgument(path + " is not the state of a load; remove it or name another");
  }
  return json;
}

Status WriteStateFile(const std::string& path, const Json& state) {
  const std::string temporary = path + ".part";
  const std::string text = state.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::FILE* const file = OpenPartFile(temporary);
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = (file == nullptr || std::fclose(file) == 0) && written;
  if (!written) return Status::IOError("can't write " + temporary + ": " + std::strerror(errno));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Status::IOError("can't write " + path + ": " + std::strerror(errno));
  }
  return {};
}

}  // namespace seendb::tool
