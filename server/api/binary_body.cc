#include "api/binary_body.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <string>

#include "base/utf8.h"

namespace seendb::api {
namespace {

static_assert(std::endian::native == std::endian::little, "bodies are read as they are");

constexpr size_t kNumberBytes = sizeof(uint64_t);

Status AtByte(size_t offset, const std::string& what) {
  return Status::InvalidArgument(what + " at byte " + std::to_string(offset), "/body");
}

}  // namespace

Status TooManyIds(size_t most) {
  return Status::InvalidArgument("more than " + std::to_string(most) + " ids", "/body");
}

// Where the body is ASCII, every text in it is.
BinaryBody::BinaryBody(std::string_view bytes, bool texts)
    : bytes_(bytes), texts_(texts), ascii_(texts && IsAscii(bytes)) {}

Result<BinaryBody> BinaryBody::Of(const Call& call) {
  const std::string_view form = call.Query("ids").value_or("");
  if (form != "u64" && form != "string") {
    return Status::InvalidArgument("must be u64 or string", "/ids");
  }
  return BinaryBody(call.request.body, form == "string");
}

Status BinaryBody::Read64(const char* what, uint64_t* number) {
  if (bytes_.size() - at_ < kNumberBytes) return AtByte(at_, std::string(what) + " is cut off");
  std::memcpy(number, bytes_.data() + at_, kNumberBytes);
  at_ += kNumberBytes;
  return Status::Ok();
}

Status BinaryBody::ReadId(IdRef* id) {
  if (!texts_) {
    uint64_t number = 0;
    if (Status status = Read64("an id", &number); !status.ok()) return status;
    *id = IdRef(number);
    return Status::Ok();
  }
  uint32_t length = 0;
  if (bytes_.size() - at_ < sizeof(length)) return AtByte(at_, "a length is cut off");
  std::memcpy(&length, bytes_.data() + at_, sizeof(length));
  if (length == 0) return AtByte(at_, "an id is empty");
  if (length > kMaxIdBytes) {
    return AtByte(at_, "an id is longer than " + std::to_string(kMaxIdBytes) + " bytes");
  }
  const size_t begin = at_ + sizeof(length);
  if (bytes_.size() - begin < length) return AtByte(begin, "an id is cut off");
  const std::string_view text = bytes_.substr(begin, length);
  if (!ascii_ && !IsUtf8(text)) return AtByte(begin, "an id is not UTF-8");
  *id = IdRef(text);
  at_ = begin + length;
  return Status::Ok();
}

Status BinaryBody::ReadNumbers(size_t most, std::vector<IdRef>* ids) {
  const size_t left = bytes_.size() - at_;
  if (left % kNumberBytes != 0) {
    return AtByte(bytes_.size() - left % kNumberBytes, "an id is cut off");
  }
  const size_t count = left / kNumberBytes;
  if (count > most) return TooManyIds(most);
  ids->resize(count);
  for (IdRef& id : *ids) {
    uint64_t number = 0;
    std::memcpy(&number, bytes_.data() + at_, kNumberBytes);
    id = IdRef(number);
    at_ += kNumberBytes;
  }
  return Status::Ok();
}

Status BinaryBody::ReadIds(size_t most, std::vector<IdRef>* ids) {
  if (!texts_) return ReadNumbers(most, ids);
  while (!AtEnd()) {
    IdRef id;
    if (Status status = ReadId(&id); !status.ok()) return status;
    if (ids->size() == most) return TooManyIds(most);
    ids->push_back(id);
  }
  return Status::Ok();
}

Status BinaryBody::ReadTime(std::optional<int64_t>* at_ms) {
  const size_t begin = at_;
  uint64_t bits = 0;
  if (Status status = Read64("a time", &bits); !status.ok()) return status;
  at_ms->reset();
  if (bits > static_cast<uint64_t>(INT64_MAX)) return AtByte(begin, "a time is negative");
  if (bits != 0) *at_ms = static_cast<int64_t>(bits);
  return Status::Ok();
}

Status ReadQueryNumber(const Call& call, const char* name, std::optional<uint64_t>* number) {
  const auto text = call.Query(name);
  if (!text) return Status::Ok();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) {
    return Status::InvalidArgument("must be a non-negative integer", std::string("/") + name);
  }
  *number = value;
  return Status::Ok();
}

Status CheckCount(const Call& call, size_t got, const char* noun) {
  std::optional<uint64_t> count;
  if (Status status = ReadQueryNumber(call, "count", &count); !status.ok()) return status;
  if (!count || *count == got) return Status::Ok();
  std::string why = "the body has " + std::to_string(got) + " " + noun + ", not ";
  why += std::to_string(*count);
  if (call.Query("ids") == "u64") why += ": an id is 8 bytes, little-endian";
  return Status::InvalidArgument(std::move(why), "/count");
}

}  // namespace seendb::api
