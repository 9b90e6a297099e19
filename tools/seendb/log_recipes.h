// seendb/log_recipes.h: the logs that services hand out to the people they are of, by name: which
// format and columns `--like NAME` stands for.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "play_reader.h"

namespace seendb::tool {

/// A log as a service writes it. What is empty is as without a recipe.
struct LogRecipe {
  std::string name, about;
  LogFormat format = LogFormat::kCsv;
  /// The forms that it comes in: the first of which a log has item and time.
  std::vector<ColumnNames> forms = {};
  SpanUnit span_unit = SpanUnit::kSeconds;
};

/// All of them.
const std::vector<LogRecipe>& LogRecipes();
/// Their names with commas between.
std::string LogRecipeNames();
/// kInvalidArgument where there is none of that name.
Result<const LogRecipe*> FindLogRecipe(std::string_view name);

/// Fills in what `*columns` leaves open.
void FillFrom(const LogRecipe& recipe, PlayColumns* columns);

}  // namespace seendb::tool
