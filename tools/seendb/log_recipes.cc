#include "log_recipes.h"

namespace seendb::tool {
namespace {

// ViewingActivity.csv of "Download your personal information". Times are UTC, spans HH:MM:SS.
LogRecipe Netflix() {
  LogRecipe recipe{"netflix", "ViewingActivity.csv: profiles as users, titles as items",
                   LogFormat::kCsv};
  recipe.columns.user = "Profile Name";
  recipe.columns.item = "Title";
  recipe.columns.time = "Start Time";
  recipe.columns.watch[kProgress] = "Bookmark";
  recipe.columns.watch[kDevice] = "Device Type";
  recipe.time_zone = "UTC";
  return recipe;
}

// watch-history.json of Google Takeout, an array. Which video it was is in its address.
LogRecipe Youtube() {
  LogRecipe recipe{"youtube", "watch-history.json of Takeout: ids of videos, with --user",
                   LogFormat::kNdjson};
  recipe.columns.item = "titleUrl";
  recipe.columns.item_after = "v=";
  recipe.columns.time = "time";
  return recipe;
}

// Streaming_History_Audio_*.json of the extended history, arrays. Only older ones name the user.
LogRecipe Spotify() {
  LogRecipe recipe{"spotify", "Streaming_History_*.json: addresses of tracks and episodes",
                   LogFormat::kNdjson};
  recipe.columns.user = "username";
  recipe.columns.item_names = {"spotify_track_uri", "spotify_episode_uri", "audiobook_chapter_uri"};
  recipe.columns.time = "ts";
  recipe.columns.watch[kProgress] = "ms_played";
  recipe.columns.span_unit = SpanUnit::kMillis;
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
  const auto fill = [](const std::string& from, std::string* to) {
    if (to->empty()) *to = from;
  };
  if (columns->one_user.empty()) fill(recipe.columns.user, &columns->user);
  if (columns->item.empty()) {
    columns->item = recipe.columns.item;
    columns->item_after = recipe.columns.item_after;
    columns->item_names = recipe.columns.item_names;
  }
  if (!columns->now) fill(recipe.columns.time, &columns->time);
  for (size_t i = 0; i < columns->watch.size(); ++i) {
    fill(recipe.columns.watch[i], &columns->watch[i]);
  }
  columns->span_unit = recipe.columns.span_unit;
}

}  // namespace seendb::tool
