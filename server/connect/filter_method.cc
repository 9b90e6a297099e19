#include "connect/filter_method.h"

#include <charconv>
#include <cstring>

#include <seendb/v1/seendb.pb.h>

#include "connect/route_text.h"

namespace seendb::connect {
namespace {

namespace pb = google::protobuf;
using Texts = pb::RepeatedPtrField<std::string>;
using Numbers = pb::RepeatedField<uint64_t>;

void AppendTexts(const Texts& texts, std::string* body) {
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    body->append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
  }
}

void AppendNumbers(const Numbers& numbers, std::string* body) {
  if (numbers.empty()) return;
  body->append(reinterpret_cast<const char*>(numbers.data()),
               static_cast<size_t>(numbers.size()) * sizeof(uint64_t));
}

/// Numbers beside texts, and the other way round: one form goes out, and all are texts then.
void AppendAsTexts(const Texts& texts, const Numbers& numbers, std::string* body) {
  AppendTexts(texts, body);
  for (const uint64_t number : numbers) {
    const std::string text = std::to_string(number);
    const auto length = static_cast<uint32_t>(text.size());
    body->append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
  }
}

Status Check(const v1::FilterRequest& request) {
  if (UserOf(request).empty()) {
    return Status::InvalidArgument("user or user_number is needed", "/user");
  }
  Status status = CheckIds(request.items(), request.item_numbers(), "items");
  if (status.ok()) status = CheckIds(request.exclude(), request.exclude_numbers(), "exclude");
  if (!status.ok()) return status;
  for (int i = 0; i < request.exclude_sets_size(); ++i) {
    const std::string& name = request.exclude_sets(i);
    if (name.empty() || name.find(',') != std::string::npos) {
      return Status::InvalidArgument("is no name of a set", "/exclude_sets/" + std::to_string(i));
    }
  }
  return {};
}

std::string JoinedSets(const v1::FilterRequest& request) {
  std::string names;
  for (const std::string& name : request.exclude_sets()) {
    if (!names.empty()) names.push_back(',');
    names.append(name);
  }
  return names;
}

/// The value of a header among those of an answer; empty where no header has that name.
std::string_view HeaderOf(const http::Response& response, std::string_view name) {
  const std::string begin = "\r\n" + std::string(name) + ": ";
  const std::string_view headers = response.headers;
  const size_t at = headers.find(begin);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = headers.substr(at + begin.size());
  return rest.substr(0, rest.find("\r\n"));
}

uint32_t NumberIn(const http::Response& response, std::string_view name) {
  const std::string_view text = HeaderOf(response, name);
  uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool HasBit(std::string_view bitmap, int at) {
  const auto index = static_cast<size_t>(at);
  return index / 8 < bitmap.size() &&
         (static_cast<unsigned char>(bitmap[index / 8]) >> (index % 8) & 1u) != 0;
}

void ReadHeaders(const http::Response& response, v1::FilterResponse* to) {
  to->set_seen(NumberIn(response, "SeenDB-Seen"));
  to->set_examined(NumberIn(response, "SeenDB-Examined"));
  to->set_excluded(NumberIn(response, "SeenDB-Excluded"));
  to->set_duplicates(NumberIn(response, "SeenDB-Duplicates"));
  to->set_beyond_cap(NumberIn(response, "SeenDB-Beyond-Cap"));
  to->set_refuted(NumberIn(response, "SeenDB-Refuted"));
  to->set_degraded(NumberIn(response, "SeenDB-Degraded") > 0);
  std::string_view missing = HeaderOf(response, "SeenDB-Missing");
  while (!missing.empty()) {
    const size_t comma = missing.find(", ");
    to->add_missing(std::string(missing.substr(0, comma)));
    missing.remove_prefix(comma == std::string_view::npos ? missing.size() : comma + 2);
  }
  const std::string_view recorded = HeaderOf(response, "SeenDB-Recorded");
  if (!recorded.empty()) to->set_recorded(recorded == "true");
}

}  // namespace

Status FilterToRoute(const pb::Message& message, int64_t left_ms, RouteRequest* to) {
  const auto& request = static_cast<const v1::FilterRequest&>(message);
  if (Status status = Check(request); !status.ok()) return status;
  std::string& target = to->target;
  target = "/filter";
  AppendQuery("user", UserOf(request), &target);
  if (!request.collection().empty()) AppendQuery("collection", request.collection(), &target);
  if (request.limit() > 0) AppendQuery("limit", std::to_string(request.limit()), &target);
  if (request.on_error() == v1::ON_ERROR_FAIL) AppendQuery("on_error", "fail", &target);
  if (request.record()) AppendQuery("record", "true", &target);
  if (request.verify()) AppendQuery("verify", "true", &target);
  if (left_ms > 0) AppendQuery("deadline_ms", std::to_string(left_ms), &target);
  if (request.exclude_sets_size() > 0) AppendQuery("exclude_sets", JoinedSets(request), &target);
  const int excluded = request.exclude_size() + request.exclude_numbers_size();
  if (excluded > 0) AppendQuery("exclude", std::to_string(excluded), &target);
  const bool texts = request.items_size() > 0 || request.exclude_size() > 0;
  AppendQuery("ids", texts ? "string" : "u64", &target);
  if (texts) {
    AppendAsTexts(request.items(), request.item_numbers(), &to->body);
    AppendAsTexts(request.exclude(), request.exclude_numbers(), &to->body);
  } else {
    AppendNumbers(request.item_numbers(), &to->body);
    AppendNumbers(request.exclude_numbers(), &to->body);
  }
  return {};
}

Status FilterFromRoute(const pb::Message& message, const http::Response& response,
                       pb::Message* answer) {
  const auto& request = static_cast<const v1::FilterRequest&>(message);
  auto* const to = static_cast<v1::FilterResponse*>(answer);
  ReadHeaders(response, to);
  if (request.answer() == v1::ANSWER_FORM_BITMAP) {
    to->set_unseen_bitmap(response.body);
    return {};
  }
  for (int i = 0; i < request.items_size(); ++i) {
    if (HasBit(response.body, i)) to->add_unseen(request.items(i));
  }
  for (int i = 0; i < request.item_numbers_size(); ++i) {
    if (HasBit(response.body, i)) to->add_unseen_numbers(request.item_numbers(i));
  }
  return {};
}

}  // namespace seendb::connect
