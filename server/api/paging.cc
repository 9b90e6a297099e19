#include "api/paging.h"

#include <charconv>
#include <string>

namespace seendb::api {
namespace {

Status ReadPageLimit(std::string_view text, size_t most, size_t* limit) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *limit);
  if (error == std::errc() && stop == end && *limit >= 1 && *limit <= most) return Status::Ok();
  return Status::InvalidArgument("must be from 1 to " + std::to_string(most), "/limit");
}

}  // namespace

Status ReadPage(const Call& call, size_t most, size_t* limit, std::string_view* cursor) {
  if (const auto text = call.Query("limit")) {
    if (Status status = ReadPageLimit(*text, most, limit); !status.ok()) return status;
  }
  if (const auto named = call.Query("cursor")) {
    // Empty, it would mean the first page, and a reader would go round for ever.
    if (named->empty()) return Status::InvalidArgument("is empty", "/cursor");
    *cursor = *named;
  }
  return Status::Ok();
}

}  // namespace seendb::api
