// server/api/binary_body.h: ids in few bytes: what routes take as application/octet-stream. All
// numbers are little-endian.
//
//   ids=u64      an id is 8 bytes
//   ids=string   an id is a u32 length and so many bytes of UTF-8
//   count=N      what the body has, where the caller says so
//
// Numbers and canonical decimal text are the same id, as in JSON.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "seendb/id.h"

namespace seendb::api {

/// A body that is read from its beginning. Ids are views into it. A refusal names the byte.
class BinaryBody {
 public:
  /// `texts`: its ids are text.
  BinaryBody(std::string_view bytes, bool texts);
  /// Of a request, as its parameter `ids` says.
  static Result<BinaryBody> Of(const Call& call);

  bool AtEnd() const { return at_ == bytes_.size(); }
  /// The next id.
  Status ReadId(IdRef* id);
  /// All ids to the end, at most `most`.
  Status ReadIds(size_t most, std::vector<IdRef>* ids);
  /// The next 8 bytes: a time in ms since 1970; 0: none.
  Status ReadTime(std::optional<int64_t>* at_ms);

 private:
  Status ReadNumbers(size_t most, std::vector<IdRef>* ids);
  Status Read64(const char* what, uint64_t* number);

  std::string_view bytes_;
  size_t at_ = 0;
  bool texts_, ascii_;
};

/// The refusal of more than `most` ids.
Status TooManyIds(size_t most);

/// The query parameter `name`, where it is there.
Status ReadQueryNumber(const Call& call, const char* name, std::optional<uint64_t>* number);

/// Refuses a body of `got` ids or events (`noun`) where the parameter `count` says another number:
/// one of 4-byte numbers, say, has another count than its sender means.
Status CheckCount(const Call& call, size_t got, const char* noun);

}  // namespace seendb::api
