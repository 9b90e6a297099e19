#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "events.h"
#include "seendb/client.h"

namespace seendb::client {
namespace internal {
namespace {

using std::chrono::milliseconds;

int64_t DeadlineMs(const Transport& transport, const FilterOptions& options) {
  if (options.within) return options.within->count();
  const milliseconds whole = options.timeout.value_or(transport.options().timeout);
  return std::max<int64_t>(1, whole.count() * 4 / 5);
}

bool GoesInBinary(const FilterOptions& options) {
  const bool has_comma =
      std::any_of(options.collections.begin(), options.collections.end(),
                  [](const std::string& name) { return name.find(',') != std::string::npos; });
  return !has_comma && !options.explain && !options.facts && options.not_entries.empty() &&
         !options.groups;
}

/// Appends integers as 8 bytes each, the lowest first; false: one is text.
bool Pack(const std::vector<Id>& ids, std::string* body) {
  for (const Id& id : ids) {
    const auto number = id.Number();
    if (!number) return false;
    for (unsigned shift = 0; shift < 64; shift += 8) {
      *body += static_cast<char>(*number >> shift & 0xff);
    }
  }
  return true;
}

Json NotJson(const NotEntry& entry) {
  Json json = {{"fact", entry.fact}};
  if (entry.window != 0) json["window"] = entry.window;
  if (entry.within.count() != 0) json["within"] = std::to_string(entry.within.count()) + "ms";
  if (entry.last != 0) json["last"] = entry.last;
  if (!entry.surface.empty()) json["surface"] = entry.surface;
  return json;
}

Json CandidatesJson(const std::vector<Id>& items, const FilterOptions& options) {
  if (!options.groups) {
    CheckIds(items, "/items");
    return ToJson(items);
  }
  Json all = Json::array();
  for (const Id& item : items) {
    const std::string where = "/items/" + std::to_string(all.size());
    const Groups groups = options.groups(item);
    const bool has_groups = !groups.of.empty() || !groups.same_as.empty();
    CheckId(item, has_groups ? where + "/id" : where);
    Json candidate = ToJson(item);
    if (has_groups) {
      candidate = {{"id", std::move(candidate)}, {"of", groups.of}};
      if (!groups.same_as.empty()) candidate["same_as"] = groups.same_as;
      if (groups.at_ms) candidate["at"] = *groups.at_ms;
    }
    all.push_back(std::move(candidate));
  }
  return all;
}

Json FilterBody(const Transport& transport, const Id& user, const std::vector<Id>& items,
                const FilterOptions& options) {
  Json body = {{"user", ToJson(user)},
               {"items", CandidatesJson(items, options)},
               {"deadline_ms", DeadlineMs(transport, options)}};
  CheckIds(options.exclude, "/exclude");
  if (!options.collection.empty()) body["collection"] = options.collection;
  if (!options.collections.empty()) body["collections"] = options.collections;
  if (options.limit != 0) body["limit"] = options.limit;
  if (!options.exclude.empty()) body["exclude"] = ToJson(options.exclude);
  if (options.record) body["record"] = true;
  if (options.verify) body["verify"] = true;
  if (options.explain) body["explain"] = true;
  if (options.facts) body["facts"] = *options.facts;
  if (options.or_fail) body["on_error"] = "fail";
  for (const NotEntry& entry : options.not_entries) body["not"].push_back(NotJson(entry));
  return body;
}

Request FilterRequest(const Transport& transport, const Id& user, const FilterOptions& options) {
  Request request = RequestFor(transport, options, "Filter", "POST", "/filter");
  request.user = user.Text();
  request.hedge = !options.record;
  return request;
}

void ReadReport(const Json& told, const FilterOptions& options, FilterReport* report) {
  report->seen = told.value("seen", int64_t{0});
  report->examined = told.value("examined", int64_t{0});
  report->excluded = told.value("excluded", int64_t{0});
  report->duplicates = told.value("duplicates", int64_t{0});
  report->degraded = told.value("degraded", false);
  report->missing = told.value("missing", std::vector<std::string>());
  report->recorded = options.record && told.value("recorded", true);
  report->reasons = told.value("reasons", std::map<std::string, std::string>());
  report->undated = told.value("undated", int64_t{0});
  report->coarse = told.value("coarse", std::vector<std::string>());
  report->beyond = told.value("beyond", std::vector<std::string>());
}

/// A filter of `count` integers, whose bytes `body` begins with; those that are excluded follow.
/// Gives the bitmap of the unseen.
std::string FilterBits(Transport& transport, const Id& user, size_t count, std::string body,
                       const FilterOptions& options, FilterReport* report) {
  Request request = FilterRequest(transport, user, options);
  const auto put = [&](const char* name, const std::string& value, bool is_set) {
    if (is_set) request.path += std::string("&") + name + "=" + Encode(value);
  };
  request.path += "?user=" + Encode(user.Text()) + "&ids=u64";
  put("count", std::to_string(body.size() / sizeof(uint64_t)), true);
  put("collection", options.collection, !options.collection.empty());
  std::string collections;
  for (const std::string& name : options.collections) {
    collections += (&name == &options.collections.front() ? "" : ",") + name;
  }
  put("collections", collections, !options.collections.empty());
  put("limit", std::to_string(options.limit), options.limit != 0);
  put("exclude", std::to_string(options.exclude.size()), !options.exclude.empty());
  put("record", "true", options.record);
  put("verify", "true", options.verify);
  put("on_error", "fail", options.or_fail);
  put("deadline_ms", std::to_string(DeadlineMs(transport, options)), true);
  request.body = std::move(body);
  request.content_type = "application/octet-stream";
  Reply reply = transport.Ask(std::move(request));
  if (reply.body.size() != (count + 7) / 8 || reply.Header("SeenDB-Seen").empty()) {
    throw Strange("the answer is no bitmap of the items", reply.status);
  }
  const auto number = [&](const char* name) {
    const std::string_view text = reply.Header(name);
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  report->seen = number("SeenDB-Seen");
  report->examined = number("SeenDB-Examined");
  report->excluded = number("SeenDB-Excluded");
  report->duplicates = number("SeenDB-Duplicates");
  report->degraded = reply.Header("SeenDB-Degraded") != "0";
  report->recorded = reply.Header("SeenDB-Recorded") == "true";
  std::string_view missing = reply.Header("SeenDB-Missing");
  while (!missing.empty()) {
    const size_t comma = std::min(missing.find(", "), missing.size());
    report->missing.emplace_back(missing.substr(0, comma));
    missing.remove_prefix(std::min(comma + 2, missing.size()));
  }
  return std::move(reply.body);
}

template <typename Ids>
auto UnseenOf(const Ids& items, const std::string& bits) {
  std::vector<typename Ids::value_type> unseen;
  for (size_t i = 0; i < items.size(); ++i) {
    if (static_cast<unsigned char>(bits[i / 8]) >> i % 8 & 1) unseen.push_back(items[i]);
  }
  return unseen;
}

}  // namespace
}  // namespace internal

Filtered Client::Filter(const Id& user, const std::vector<Id>& items,
                        const FilterOptions& options) {
  internal::CheckId(user, "/user");
  Filtered found;
  std::string body;
  if (internal::GoesInBinary(options) && !items.empty() && internal::Pack(items, &body) &&
      internal::Pack(options.exclude, &body)) {
    const std::string bits =
        internal::FilterBits(*transport_, user, items.size(), std::move(body), options, &found);
    found.unseen = internal::UnseenOf(items, bits);
    return found;
  }
  const Answer answer =
      internal::AnswerOf(transport_->Ask(internal::FilterRequest(*transport_, user, options),
                                         internal::FilterBody(*transport_, user, items, options)));
  const internal::Json told = internal::ReadObject(answer, {"unseen"});
  const internal::Given given(items);
  internal::Reading(answer, [&] {
    internal::ReadReport(told, options, &found);
    for (const internal::Json& one : told.at("unseen")) {
      found.unseen.push_back(given.Find(internal::IdFrom(one), answer.status));
    }
  });
  return found;
}

FilteredNumbers Client::Filter(const Id& user, std::span<const uint64_t> items,
                               const FilterOptions& options) {
  FilteredNumbers found;
  std::string body;
  if (std::endian::native == std::endian::little && internal::GoesInBinary(options) &&
      !items.empty()) {
    body.assign(reinterpret_cast<const char*>(items.data()), items.size_bytes());
    if (internal::Pack(options.exclude, &body)) {
      internal::CheckId(user, "/user");
      const std::string bits =
          internal::FilterBits(*transport_, user, items.size(), std::move(body), options, &found);
      found.unseen = internal::UnseenOf(items, bits);
      return found;
    }
  }
  Filtered as_ids = Filter(user, std::vector<Id>(items.begin(), items.end()), options);
  static_cast<FilterReport&>(found) = std::move(as_ids);
  for (const Id& id : as_ids.unseen) found.unseen.push_back(*id.Number());
  return found;
}

}  // namespace seendb::client
