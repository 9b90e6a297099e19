// Recipes of --like on logs shaped as the services hand them out.

#include "log_recipes.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log_flags.h"
#include "play_batch.h"
#include "units.h"

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

using Lines = std::vector<std::string>;

RecordReader::ReadFn TextFrom(std::string text) {
  return [text = std::move(text), at = size_t{0}](char* to, size_t size) mutable -> Result<size_t> {
    const size_t n = std::min(size, text.size() - at);
    std::memcpy(to, text.data() + at, n);
    at += n;
    return n;
  };
}

// The rows as they are sent, or "! why".
Lines RowsLike(const std::string& name, const std::string& text, const std::string& user = {},
               LogFlags flags = {}) {
  flags.file = "history.txt";
  flags.like = name;
  flags.columns.one_user = user;
  const auto format = flags.Interpret();
  if (!format.ok()) return {std::string(format.status().message())};
  auto reader = PlayReader::Open(TextFrom(text), *format, flags.columns);
  if (!reader.ok()) return {std::string(reader.status().message())};
  Lines out;
  PlayRow row;
  for (RowKind kind = (*reader)->Next(&row); kind != RowKind::kEnd; kind = (*reader)->Next(&row)) {
    if (kind == RowKind::kBad) {
      out.push_back("! " + (*reader)->error());
      continue;
    }
    std::string line;
    AppendNdjson(row, &line);
    line.pop_back();
    out.push_back(line);
  }
  return out;
}

TEST(LogRecipes, Netflix) {
  const std::string log =
      "Profile Name,Start Time,Duration,Attributes,Title,Supplemental Video Type,Device Type,"
      "Bookmark,Latest Bookmark,Country\n"
      "Ann,2023-01-31 20:15:03,00:42:31,,\"Dark: Season 1: \"\"Secrets\"\" (Episode 1)\",,"
      "Samsung 2018 TV,00:42:31,00:42:31,DE (Germany)\n"
      "Bob,2023-02-01 07:00:00,00:00:05,Autoplayed: user action: None; ,Some Film_hook,HOOK,"
      "iPhone 12,00:00:05,Not latest view,DE (Germany)\n";
  EXPECT_EQ(RowsLike("netflix", log),
            (Lines{R"x({"user":"Ann","item":"Dark: Season 1: \"Secrets\" (Episode 1)",)x"
                   R"("at":1675196103000,"progress_s":2551,"device":"Samsung 2018 TV"})",
                   R"({"user":"Bob","item":"Some Film_hook","at":1675234800000,"progress_s":5,)"
                   R"("device":"iPhone 12"})"}));
}

TEST(LogRecipes, NetflixOfOneProfile) {
  const std::string log =
      "Title,Date\n"
      "\"Dark: Season 1: \"\"Secrets\"\"\",\"1/15/24\"\n"
      "\"A film\",\"12/31/23\"\n";
  LogFlags flags;
  flags.date_order = "mdy";
  EXPECT_EQ(RowsLike("netflix", log, "Ann", flags),
            (Lines{R"x({"user":"Ann","item":"Dark: Season 1: \"Secrets\"","at":1705276800000})x",
                   R"({"user":"Ann","item":"A film","at":1703980800000})"}));
  const Lines unsaid = RowsLike("netflix", log, "Ann");
  ASSERT_EQ(unsaid.size(), 2u);
  EXPECT_EQ(unsaid[0], "! not a time: \"1/15/24\"; --date-order mdy reads it");
  flags.date_order = "dmy";
  EXPECT_EQ(RowsLike("netflix", "Title,Date\r\nA film,15.01.24\r\n", "Ann", flags),
            Lines{R"({"user":"Ann","item":"A film","at":1705276800000})"});
  EXPECT_EQ(RowsLike("netflix", "Title,Date\nA film,2024-01-15\n", "Ann"),
            Lines{R"({"user":"Ann","item":"A film","at":1705276800000})"});
  const Lines nobody = RowsLike("netflix", log);
  ASSERT_EQ(nobody.size(), 1u);
  EXPECT_NE(nobody[0].find("whose log it is by --user"), std::string::npos) << nobody[0];
  const Lines neither = RowsLike("netflix", "Name,Day\n", "Ann");
  ASSERT_EQ(neither.size(), 1u);
  EXPECT_NE(neither[0].find("no item column \"Title\""), std::string::npos) << neither[0];
}

// A day is the collection's, the times of ViewingActivity.csv are UTC.
TEST(LogRecipes, NetflixZones) {
  LogFlags flags;
  flags.columns.time_form.zone = times::TimeZone::Fixed(3'600'000);
  EXPECT_EQ(RowsLike("netflix", "Title,Date\nA film,2024-01-15\n", "Ann", flags),
            Lines{R"({"user":"Ann","item":"A film","at":1705273200000})"});
  const std::string activity =
      "Profile Name,Start Time,Title,Device Type,Bookmark\nAnn,2024-01-15 00:00:00,A film,,\n";
  EXPECT_EQ(RowsLike("netflix", activity, {}, flags),
            Lines{R"({"user":"Ann","item":"A film","at":1705276800000})"});
  flags.time_zone = "+01:00";
  EXPECT_EQ(RowsLike("netflix", activity, {}, flags),
            Lines{R"({"user":"Ann","item":"A film","at":1705273200000})"});
}

TEST(LogRecipes, Youtube) {
  const std::string log = R"([{
  "header": "YouTube",
  "title": "Watched A film",
  "titleUrl": "https://www.youtube.com/watch?v\u003ddQw4w9WgXcQ",
  "subtitles": [{"name": "A channel", "url": "https://www.youtube.com/channel/UC1"}],
  "time": "2023-01-31T20:15:03.123Z",
  "products": ["YouTube"],
  "activityControls": ["YouTube watch history"]
},{
  "header": "YouTube Music",
  "title": "Watched A song",
  "titleUrl": "https://music.youtube.com/watch?v\u003dabc-_123456&t=5",
  "time": "2023-01-31T20:16:00Z",
  "products": ["YouTube"]
},{
  "header": "YouTube",
  "title": "Watched a video that has been removed",
  "time": "2023-01-31T20:17:00Z",
  "products": ["YouTube"]
},{
  "header": "YouTube",
  "title": "Viewed a post",
  "titleUrl": "https://www.youtube.com/post/Ugk1",
  "time": "2023-01-31T20:18:00Z"
}])";
  EXPECT_EQ(RowsLike("youtube", log, "me"),
            (Lines{R"({"user":"me","item":"dQw4w9WgXcQ","at":1675196103123})",
                   R"({"user":"me","item":"abc-_123456","at":1675196160000})",
                   "! no item field; name it by --item-column", "! item: no \"v=\" in it"}));
}

TEST(LogRecipes, Spotify) {
  const std::string log = R"([
  {"ts": "2023-01-31T20:15:03Z", "username": "ann", "platform": "android", "ms_played": 183512,
   "conn_country": "DE", "master_metadata_track_name": "A song",
   "spotify_track_uri": "spotify:track:4uLU6hMCjMI75M1A2tKUQC", "spotify_episode_uri": null,
   "reason_end": "trackdone", "shuffle": false, "skipped": false, "offline_timestamp": 0},
  {"ts": "2023-01-31T21:00:00Z", "platform": "ios", "ms_played": 900,
   "spotify_track_uri": null, "spotify_episode_uri": "spotify:episode:5Xt5DXGzch68nYYamXrNxZ"}
])";
  EXPECT_EQ(RowsLike("spotify", log, "me"),
            (Lines{R"({"user":"me","item":"spotify:track:4uLU6hMCjMI75M1A2tKUQC",)"
                   R"("at":1675196103000,"progress_s":183})",
                   R"({"user":"me","item":"spotify:episode:5Xt5DXGzch68nYYamXrNxZ",)"
                   R"("at":1675198800000,"progress_s":0})"}));
  const Lines named = RowsLike("spotify", log);
  ASSERT_EQ(named.size(), 2u);
  EXPECT_NE(named[0].find(R"("user":"ann")"), std::string::npos) << named[0];
  EXPECT_EQ(named[1],
            "! no user field; name it by --user-column, or say whose log it is by --user");
}

TEST(LogRecipes, SpotifyOfTheAccountsData) {
  const std::string log = R"([
  {
    "endTime" : "2023-01-05 12:34",
    "artistName" : "Ann \u0026 the \"Others\"",
    "trackName" : "A song",
    "msPlayed" : 183512
  },
  {
    "endTime" : "2023-01-05 12:35",
    "podcastName" : "A podcast",
    "episodeName" : "12: how it began",
    "msPlayed" : 0
  },
  {
    "endTime" : "2023-01-05 12:36",
    "trackName" : "Of nobody",
    "msPlayed" : 1000
  }
])";
  LogFlags flags;
  flags.columns.time_form.zone = times::TimeZone::Fixed(3'600'000);  // it is UTC all the same
  EXPECT_EQ(RowsLike("spotify", log, "me", flags),
            (Lines{R"({"user":"me","item":"Ann & the \"Others\" - A song",)"
                   R"("at":1672922040000,"progress_s":183})",
                   R"({"user":"me","item":"A podcast - 12: how it began",)"
                   R"("at":1672922100000,"progress_s":0})",
                   "! no artistName field, which its item begins with; or name one by "
                   "--item-column"}));
  flags.columns.item = "trackName";
  const Lines plain = RowsLike("spotify", log, "me", flags);
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_NE(plain[0].find(R"("item":"A song")"), std::string::npos) << plain[0];
  // Both forms in one file, as `cat` makes it.
  const Lines both = RowsLike("spotify",
                              R"([{"ts":"2023-01-31T20:15:03Z","ms_played":1000,)"
                              R"("spotify_track_uri":"spotify:track:4"}])"
                              "\n" +
                                  log,
                              "me");
  ASSERT_EQ(both.size(), 4u);
  EXPECT_NE(both[0].find("spotify:track:4"), std::string::npos) << both[0];
  EXPECT_NE(both[1].find("- A song"), std::string::npos) << both[1];
}

TEST(LogRecipes, WhatIsGivenGoesBeforeTheRecipe) {
  LogFlags flags;
  flags.file = "x.csv";
  flags.like = "spotify";
  flags.columns.item = "master_metadata_track_name";
  flags.columns.now = true;
  flags.span_unit = "s";
  flags.format = "csv";
  const auto format = flags.Interpret();
  ASSERT_TRUE(format.ok());
  EXPECT_EQ(*format, LogFormat::kCsv);
  EXPECT_EQ(flags.columns.item, "master_metadata_track_name");
  EXPECT_TRUE(flags.columns.item_names.empty());
  EXPECT_EQ(flags.columns.time, "");
  EXPECT_EQ(flags.columns.user, "username");
  EXPECT_EQ(flags.columns.span_unit, SpanUnit::kSeconds);
  flags.like = "vhs";
  EXPECT_EQ(flags.Interpret().status().message(),
            "--like: unknown log \"vhs\": netflix, spotify, youtube");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
