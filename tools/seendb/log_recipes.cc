#include "log_recipes.h"

namespace seendb::tool {
namespace {

// ViewingActivity.csv of "Download your personal information": times are UTC, spans HH:MM:SS. And
// NetflixViewingHistory.csv of a profile's own page: a title and a day, as people write it in the
// account's language.
LogRecipe Netflix() {
  LogRecipe recipe{"netflix",
                   "ViewingActivity.csv (profiles are users), or Title and Date of one profile, "
                   "with --user and --date-order; titles are items",
                   LogFormat::kCsv};
  ColumnNames activity;
  activity.user = "Profile Name";
  activity.item = "Title";
  activity.time = "Start Time";
  activity.watch[kProgress] = "Bookmark";
  activity.watch[kDevice] = "Device Type";
  activity.utc = true;
  ColumnNames history;
  history.item = "Title";
  history.time = "Date";
  recipe.forms = {activity, history};
  return recipe;
}

// watch-history.json of Google Takeout, an array. Which video it was is in its address.
LogRecipe Youtube() {
  LogRecipe recipe{"youtube", "watch-history.json of Takeout: ids of videos, with --user",
                   LogFormat::kNdjson};
  ColumnNames history;
  history.item = "titleUrl";
  history.item_after = "v=";
  history.time = "time";
  recipe.forms = {history};
  return recipe;
}

// Arrays: Streaming_History_Audio_*.json of the extended history, of which only older ones name the
// user, and StreamingHistory_music_*.json (StreamingHistory*.json) and StreamingHistory_podcast_*
// of the account's data, which have names and no addresses. Times are UTC.
LogRecipe Spotify() {
  LogRecipe recipe{"spotify",
                   "Streaming_History_*.json, whose items are addresses of tracks and episodes, or "
                   "StreamingHistory*.json, whose items are \"Artist - Track\"",
                   LogFormat::kNdjson};
  ColumnNames extended;
  extended.user = "username";
  extended.item_names = {"spotify_track_uri", "spotify_episode_uri", "audiobook_chapter_uri"};
  extended.time = "ts";
  extended.watch[kProgress] = "ms_played";
  extended.utc = true;
  ColumnNames music;
  music.item = "trackName";
  music.item_of = "artistName";
  music.time = "endTime";
  music.watch[kProgress] = "msPlayed";
  music.utc = true;
  ColumnNames podcast = music;
  podcast.item = "episodeName";
  podcast.item_of = "podcastName";
  recipe.forms = {extended, music, podcast};
  recipe.span_unit = SpanUnit::kMillis;
  return recipe;
}

}  // namespace

const std::vector<LogRecipe>& LogRecipes() {
  static const std::vector<LogRecipe> recipes = {Netflix(), Spotify(), Youtube()};
  return recipes;
}

std::string LogRecipeNames() {
  std::string names;
  for (const LogRecipe& recipe : LogRecipes()) names += (names.empty() ? "" : ", ") + recipe.name;
  return names;
}

Result<const LogRecipe*> FindLogRecipe(std::string_view name) {
  for (const LogRecipe& recipe : LogRecipes()) {
    if (recipe.name == name) return &recipe;
  }
  return Status::InvalidArgument("--like: unknown log \"" + std::string(name) +
                                 "\": " + LogRecipeNames());
}

void FillFrom(const LogRecipe& recipe, PlayColumns* columns) {
  const ColumnNames given = *columns;
  const auto filled = [&](ColumnNames names) {
    const auto take = [](const std::string& from, std::string* to) {
      if (!from.empty()) *to = from;
    };
    take(given.user, &names.user);
    if (!columns->one_user.empty()) names.user = given.user;
    if (!given.item.empty()) {
      names.item = given.item;
      names.item_names.clear();
      names.item_after.clear();
      names.item_of.clear();
    }
    take(given.time, &names.time);
    if (columns->now) names.time = given.time;
    for (size_t i = 0; i < names.watch.size(); ++i) take(given.watch[i], &names.watch[i]);
    return names;
  };
  static_cast<ColumnNames&>(*columns) = filled(recipe.forms[0]);
  columns->others.clear();
  for (size_t i = 1; i < recipe.forms.size(); ++i) {
    columns->others.push_back(filled(recipe.forms[i]));
  }
  columns->span_unit = recipe.span_unit;
}

}  // namespace seendb::tool
