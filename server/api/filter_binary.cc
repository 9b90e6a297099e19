#include "api/filter_binary.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "api/binary_body.h"
#include "api/name_list.h"
#include "base/facts.h"
#include "http/header_list.h"
#include "wire/filter_json.h"

namespace seendb::api {
namespace {

static_assert(std::endian::native == std::endian::little, "answers are written as they are");

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
  if (Status status = ReadQueryNumber(call, "limit", &limit); !status.ok()) return status;
  if (limit == 0u) return Status::InvalidArgument("must be at least 1", "/limit");
  request->limit = static_cast<uint32_t>(std::min<uint64_t>(limit.value_or(0), UINT32_MAX));
  if (Status status = ReadQueryNumber(call, "deadline_ms", &deadline_ms); !status.ok())
    return status;
  if (deadline_ms) request->deadline_us = wire::DeadlineUs(*deadline_ms);
  if (Status status = ReadFlag(call, "record", &request->record); !status.ok()) return status;
  return ReadFlag(call, "verify", &request->verify);
}

// The last ids are excluded, the others are the items.
Status Divide(const Call& call, const std::vector<IdRef>& ids, FilterRequest* request) {
  std::optional<uint64_t> exclude;
  if (Status status = ReadQueryNumber(call, "exclude", &exclude); !status.ok()) return status;
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
  return request->items.size() <= most ? Status::Ok() : TooManyIds(most);
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

Status ParseBinaryFilter(const Call& call, FilterRequest* request, std::vector<IdRef>* ids) {
  *request = FilterRequest();
  ids->clear();
  if (Status status = ReadParameters(call, request); !status.ok()) return status;
  Result<BinaryBody> body = BinaryBody::Of(call);
  if (!body.ok()) return body.status();
  const size_t lists = call.Query("exclude") ? 2 : 1;
  Status status = body->ReadIds(lists * call.context.max_candidates, ids);
  if (status.ok()) status = CheckCount(call, ids->size(), "ids");
  return status.ok() ? Divide(call, *ids, request) : status;
}

Status ReadCollections(const Call& call, std::vector<std::string_view>* collections) {
  return ReadNames(call, "collections", kMaxUnitedCollections, collections);
}

Status ReadExcludedSets(const Call& call, std::vector<ExcludedSet>* sets) {
  std::vector<std::string_view> names;
  Status status = ReadNames(call, "exclude_sets", kMaxExcludedSets, &names);
  for (size_t i = 0; status.ok() && i < names.size(); ++i) {
    status = CheckSetName(names[i]).WithFieldPrefix("/exclude_sets/" + std::to_string(i));
    sets->push_back({names[i]});
  }
  return status;
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
  if (!request.exclude.empty() || request.question != nullptr) {
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
