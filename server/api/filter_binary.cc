#include "api/filter_binary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <span>

#include "api/filter_json.h"
#include "base/utf8.h"
#include "http/header_list.h"

namespace seendb::api {
namespace {

static_assert(std::endian::native == std::endian::little, "bodies are read as they are");

constexpr std::array<std::string_view, 10> kParameters = {
    "user",  "collection", "ids",         "count",  "exclude",
    "limit", "on_error",   "deadline_ms", "record", "verify"};

Status TooMany(size_t most) {
  return Status::InvalidArgument("more than " + std::to_string(most) + " ids", "/body");
}

Status AtByte(size_t offset, const std::string& what) {
  return Status::InvalidArgument(what + " at byte " + std::to_string(offset), "/body");
}

Status ReadNumbers(std::string_view body, size_t most, std::vector<IdRef>* items) {
  constexpr size_t kBytes = sizeof(uint64_t);
  if (body.size() % kBytes != 0) {
    return AtByte(body.size() - body.size() % kBytes, "an id is cut off");
  }
  const size_t count = body.size() / kBytes;
  if (count > most) return TooMany(most);
  items->resize(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t number = 0;
    std::memcpy(&number, body.data() + i * kBytes, kBytes);
    (*items)[i] = IdRef(number);
  }
  return Status::Ok();
}

Status ReadTexts(std::string_view body, size_t most, std::vector<IdRef>* items) {
  const bool ascii = IsAscii(body);  // then every text in it is
  for (size_t at = 0; at < body.size();) {
    uint32_t length = 0;
    if (body.size() - at < sizeof(length)) return AtByte(at, "a length is cut off");
    std::memcpy(&length, body.data() + at, sizeof(length));
    if (length == 0) return AtByte(at, "an id is empty");
    if (length > kMaxIdBytes) {
      return AtByte(at, "an id is longer than " + std::to_string(kMaxIdBytes) + " bytes");
    }
    const size_t begin = at + sizeof(length);
    if (body.size() - begin < length) return AtByte(begin, "an id is cut off");
    const std::string_view text = body.substr(begin, length);
    if (!ascii && !IsUtf8(text)) return AtByte(begin, "an id is not UTF-8");
    if (items->size() == most) return TooMany(most);
    items->emplace_back(text);
    at = begin + length;
  }
  return Status::Ok();
}

Status ReadNumber(const Call& call, const char* name, std::optional<uint64_t>* number) {
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

Status ReadFlag(const Call& call, const char* name, bool* flag) {
  const std::string_view text = call.Query(name).value_or("false");
  if (text != "true" && text != "false") {
    return Status::InvalidArgument("must be true or false", std::string("/") + name);
  }
  *flag = text == "true";
  return Status::Ok();
}

Status ReadParameters(const Call& call, FilterRequest* request) {
  const auto user = call.Query("user");
  if (!user) return Status::InvalidArgument("missing query parameter", "/user");
  request->user = IdRef(*user);
  request->collection = call.Query("collection").value_or(request->collection);
  if (const auto on_error = call.Query("on_error")) {
    if (*on_error != "degrade" && *on_error != "fail") {
      return Status::InvalidArgument("must be degrade or fail", "/on_error");
    }
    request->on_error = *on_error == "fail" ? OnError::kFail : OnError::kDegrade;
  }
  std::optional<uint64_t> limit, deadline_ms;
  if (Status status = ReadNumber(call, "limit", &limit); !status.ok()) return status;
  if (limit == 0u) return Status::InvalidArgument("must be at least 1", "/limit");
  request->limit = static_cast<uint32_t>(std::min<uint64_t>(limit.value_or(0), UINT32_MAX));
  if (Status status = ReadNumber(call, "deadline_ms", &deadline_ms); !status.ok()) return status;
  if (deadline_ms) request->deadline_us = DeadlineUs(*deadline_ms);
  if (Status status = ReadFlag(call, "record", &request->record); !status.ok()) return status;
  return ReadFlag(call, "verify", &request->verify);
}

// A body of another width than its sender meant (4-byte numbers, say) has another count of ids.
Status CheckCount(const Call& call, size_t got) {
  std::optional<uint64_t> count;
  if (Status status = ReadNumber(call, "count", &count); !status.ok()) return status;
  if (!count || *count == got) return Status::Ok();
  return Status::InvalidArgument("the body has " + std::to_string(got) + " ids, not " +
                                     std::to_string(*count) +
                                     ": ids=u64 is 8 bytes an id, little-endian",
                                 "/count");
}

// The last ids are excluded, the others are the items.
Status Divide(const Call& call, const std::vector<IdRef>& ids, FilterRequest* request) {
  std::optional<uint64_t> exclude;
  if (Status status = ReadNumber(call, "exclude", &exclude); !status.ok()) return status;
  const size_t excluded = exclude.value_or(0);
  if (exclude && *exclude > ids.size()) {
    return Status::InvalidArgument("the body has " + std::to_string(ids.size()) + " ids",
                                   "/exclude");
  }
  const size_t most = call.context.max_candidates;
  if (excluded > most) {
    return Status::InvalidArgument("more than " + std::to_string(most) + " ids", "/exclude");
  }
  const std::span<const IdRef> all(ids);
  request->items = all.first(ids.size() - excluded);
  request->exclude = all.last(excluded);
  return request->items.size() <= most ? Status::Ok() : TooMany(most);
}

bool IsRefused(std::string_view parameters) {
  const size_t at = parameters.find("q=0");
  return at != std::string_view::npos &&
         parameters.substr(at + 3).find_first_not_of(".0 ") == std::string_view::npos;
}

}  // namespace

std::optional<UnseenForm> ParseAccept(std::string_view header) {
  if (http::Trim(header).empty()) return UnseenForm::kBitmap;
  bool indexes = false;
  while (!header.empty()) {
    std::string_view parameters = http::CutAt(',', &header);
    const std::string_view type = http::CutAt(';', &parameters);
    if (IsRefused(parameters)) continue;
    if (type == kBitmapType || type == "*/*" || type == "application/*") {
      return UnseenForm::kBitmap;
    }
    indexes = indexes || type == kIndexesType;
  }
  return indexes ? std::optional(UnseenForm::kIndexes) : std::nullopt;
}

bool IsBinaryFilterParameter(std::string_view name) {
  return std::find(kParameters.begin(), kParameters.end(), name) != kParameters.end();
}

Status ParseBinaryFilter(const Call& call, FilterRequest* request, std::vector<IdRef>* ids) {
  *request = FilterRequest();
  ids->clear();
  if (Status status = ReadParameters(call, request); !status.ok()) return status;
  const std::string_view form = call.Query("ids").value_or("");
  if (form != "u64" && form != "string") {
    return Status::InvalidArgument("must be u64 or string", "/ids");
  }
  const std::string_view body = call.request.body;
  const size_t lists = call.Query("exclude") ? 2 : 1;
  const size_t most = lists * call.context.max_candidates;
  Status status = form == "u64" ? ReadNumbers(body, most, ids) : ReadTexts(body, most, ids);
  if (status.ok()) status = CheckCount(call, ids->size());
  return status.ok() ? Divide(call, *ids, request) : status;
}

void WriteBinaryAnswer(const FilterRequest& request, const FilterResponse& answer, UnseenForm form,
                       http::Response* response) {
  std::string& body = response->body;
  const size_t count = answer.unseen.size();
  if (form == UnseenForm::kIndexes) {
    body.resize(count * sizeof(uint32_t));
    if (count > 0) std::memcpy(body.data(), answer.unseen.data(), body.size());
    response->content_type = kIndexesType;
  } else {
    body.assign((request.items.size() + 7) / 8, '\0');
    for (const uint32_t index : answer.unseen) {
      char& byte = body[index / 8];
      byte = static_cast<char>(byte | 1 << index % 8);
    }
    response->content_type = kBitmapType;
  }
  std::string& headers = response->headers;
  headers = "\r\nSeenDB-Seen: " + std::to_string(answer.seen) +
            "\r\nSeenDB-Examined: " + std::to_string(answer.examined) +
            "\r\nSeenDB-Degraded: " + std::to_string(answer.missing.size());
  if (!request.exclude.empty()) {
    headers += "\r\nSeenDB-Excluded: " + std::to_string(answer.excluded);
  }
  if (request.record) {
    headers += answer.recorded ? "\r\nSeenDB-Recorded: true" : "\r\nSeenDB-Recorded: false";
  }
  if (answer.beyond_cap > 0) {
    headers += "\r\nSeenDB-Beyond-Cap: " + std::to_string(answer.beyond_cap);
  }
  if (answer.duplicates > 0) {
    headers += "\r\nSeenDB-Duplicates: " + std::to_string(answer.duplicates);
  }
  if (request.verify) headers += "\r\nSeenDB-Refuted: " + std::to_string(answer.refuted);
  for (size_t i = 0; i < answer.missing.size(); ++i) {
    headers += (i == 0 ? "\r\nSeenDB-Missing: " : ", ") + answer.missing[i];
  }
}

}  // namespace seendb::api
