#include "log_flags.h"

#include <array>
#include <optional>
#include <utility>

#include "log_recipes.h"

namespace seendb::tool {
namespace {

void AddColumnFlags(Command command, LogFlags* flags) {
  const char* const group = "Columns";
  command
      .Add("--user-column", flags->columns.user,
           "Who; by default user, user_id, User ID, uid, customer_id ...")
      .TypeName("NAME")
      .Group(group);
  command
      .Add("--user", flags->columns.one_user,
           "Whose log it is, where there is no column of users: an export of one person")
      .TypeName("USER")
      .NotEmpty()
      .Group(group);
  command
      .Add("--item-column", flags->columns.item,
           "What; by default item, item_id, video_id, stock_code ...")
      .TypeName("NAME")
      .Group(group);
  command
      .Add("--time-column", flags->columns.time,
           "When; by default at, time_ms, ts, timestamp ...: a number or a date as ISO 8601 and "
           "databases write it")
      .TypeName("NAME")
      .Group(group);
  command
      .Add("--time-unit", flags->time_unit,
           "Of bare numbers: s, ms, us, ns, or auto (by their size; 20261125 is a day)")
      .OneOf({"auto", "s", "ms", "us", "ns"})
      .Group(group);
  command
      .Add("--date-order", flags->date_order,
           "Of dates like 01/02/2024 or 1.2.24, 9:31 PM: dmy (a day of February), mdy (of January) "
           "or ymd; without it they are no times")
      .OneOf({"dmy", "mdy", "ymd"})
      .Group(group);
  command
      .Add("--time-zone", flags->time_zone,
           "Of dates that name none: Europe/Berlin, UTC, +05:30 ...; load takes the collection's "
           "utc_offset where it is not said")
      .TypeName("ZONE")
      .NotEmpty()
      .Group(group);
  command.AddFlag("--now", flags->columns.now, "No time column: everything was played now")
      .Group(group);
  command
      .AddFlag("--no-header", flags->no_header,
               "CSV and TSV without a header: columns are numbers from 1, by default 1, 2, 3")
      .Group(group);
}

void AddWatchFlags(Command command, LogFlags* flags) {
  const char* const group = "Columns of the watch history";
  const std::array<std::pair<const char*, const char*>, kWatchNames.size()> all = {{
      {"--progress-column", "How far the player is, -1: finished; by default progress_s"},
      {"--duration-column", "How long the item is; by default duration_s"},
      {"--device-column", "What it was watched on; by default device"},
      {"--fields-column", "A JSON object to keep; by default fields"},
  }};
  for (size_t i = 0; i < all.size(); ++i) {
    command.Add(all[i].first, flags->columns.watch[i], all[i].second).TypeName("NAME").Group(group);
  }
  command.Add("--span-unit", flags->span_unit, "Of progress and duration: s (default) or ms")
      .OneOf({"s", "ms"})
      .Group(group);
}

/// The character that --delimiter names.
Result<char> DelimiterOf(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  const bool is_one = text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80;
  if (!is_one || text[0] == '"' || text[0] == '\n' || text[0] == '\r') {
    return Status::InvalidArgument("--delimiter: write one character (not a quote), tab or space");
  }
  return text[0];
}

}  // namespace

Result<LogFormat> LogFlags::Interpret() {
  columns.header = !no_header;
  std::optional<LogFormat> usual;
  if (!like.empty()) {
    const auto recipe = FindLogRecipe(like);
    if (!recipe.ok()) return recipe.status();
    FillFrom(**recipe, &columns);
    usual = (*recipe)->format;
  }
  if (!columns.one_user.empty() && !columns.user.empty()) {
    return Status::InvalidArgument("--user and --user-column exclude each other");
  }
  using times::TimeUnit;
  if (time_unit == "s") columns.time_form.unit = TimeUnit::kSeconds;
  if (time_unit == "ms") columns.time_form.unit = TimeUnit::kMillis;
  if (time_unit == "us") columns.time_form.unit = TimeUnit::kMicros;
  if (time_unit == "ns") columns.time_form.unit = TimeUnit::kNanos;
  if (!span_unit.empty()) {
    columns.span_unit = span_unit == "ms" ? SpanUnit::kMillis : SpanUnit::kSeconds;
  }
  if (!time_zone.empty()) {
    const auto zone = times::TimeZone::Named(time_zone);
    if (!zone.ok()) {
      return Status::InvalidArgument("--time-zone: " + std::string(zone.status().message()));
    }
    columns.time_form.zone = *zone;
    columns.zone_said = true;
  }
  using times::DateOrder;
  if (date_order == "dmy") columns.time_form.order = DateOrder::kDayMonthYear;
  if (date_order == "mdy") columns.time_form.order = DateOrder::kMonthDayYear;
  if (date_order == "ymd") columns.time_form.order = DateOrder::kYearMonthDay;
  const auto span_ms = times::ParseSpanMs(shift);
  if (!span_ms) return Status::InvalidArgument("--shift: write 90d, -12h, 30m, 10s or 500ms");
  shift_ms = *span_ms;
  auto chosen = !format.empty() ? LogFormatByName(format)
                : usual         ? Result<LogFormat>(*usual)
                                : LogFormatOfName(file);
  if (delimiter.empty()) return chosen;
  const auto between = DelimiterOf(delimiter);
  if (!between.ok()) return between.status();
  columns.delimiter = *between;
  if (!chosen.ok() && format.empty()) return LogFormat::kCsv;
  if (chosen.ok() && *chosen == LogFormat::kNdjson) {
    return Status::InvalidArgument("--delimiter is for csv and tsv");
  }
  return chosen;
}

void AddLogFlags(Command command, LogFlags* flags) {
  command
      .Add("file", flags->file,
           "csv, tsv, ndjson or a JSON array, plain or compressed by gzip or zstd; - for standard "
           "input")
      .Required()
      .TypeName("FILE")
      .NotEmpty();
  command.Add("--format", flags->format, "Where the name does not tell: csv, tsv, ndjson")
      .TypeName("FORMAT");
  command
      .Add("--delimiter", flags->delimiter,
           "Between the fields of csv and tsv, where it is another: one character, tab, space")
      .TypeName("CHAR")
      .NotEmpty();
  std::string about = "The columns of a log as a service hands it out;";
  for (const LogRecipe& recipe : LogRecipes())
    about += " " + recipe.name + ": " + recipe.about + ";";
  about.pop_back();
  command.Add("--like", flags->like, about).TypeName("NAME").NotEmpty().Group("Columns");
  AddColumnFlags(command, flags);
  AddWatchFlags(command, flags);
  command
      .Add("--shift", flags->shift,
           "Add to every time, to bring an old log into the window: 90d, -12h, 500ms")
      .TypeName("SPAN");
}

void AddMaxRefused(Command command, std::string* percent) {
  command
      .Add("--max-refused", *percent,
           "End in exit code 8 if more of the rows were refused or bad (0%: any)")
      .TypeName("N%");
}

}  // namespace seendb::tool
