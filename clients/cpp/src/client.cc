#include "seendb/client.h"

#include <algorithm>

#include "base/outside_json.h"
#include "events.h"

namespace seendb::client {
namespace {

using internal::Json;

constexpr int64_t kHistoryPage = 1'000;

Json ItemsBody(const std::vector<Id>& items, const CallOptions& options) {
  internal::CheckIds(items, "/items");
  Json body = {{"items", internal::ToJson(items)}};
  if (!options.collection.empty()) body["collection"] = options.collection;
  return body;
}

/// "/users/U/marks?limit=...", a page of a list of the user's.
std::string PagePath(const Id& user, const char* rest, int64_t limit, const std::string& cursor,
                     const std::string& collection) {
  std::string path = internal::UserPath(user, rest) + "?limit=" + std::to_string(limit);
  if (!cursor.empty()) path += "&cursor=" + internal::Encode(cursor);
  if (!collection.empty()) path += "&collection=" + internal::Encode(collection);
  return path;
}

Entry EntryFrom(const Json& told) {
  const Json fields = told.value("fields", Json());
  return {.collection = told.value("collection", ""),
          .item = internal::IdFrom(told.at("item")).Text(),
          .at_ms = told.at("at").get<int64_t>(),
          .progress_s = told.value("progress_s", int64_t{0}),
          .duration_s = told.value("duration_s", int64_t{0}),
          .device = told.value("device", ""),
          .fields = fields.is_null() ? "" : internal::Write(fields)};
}

Answer AskPlain(internal::Transport& transport, internal::Request request,
                const std::string& body) {
  if (!body.empty()) {
    request.body = body;
    request.content_type = "application/json";
  }
  return internal::AnswerOf(transport.Ask(std::move(request)));
}

}  // namespace

Client::Client(std::string url, Options options)
    : Client(std::vector<std::string>{std::move(url)}, std::move(options)) {}
Client::Client(std::vector<std::string> urls, Options options)
    : transport_(std::make_unique<internal::Transport>(std::move(urls), std::move(options))) {}
Client::Client(std::unique_ptr<internal::Transport> transport) : transport_(std::move(transport)) {}
Client::~Client() = default;

void Client::Close() { transport_->Close(); }

// ---- Marks ----

void Client::Mark(const Id& user, const std::string& group, int64_t until_ms,
                  const CallOptions& options) {
  Json body = {{"group", group}, {"until", until_ms}, {"at", internal::NowMs()}};
  if (until_ms == kAlways) body["until"] = "always";
  auto request =
      RequestFor(*transport_, options, "Mark", "POST", internal::UserPath(user, "/marks"));
  request.user = user.Text();
  internal::Record(*transport_, std::move(request), body, {user.Text()}, {});
}

bool Client::Unmark(const Id& user, const std::string& group, const CallOptions& options) {
  const Json told =
      AskOfUser(*transport_,
                RequestFor(*transport_, options, "Unmark", "DELETE",
                           internal::UserPath(user, "/marks/" + internal::Encode(group))),
                user, nullptr, {"deleted"});
  return told["deleted"] == true;
}

MarksPage Client::Marks(const Id& user, int64_t limit, const std::string& cursor,
                        const CallOptions& options) {
  const Json told = AskOfUser(
      *transport_,
      RequestFor(*transport_, options, "Marks", "GET", PagePath(user, "/marks", limit, cursor, {})),
      user, nullptr, {"marks"});
  return internal::Reading({}, [&] {
    MarksPage page{.cursor = told.value("cursor", ""), .degraded = told.value("degraded", false)};
    for (const Json& one : told.at("marks")) {
      const Json& until = one.at("until");
      page.marks.push_back({.group = one.at("group").get<std::string>(),
                            .until_ms = until == "always" ? kAlways : until.get<int64_t>(),
                            .at_ms = one.at("at").get<int64_t>()});
    }
    return page;
  });
}

// ---- A user's history and data ----

HistoryPage Client::HistoryPage(const Id& user, int64_t limit, const std::string& cursor,
                                const CallOptions& options) {
  const Json told =
      AskOfUser(*transport_,
                RequestFor(*transport_, options, "HistoryPage", "GET",
                           PagePath(user, "/history", limit, cursor, options.collection)),
                user, nullptr, {"entries"});
  return internal::Reading({}, [&] {
    client::HistoryPage page{.cursor = told.value("cursor", ""),
                             .kept = told.value("kept", true),
                             .degraded = told.value("degraded", false)};
    for (const Json& one : told.at("entries")) page.entries.push_back(EntryFrom(one));
    return page;
  });
}

std::vector<Entry> Client::History(const Id& user, const CallOptions& options) {
  std::vector<Entry> all;
  for (std::string cursor;;) {
    client::HistoryPage page = HistoryPage(user, kHistoryPage, cursor, options);
    all.insert(all.end(), std::make_move_iterator(page.entries.begin()),
               std::make_move_iterator(page.entries.end()));
    if (page.cursor.empty()) return all;
    cursor = page.cursor;
  }
}

std::map<std::string, Entry> Client::LookUpHistory(const Id& user, const std::vector<Id>& items,
                                                   const CallOptions& options) {
  const Json body = ItemsBody(items, options);
  const Json told = AskOfUser(*transport_,
                              RequestFor(*transport_, options, "LookUpHistory", "POST",
                                         internal::UserPath(user, "/history/lookup")),
                              user, &body, {"entries"});
  return internal::Reading({}, [&] {
    std::map<std::string, Entry> found;
    for (const Json& one : told.at("entries")) {
      if (one.is_null()) continue;
      Entry entry = EntryFrom(one);
      found[entry.item] = std::move(entry);
    }
    return found;
  });
}

void Client::DeleteHistory(const Id& user, const std::vector<Id>& items,
                           const DeletionOptions& options) {
  Json body = ItemsBody(items, {.collection = options.collection});
  if (!options.same_as.empty()) body["same_as"] = options.same_as;
  AskOfUser(*transport_,
            RequestFor(*transport_, options, "DeleteHistory", "POST",
                       internal::UserPath(user, "/history/delete")),
            user, &body);
}

void Client::ClearHistory(const Id& user, const CallOptions& options) {
  Json body = Json::object();
  if (!options.collection.empty()) body["collections"] = {options.collection};
  AskOfUser(*transport_,
            RequestFor(*transport_, options, "ClearHistory", "POST",
                       internal::UserPath(user, "/history/clear")),
            user, &body);
}

void Client::SetRecording(const Id& user, bool recording, const CallOptions& options) {
  const Json body = {{"paused", !recording}};
  AskOfUser(*transport_,
            RequestFor(*transport_, options, "SetRecording", "PUT",
                       internal::UserPath(user, "/recording")),
            user, &body);
}

bool Client::Erase(const Id& user, const CallOptions& options) {
  const Json told =
      AskOfUser(*transport_,
                RequestFor(*transport_, options, "Erase", "DELETE", internal::UserPath(user, "")),
                user, nullptr, {"known"});
  return told["known"] == true;
}

std::string Client::Inspect(const Id& user, const CallOptions& options) {
  const Json told = AskOfUser(
      *transport_, RequestFor(*transport_, options, "Inspect", "GET", internal::UserPath(user, "")),
      user, nullptr, {"user"});
  return internal::Write(told);
}

std::vector<std::string> Client::Export(const Id& user, const CallOptions& options) {
  auto request =
      RequestFor(*transport_, options, "Export", "GET", internal::UserPath(user, "/export"));
  request.user = user.Text();
  const internal::Reply reply = transport_->Ask(std::move(request));
  std::vector<std::string> lines;
  for (size_t at = 0; at < reply.body.size();) {
    const size_t end = std::min(reply.body.find('\n', at), reply.body.size());
    if (end > at) lines.push_back(reply.body.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// ---- Collections, items, other routes ----

std::vector<std::string> Client::Collections(const CallOptions& options) {
  const Answer answer = AskPlain(
      *transport_, RequestFor(*transport_, options, "Collections", "GET", "/collections"), {});
  const Json told = internal::ReadObject(answer, {"collections"});
  std::vector<std::string> all;
  for (const Json& one : told["collections"]) all.push_back(internal::Write(one));
  return all;
}

void Client::PutCollection(const std::string& name, const std::string& policy,
                           const CallOptions& options) {
  AskPlain(*transport_,
           RequestFor(*transport_, options, "PutCollection", "PUT",
                      "/collections/" + internal::Encode(name)),
           policy.empty() ? "{}" : policy);
}

void Client::DeleteCollection(const std::string& name, const CallOptions& options) {
  const std::string encoded = internal::Encode(name);
  AskPlain(*transport_,
           RequestFor(*transport_, options, "DeleteCollection", "DELETE",
                      "/collections/" + encoded + "?confirm=" + encoded),
           {});
}

void Client::PutItemSchema(const std::string& fields, const CallOptions& options) {
  const Json body = {{"fields", internal::ParseGiven(fields, "/fields")}};
  transport_->Ask(RequestFor(*transport_, options, "PutItemSchema", "PUT", "/items/schema"), body);
}

Recorded Client::PutItems(const std::vector<ItemUpdate>& updates, const CallOptions& options) {
  Json all = Json::array();
  for (const ItemUpdate& update : updates) {
    const std::string where = "/items/" + std::to_string(all.size());
    internal::CheckId(update.id, where + "/id");
    Json one = {{"id", internal::ToJson(update.id)}, {"version", update.version}};
    if (!update.set.empty()) one["set"] = internal::ParseGiven(update.set, where + "/set");
    if (!update.unset.empty()) one["unset"] = update.unset;
    if (update.replace) one["replace"] = true;
    if (update.remove) one["delete"] = true;
    if (update.expires_at_ms) one["expires_at"] = *update.expires_at_ms;
    all.push_back(std::move(one));
  }
  const Json body = {{"items", std::move(all)}};
  return internal::Record(
      *transport_, RequestFor(*transport_, options, "PutItems", "POST", "/items"), body, {}, {});
}

std::vector<Item> Client::GetItems(const std::vector<Id>& ids,
                                   const std::vector<std::string>& fields,
                                   const CallOptions& options) {
  internal::CheckIds(ids, "/ids");
  const Json body = {{"ids", internal::ToJson(ids)}, {"fields", fields}};
  auto request = RequestFor(*transport_, options, "GetItems", "POST", "/items/get");
  request.hedge = true;
  const Answer answer = internal::AnswerOf(transport_->Ask(std::move(request), body));
  const Json told = internal::ReadObject(answer, {"items"});
  const internal::Given given(ids);
  return internal::Reading(answer, [&] {
    std::vector<Item> items;
    for (const Json& one : told.at("items")) {
      items.push_back({.id = given.Find(internal::IdFrom(one.at("id")), answer.status),
                       .version = one.at("version").get<int64_t>(),
                       .fields = internal::Write(one.at("fields"))});
    }
    return items;
  });
}

Answer Client::Call(const std::string& method, const std::string& path, const std::string& body,
                    const CallOptions& options) {
  const bool is_method = !method.empty() && std::all_of(method.begin(), method.end(), [](char c) {
    return c >= 'A' && c <= 'Z';
  });
  if (!is_method) throw internal::Refuse("/method", "is a word such as GET");
  auto request = RequestFor(*transport_, options, "", method.c_str(), path);
  request.once = method != "GET" && method != "HEAD" && method != "PUT" && method != "DELETE";
  if (!body.empty()) {
    request.body = body;
    request.content_type = "application/json";
  }
  const internal::Reply reply = transport_->Ask(std::move(request));
  if (reply.Header("Content-Type").starts_with("application/json") && !reply.body.empty() &&
      ParseOutside(reply.body).is_discarded()) {
    throw internal::Strange("the answer is not JSON", reply.status);
  }
  return internal::AnswerOf(reply);
}

}  // namespace seendb::client
