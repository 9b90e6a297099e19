// The history of a user over HTTP: plays that say where the player is, pages, look-ups, deletions,
// pauses, and the export of everything.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"
#include "wire/history_json.h"
#include "wire/unit/padded.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using test::Answer;
using test::Json;
using test::Padded;
using test::ServiceTest;

constexpr const char* kNdjson = "application/x-ndjson";

class HistoryTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    for (const char* name : {"video", "comic"}) {
      const std::string path = std::string("/collections/") + name;
      ASSERT_EQ(Ask(Method::kPut, path, R"({"history":{"enabled":true}})").status, 200u);
    }
  }

  void Play(const std::string& events, const char* collection = "video") {
    const std::string body =
        "{\"collection\":\"" + std::string(collection) + "\",\"events\":[" + events + "]}";
    const Answer answer = Ask(Method::kPost, "/plays", body);
    ASSERT_EQ(answer.status, 200u) << answer.body;
    ASSERT_EQ(answer.json().at("refused"), 0) << answer.body;
  }

  std::vector<std::string> Items(const std::string& target) {
    std::vector<std::string> items;
    const Json answer = Ask(Method::kGet, target).json();
    for (const Json& entry : answer.at("entries")) {
      items.push_back(entry.at("item"));
    }
    return items;
  }

  /// The lines of an NDJSON answer.
  static std::vector<Json> Lines(const std::string& body) {
    std::vector<Json> lines;
    for (size_t at = 0; at < body.size();) {
      const size_t end = body.find('\n', at);
      lines.push_back(Json::parse(body.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }
};

using Strings = std::vector<std::string>;

TEST_F(HistoryTest, APlayComesBackAsItWasReported) {
  Play(R"({"user":"u","item":"v\"1","at":1000,"progress_s":95,"duration_s":240,"device":"tv é",)"
       R"("fields":{ "list" : [1,2],)"
       "\n"
       R"("\u0041":null}},{"user":"u","item":7,"at":2000},)"
       R"({"user":"other","item":"x","progress_s":-1})");
  const Answer page = Ask(Method::kGet, "/users/u/history");
  ASSERT_EQ(page.status, 200u) << page.body;
  EXPECT_EQ(page.body,
            R"({"entries":[{"collection":"video","item":"7","at":2000,"progress_s":0,)"
            R"("duration_s":0},{"collection":"video","item":"v\"1","at":1000,"progress_s":95,)"
            R"("duration_s":240,"device":"tv é","fields":{ "list" : [1,2], "\u0041":null}}],)"
            R"("degraded":false})");
  EXPECT_EQ(
      Ask(Method::kGet, "/v1/users/other/history").json().at("entries").at(0).at("progress_s"),
      kFinished);
}

TEST_F(HistoryTest, LinesOfPlaysSayItToo) {
  std::string body;
  for (int i = 0; i < 300; ++i) {
    const std::string item = std::to_string(i);
    body += "{\"user\":\"u\",\"item\":\"" + item + "\",\"at\":" + std::to_string(1'000 + i);
    if (i % 3 == 0) body += ",\"progress_s\":" + item + ",\"device\":\"d" + item + "\"";
    if (i % 5 == 0) body += ",\"fields\":{\"n\":" + item + "}";
    body += "}\n";
  }
  body +=
      "{\"user\":\"u\",\"item\":1,\"progress_s\":-2}\n{\"user\":\"u\",\"item\":1,\"fields\":[]}";
  for (const size_t piece : {size_t{97}, body.size()}) {
    const Json json = Ask(Method::kPost, "/plays?collection=video", body, kNdjson, piece).json();
    EXPECT_EQ(json.at("accepted"), 300);
    EXPECT_EQ(json.at("refusals").at(0).at("error").at("field"), "/progress_s");
    EXPECT_EQ(json.at("refusals").at(1).at("error").at("field"), "/fields");
  }
  const Json entries = Ask(Method::kGet, "/users/u/history?limit=1000").json().at("entries");
  ASSERT_EQ(entries.size(), 300u);
  for (int i = 0; i < 300; ++i) {
    const Json& entry = entries.at(static_cast<size_t>(299 - i));
    EXPECT_EQ(entry.at("item"), std::to_string(i));
    EXPECT_EQ(entry.at("progress_s"), i % 3 == 0 ? i : 0);
    EXPECT_EQ(entry.value("device", ""), i % 3 == 0 ? "d" + std::to_string(i) : "");
    EXPECT_EQ(entry.value("fields", Json()), i % 5 == 0 ? Json({{"n", i}}) : Json());
  }
  const Answer impressions = Ask(Method::kPost, "/impressions?collection=video",
                                 "{\"user\":\"u\",\"item\":1,\"progress_s\":1}\n", kNdjson);
  EXPECT_EQ(impressions.json().at("refusals").at(0).at("error").at("field"), "/progress_s");
}

TEST_F(HistoryTest, PagesFollowTheCursorOverCollections) {
  for (int i = 0; i < 5; ++i) {
    const std::string at = std::to_string(1'000 + i * 10);
    Play(R"({"user":"u","item":"v)" + std::to_string(i) + R"(","at":)" + at + "}");
    Play(R"({"user":"u","item":"c)" + std::to_string(i) + R"(","at":)" + at + "}", "comic");
  }
  Strings items;
  std::string cursor;
  size_t pages = 0;
  do {
    const Json page = Ask(Method::kGet, "/users/u/history?limit=3" + cursor).json();
    for (const Json& entry : page.at("entries")) items.push_back(entry.at("item"));
    cursor = page.contains("cursor") ? "&cursor=" + page.at("cursor").get<std::string>() : "";
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(pages, 4u);
  EXPECT_EQ(items, (Strings{"c4", "v4", "c3", "v3", "c2", "v2", "c1", "v1", "c0", "v0"}));
  EXPECT_EQ(Items("/users/u/history?collection=comic&limit=2"), (Strings{"c4", "c3"}));
  EXPECT_EQ(Items("/users/u/history?collection=comic,video&limit=2"), (Strings{"c4", "v4"}));
  EXPECT_EQ(Items("/users/nobody/history"), Strings());
}

TEST_F(HistoryTest, RefusalsNameTheParameter) {
  const std::pair<const char*, const char*> cases[] = {
      {"limit=0", "/limit"},
      {"limit=1001", "/limit"},
      {"limit=-1", "/limit"},
      {"limit=", "/limit"},
      {"limit=1x", "/limit"},
      {"limit=99999999999", "/limit"},
      {"cursor=", "/cursor"},
      {"cursor=%21", "/cursor"},
      {"item=1", "/item"},
      {"limit=1&limit=2", "/limit"},
      {"collections=a", "/collections"},
  };
  for (const auto& [query, field] : cases) {
    const Answer answer = Ask(Method::kGet, std::string("/users/u/history?") + query);
    EXPECT_EQ(answer.status, 400u) << query;
    EXPECT_EQ(answer.field(), field) << query;
  }
  for (const char* query : {"nope", "video,nope", "video,", "", "video,default", ",video"}) {
    const Answer answer = Ask(Method::kGet, std::string("/users/u/history?collection=") + query);
    EXPECT_EQ(answer.status, 404u) << query;
    EXPECT_EQ(answer.field(), "/collection") << query;
  }
  EXPECT_EQ(Ask(Method::kGet, "/users/%FF/history").field(), "/user");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/history/%FF").field(), "/item");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/history/" + std::string(256, 'i')).field(), "/item");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/history/%zz").status, 400u);
  EXPECT_EQ(Ask(Method::kPost, "/users/u/history", "{}").allow, "GET, HEAD");
}

TEST_F(HistoryTest, LooksUpManyAndOne) {
  Play(R"({"user":"u","item":"a/b","at":5,"progress_s":3},{"user":"u","item":2,"at":6})");
  const Json found = Ask(Method::kPost, "/users/u/history/lookup",
                         R"({"items":[2,"x","a/b","2"],"collection":"video"})")
                         .json();
  ASSERT_EQ(found.at("entries").size(), 3u);
  EXPECT_EQ(found.at("entries").at(0).at("item"), "2");
  EXPECT_EQ(found.at("entries").at(1).at("item"), "a/b");
  EXPECT_EQ(found.at("degraded"), false);
  EXPECT_EQ(Ask(Method::kGet, "/users/u/history/a%2Fb?collection=video").body,
            R"({"collection":"video","item":"a/b","at":5,"progress_s":3,"duration_s":0,)"
            R"("degraded":false})");
  const Answer absent = Ask(Method::kGet, "/users/u/history/x?collection=video");
  EXPECT_EQ(absent.status, 404u);
  EXPECT_EQ(absent.field(), "/item");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/history/x").field(), "/collection");
  EXPECT_EQ(Ask(Method::kPost, "/users/u/history/lookup", R"({"items":[2]})").body,
            R"({"entries":[],"degraded":false,"kept":false})");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/history?collection=default").body,
            R"({"entries":[],"degraded":false,"kept":false})");
}

TEST_F(HistoryTest, WhatCantBeReadIsSaid) {
  Play(R"({"user":"u","item":"a","at":5})");
  engine_.degraded = true;
  for (const Answer& answer :
       {Ask(Method::kGet, "/users/u/history"),
        Ask(Method::kPost, "/users/u/history/lookup", R"({"items":["a"],"collection":"video"})"),
        Ask(Method::kGet, "/users/u/history/a?collection=video")}) {
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.json().at("degraded"), true);
    EXPECT_EQ(answer.json().at("missing"), Json({"default/2023-11"}));
  }
  const Answer absent = Ask(Method::kGet, "/users/u/history/b?collection=video");
  EXPECT_EQ(absent.status, 503u) << "absence can't be trusted";
}

TEST_F(HistoryTest, BodiesOfItemsAreStrict) {
  std::string many = "{\"collection\":\"video\",\"items\":[0";
  for (size_t i = 1; i < kMaxHistoryItems; ++i) many += "," + std::to_string(i);
  const std::pair<std::string, const char*> cases[] = {
      {"", ""},
      {"{}", "/items"},
      {R"({"items":7})", "/items"},
      {R"({"items":[1,""]})", "/items/1"},
      {R"({"items":[],"collection":7})", "/collection"},
      {R"({"items":[],"user":"u"})", "/user"},
      {many + ",1]}", "/items"},
  };
  for (const char* route : {"/users/u/history/lookup", "/users/u/history/delete"}) {
    for (const auto& [body, field] : cases) {
      const Answer answer = Ask(Method::kPost, route, body);
      EXPECT_EQ(answer.status, 400u) << body;
      EXPECT_EQ(answer.field(), field) << body;
    }
    EXPECT_EQ(Ask(Method::kPost, route, many + "]}").status, 200u);
    EXPECT_EQ(Ask(Method::kPost, route, "x", "text/plain").status, 415u);
  }
}

TEST_F(HistoryTest, DeletesItemsAndClears) {
  Play(R"({"user":"u","item":"a","at":5},{"user":"u","item":"b","at":6},{"user":"u","item":"c"})");
  Play(R"({"user":"u","item":"d","at":5})", "comic");
  EXPECT_EQ(
      Ask(Method::kPost, "/users/u/history/delete", R"({"items":["a","x"],"collection":"video"})")
          .body,
      R"({"deleted":true})");
  EXPECT_EQ(Items("/users/u/history"), (Strings{"c", "b", "d"}));
  Play(R"({"user":"u","item":"a","at":7})");
  EXPECT_EQ(Items("/users/u/history"), (Strings{"c", "b", "d"})) << "late";
  EXPECT_EQ(Ask(Method::kPost, "/users/u/history/clear", R"({"collections":["comic"]})").body,
            R"({"cleared":true})");
  EXPECT_EQ(Items("/users/u/history"), (Strings{"c", "b"}));
  const std::pair<const char*, const char*> cases[] = {
      {R"({"collections":[]})", "/collections"},
      {R"({"collections":"video"})", "/collections"},
      {R"({"collections":["video",7]})", "/collections/1"},
      {R"({"collection":"video"})", "/collection"},
      {R"({"collections":["video","nope"]})", "/collections/1"},
      {R"({"filter":1})", "/filter"},
      {R"({"filter":true,"filter":true})", "/filter"},
  };
  for (const auto& [body, field] : cases) {
    EXPECT_EQ(Ask(Method::kPost, "/users/u/history/clear", body).field(), field) << body;
  }
  EXPECT_EQ(Items("/users/u/history"), (Strings{"c", "b"}));
  EXPECT_EQ(Ask(Method::kPost, "/users/u/history/clear", "{}").status, 200u);
  EXPECT_EQ(Items("/users/u/history"), Strings());
  EXPECT_EQ(Ask(Method::kPost, "/users/u/history/clear", "").status, 200u);
  EXPECT_FALSE(engine_.cleared_filter);
  EXPECT_EQ(Ask(Method::kPost, "/users/u/history/clear", R"({"filter":true})").status, 200u);
  EXPECT_TRUE(engine_.cleared_filter);
}

TEST_F(HistoryTest, PausesAndResumes) {
  EXPECT_EQ(Ask(Method::kGet, "/users/u/recording").body, R"({"paused":false,"since_ms":0})");
  const std::string paused = R"({"paused":true,"since_ms":)" + std::to_string(engine_.now_ms) + "}";
  EXPECT_EQ(Ask(Method::kPut, "/users/u/recording", R"({"paused":true})").body, paused);
  EXPECT_EQ(Ask(Method::kGet, "/users/u/recording").body, paused);
  for (const auto& [body, field] : {std::pair{"{}", "/paused"},
                                    {R"({"paused":1})", "/paused"},
                                    {R"({"paused":true,"since":1})", "/since"},
                                    {"", ""}}) {
    const Answer answer = Ask(Method::kPut, "/users/u/recording", body);
    EXPECT_EQ(answer.status, 400u) << body;
    EXPECT_EQ(answer.field(), field) << body;
  }
  EXPECT_EQ(Ask(Method::kGet, "/users/u/recording").body, paused);
  EXPECT_EQ(Ask(Method::kPut, "/users/u/recording", R"({"paused":false})").json().at("paused"),
            false);
  engine_.recording_fail = Status::Corruption("damaged");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/recording").status, 500u);
}

TEST_F(HistoryTest, EveryStatusHasItsHttpStatus) {
  const std::pair<Status, unsigned> cases[] = {
      {Status::Corruption("m"), 500}, {Status::Busy("m"), 503}, {Status::IOError("m"), 503}};
  for (const auto& [status, http] : cases) {
    engine_.fail = status;
    for (const Answer& answer : {
             Ask(Method::kGet, "/users/u/history"),
             Ask(Method::kGet, "/users/u/history/i"),
             Ask(Method::kPost, "/users/u/history/lookup", R"({"items":[1]})"),
             Ask(Method::kPost, "/users/u/history/delete", R"({"items":[1]})"),
             Ask(Method::kPost, "/users/u/history/clear"),
             Ask(Method::kGet, "/users/u/recording"),
             Ask(Method::kPut, "/users/u/recording", R"({"paused":true})"),
         }) {
      EXPECT_EQ(answer.status, http) << answer.body;
      EXPECT_EQ(answer.code(), StatusCodeName(status.code()));
    }
  }
  engine_.fail = Status::IOError("m");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/export").status, 503u);
}

TEST_F(HistoryTest, ExportsEverythingLineByLine) {
  std::string events;
  for (int i = 0; i < 250; ++i) {
    events += (i > 0 ? "," : "") + std::string(R"({"user":"u\n","item":)") + std::to_string(i) +
              R"(,"at":)" + std::to_string(1'000 + i) +
              R"(,"fields":{"line":1,)"
              "\r\n"
              R"("i":2}})";
  }
  Play(events);
  Ask(Method::kPost, "/admin/drain");
  const Answer answer = Ask(Method::kGet, "/users/u%0A/export");
  ASSERT_EQ(answer.status, 200u) << answer.body;
  const std::vector<Json> lines = Lines(answer.body);
  ASSERT_EQ(lines.size(), 1 + 3 + 250 + 1u);
  EXPECT_EQ(lines[0], Json::parse(R"({"type":"user","user":"u\n",)"
                                  R"("recording":{"paused":false,"since_ms":0}})"));
  EXPECT_EQ(lines[1].at("collection"), "comic");
  EXPECT_EQ(lines[3].at("type"), "collection");
  EXPECT_EQ(lines[3].at("collection"), "video");
  EXPECT_EQ(lines[3].at("user"), "u\n");
  EXPECT_EQ(lines[3].at("buckets").at(0).at("items"), 250);
  for (size_t i = 0; i < 250; ++i) {
    EXPECT_EQ(lines[4 + i].at("type"), "history");
    EXPECT_EQ(lines[4 + i].at("item"), std::to_string(249 - i));
    EXPECT_EQ(lines[4 + i].at("fields").at("i"), 2);
  }
  EXPECT_EQ(lines.back(), Json::parse(R"({"type":"end","collections":3,"entries":250,)"
                                      R"("degraded":false})"));
}

TEST_F(HistoryTest, ExportSaysWhatCantBeRead) {
  engine_.recording_fail = Status::Corruption("damaged");
  engine_.degraded = true;
  const std::vector<Json> lines = Lines(Ask(Method::kGet, "/users/7/export").body);
  EXPECT_EQ(lines.front().at("user"), "7");
  EXPECT_TRUE(lines.front().at("recording").is_null());
  EXPECT_EQ(lines.back().at("degraded"), true);
  EXPECT_EQ(lines.back().at("missing"), Json({"default/2023-11"}));
  EXPECT_EQ(Ask(Method::kGet, "/users/%FF/export").field(), "/user");
  EXPECT_EQ(Ask(Method::kGet, "/users/u/export?collection=video").field(), "/collection");
}

TEST(HistoryJsonTest, BytesThatAreNoObjectGoOutAsAString) {
  const auto member = [](const std::string& fields) {
    std::string out = "{";
    HistoryEntry entry;
    entry.fields = fields;
    wire::AppendEntryMembers(entry, &out);
    return Json::parse(out + "}").value("fields", Json());
  };
  EXPECT_EQ(member(""), Json());
  EXPECT_EQ(member("{}"), Json::object());
  EXPECT_EQ(member("[1]"), Json("[1]"));
  EXPECT_EQ(member("{1}"), Json("{1}"));
  EXPECT_EQ(member("\x01\xFF"), Json("\x01\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
