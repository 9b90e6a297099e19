#include "events.h"

#include <algorithm>

#include "seendb/client.h"

namespace seendb::client {
namespace internal {
namespace {

constexpr int kPending = 202, kAllRefused = 422;

Json EventBegin(const Id& user, const Id& item, int64_t at_ms, size_t index) {
  const std::string where = "/events/" + std::to_string(index);
  CheckId(user, where + "/user");
  CheckId(item, where + "/item");
  return {{"user", ToJson(user)}, {"item", ToJson(item)}, {"at", at_ms}};
}

template <typename Event>
void PutGroups(const Event& event, Json* json) {
  if (!event.of.empty()) (*json)["of"] = event.of;
  if (!event.same_as.empty()) (*json)["same_as"] = event.same_as;
}

template <typename Event>
Recorded RecordEvents(Transport& transport, Request request, const std::vector<Event>& events,
                      const std::string& collection) {
  const int64_t now_ms = NowMs();
  Json all = Json::array();
  std::vector<std::string> users;
  for (const Event& event : events) {
    all.push_back(EventJson(event, now_ms, all.size()));
    users.push_back(event.user.Text());
  }
  const bool of_one = std::all_of(users.begin(), users.end(),
                                  [&](const std::string& user) { return user == users.front(); });
  if (!users.empty() && of_one) request.user = users.front();
  Json body = {{"events", std::move(all)}};
  if (!collection.empty()) body["collection"] = collection;
  return Record(transport, std::move(request), body, users, "/events");
}

}  // namespace

Json EventJson(const Play& play, int64_t now_ms, size_t index) {
  Json event = EventBegin(play.user, play.item, play.at_ms.value_or(now_ms), index);
  if (play.progress_s) event["progress_s"] = *play.progress_s;
  if (play.duration_s) event["duration_s"] = *play.duration_s;
  if (!play.device.empty()) event["device"] = play.device;
  if (!play.fields.empty()) {
    event["fields"] = ParseGiven(play.fields, "/events/" + std::to_string(index) + "/fields");
  }
  PutGroups(play, &event);
  return event;
}

Json EventJson(const Exposure& exposure, int64_t now_ms, size_t index) {
  Json event = EventBegin(exposure.user, exposure.item, exposure.at_ms.value_or(now_ms), index);
  if (!exposure.surface.empty()) event["surface"] = exposure.surface;
  PutGroups(exposure, &event);
  return event;
}

Answer AnswerOf(const Reply& reply) { return {.status = reply.status, .body = reply.body}; }

Recorded ReadRecorded(Transport& transport, const Reply& reply,
                      const std::vector<std::string>& users) {
  transport.Note(reply, users);
  const Answer answer = AnswerOf(reply);
  const Json told = ReadObject(answer, {"accepted"});
  return Reading(answer, [&] {
    Recorded recorded{.accepted = told.at("accepted").get<int64_t>(),
                      .refused = told.value("refused", int64_t{0}),
                      .pending = reply.status == kPending,
                      .stale = told.value("stale", int64_t{0})};
    for (const Json& one : told.value("refusals", Json::array())) {
      const Json& error = one.at("error");
      recorded.refusals.push_back({.index = one.at("index").get<int64_t>(),
                                   .code = error.at("code").get<std::string>(),
                                   .message = error.value("message", ""),
                                   .field = error.value("field", "")});
    }
    return recorded;
  });
}

Recorded Record(Transport& transport, Request request, const Json& body,
                const std::vector<std::string>& users, const std::string& where) {
  const Reply reply = transport.Ask(std::move(request), body);
  Recorded recorded = ReadRecorded(transport, reply, users);
  if (reply.status != kAllRefused || recorded.refusals.empty()) return recorded;
  const Refusal& first = recorded.refusals.front();
  const std::string place = where.empty() ? "" : where + "/" + std::to_string(first.index);
  throw Refused(Error(first.code, first.message, place + first.field, reply.status), recorded);
}

Json AskOfUser(Transport& transport, Request request, const Id& user, const Json* body,
               std::initializer_list<const char*> needs) {
  request.user = user.Text();
  request.hedge = request.method == "GET";
  const Reply reply =
      body ? transport.Ask(std::move(request), *body) : transport.Ask(std::move(request));
  if (needs.size() == 0) {
    transport.Note(reply, {user.Text()});
    return {};
  }
  const Answer answer = AnswerOf(reply);
  transport.Note(reply, {user.Text()});
  return ReadObject(answer, needs);
}

}  // namespace internal

using internal::Json;

Recorded Client::RecordPlays(const std::vector<Play>& plays, const CallOptions& options) {
  return internal::RecordEvents(*transport_,
                                RequestFor(*transport_, options, "RecordPlays", "POST", "/plays"),
                                plays, options.collection);
}

Recorded Client::RecordExposures(const std::vector<Exposure>& shown, const CallOptions& options) {
  return internal::RecordEvents(
      *transport_, RequestFor(*transport_, options, "RecordExposures", "POST", "/exposures"), shown,
      options.collection);
}

Recorded Client::RecordImpressions(const Id& user, const std::vector<Id>& items,
                                   const CallOptions& options) {
  internal::CheckId(user, "/user");
  internal::CheckIds(items, "/items");
  Json body = {{"user", internal::ToJson(user)},
               {"items", internal::ToJson(items)},
               {"at", internal::NowMs()}};
  if (!options.collection.empty()) body["collection"] = options.collection;
  auto request = RequestFor(*transport_, options, "RecordImpressions", "POST", "/impressions");
  request.user = user.Text();
  return internal::Record(*transport_, std::move(request), body, {user.Text()}, "/events");
}

// ---- Many events ----

namespace {

constexpr size_t kBulkBytesMost = 1u << 20;
constexpr size_t kRefusalsMost = 100;

void AppendNumber(uint64_t number, unsigned bytes, std::string* row) {
  for (unsigned i = 0; i < bytes; ++i) *row += static_cast<char>(number >> 8 * i & 0xff);
}

/// A play in binary, with ids as text or as numbers.
std::string Row(const Play& play, int64_t at_ms, bool texts) {
  std::string row;
  for (const Id* id : {&play.user, &play.item}) {
    if (texts) {
      const std::string text = id->Text();
      AppendNumber(text.size(), sizeof(uint32_t), &row);
      row += text;
    } else {
      AppendNumber(*id->Number(), sizeof(uint64_t), &row);
    }
  }
  AppendNumber(static_cast<uint64_t>(at_ms), sizeof(uint64_t), &row);
  return row;
}

}  // namespace

Bulk::Bulk(Client& client, BulkOptions options)
    : transport_(*client.transport_),
      options_(std::move(options)),
      form_(options_.binary ? Form::kNumbers : Form::kLines) {}

Bulk::Form Bulk::FormOf(const Play& play, int64_t at_ms) {
  const bool says_more = play.progress_s || play.duration_s || !play.device.empty() ||
                         !play.fields.empty() || !play.of.empty() || !play.same_as.empty();
  if (says_more || at_ms <= 0) return Form::kLines;  // 0 is the server's present
  return play.user.Number() && play.item.Number() ? Form::kNumbers : Form::kTexts;
}

void Bulk::Add(const Play& play) {
  const int64_t now_ms = internal::NowMs(), at_ms = play.at_ms.value_or(now_ms);
  const size_t index = static_cast<size_t>(sent_) + users_.size();
  const std::string where = "/events/" + std::to_string(index);
  internal::CheckId(play.user, where + "/user");
  internal::CheckId(play.item, where + "/item");
  const Form form = std::max(form_, FormOf(play, at_ms));
  std::string line = form == Form::kLines
                         ? internal::Write(internal::EventJson(play, now_ms, index)) + '\n'
                         : Row(play, at_ms, form == Form::kTexts);
  Append(form, std::move(line), play.user.Text(), "/plays");
}

void Bulk::Add(const Exposure& exposure) {
  const size_t index = static_cast<size_t>(sent_) + users_.size();
  Append(Form::kLines,
         internal::Write(internal::EventJson(exposure, internal::NowMs(), index)) + '\n',
         exposure.user.Text(), "/exposures");
}

void Bulk::Append(Form form, std::string line, std::string user, std::string_view path) {
  if (!path_.empty() && path != path_) {
    throw internal::Refuse("/events/" + std::to_string(static_cast<size_t>(sent_) + users_.size()),
                           "a Bulk takes plays alone, or exposures alone");
  }
  path_ = path;
  const bool is_full = form > form_ || users_.size() >= options_.batch ||
                       (!users_.empty() && lines_.size() + line.size() > kBulkBytesMost);
  if (is_full) Flush();
  form_ = form;
  lines_ += line;
  users_.push_back(std::move(user));
}

void Bulk::Flush() {
  if (users_.empty()) return;
  const bool as_rows = form_ != Form::kLines;
  std::string query;
  if (as_rows) {
    query = std::string("?ids=") + (form_ == Form::kNumbers ? "u64" : "string") +
            "&count=" + std::to_string(users_.size());
  }
  if (!options_.collection.empty()) {
    query += (as_rows ? "&" : "?") + ("collection=" + internal::Encode(options_.collection));
  }
  const internal::Reply reply =
      transport_.Ask({.name = "Bulk",
                      .method = "POST",
                      .path = path_ + query,
                      .body = lines_,
                      .content_type = as_rows ? "application/octet-stream" : "application/x-ndjson",
                      .patient = true,
                      .end = transport_.EndOf(options_.patience)});
  Recorded told = internal::ReadRecorded(transport_, reply, users_);
  recorded_.accepted += told.accepted;
  recorded_.refused += told.refused;
  for (Refusal& one : told.refusals) {
    if (recorded_.refusals.size() >= kRefusalsMost) break;
    one.index += sent_;
    recorded_.refusals.push_back(std::move(one));
  }
  sent_ += static_cast<int64_t>(users_.size());
  lines_.clear();
  users_.clear();
}

}  // namespace seendb::client
