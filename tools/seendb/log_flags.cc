#include "log_flags.h"

#include <array>
#include <utility>

namespace seendb::tool {
namespace {

void AddColumnFlags(CLI::App& command, LogFlags* flags) {
  const char* const group = "Columns";
  command
      .add_option("--user-column", flags->columns.user,
                  "Who; by default user, user_id, uid, customer_id ...")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--item-column", flags->columns.item,
                  "What; by default item, item_id, video_id, stock_code ...")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--time-column", flags->columns.time,
                  "When; by default at, time_ms, ts, timestamp ...: a number or ISO 8601")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--time-unit", flags->time_unit,
                  "Of bare numbers: ms, s, or auto (below 100,000,000,000 seconds)")
      ->check(CLI::IsMember({"auto", "ms", "s"}))
      ->group(group);
  command.add_flag("--now", flags->columns.now, "No time column: everything was played now")
      ->group(group);
  command
      .add_flag("--no-header", flags->no_header,
                "CSV and TSV without a header: columns are numbers from 1, by default 1, 2, 3")
      ->group(group);
}

void AddWatchFlags(CLI::App& command, LogFlags* flags) {
  const char* const group = "Columns of the watch history";
  const std::array<std::pair<const char*, const char*>, kWatchNames.size()> all = {{
      {"--progress-column", "How far the player is, -1: finished; by default progress_s"},
      {"--duration-column", "How long the item is; by default duration_s"},
      {"--device-column", "What it was watched on; by default device"},
      {"--fields-column", "A JSON object to keep; by default fields"},
  }};
  for (size_t i = 0; i < all.size(); ++i) {
    command.add_option(all[i].first, flags->columns.watch[i], all[i].second)
        ->type_name("NAME")
        ->group(group);
  }
  command.add_option("--span-unit", flags->span_unit, "Of progress and duration: s or ms")
      ->check(CLI::IsMember({"s", "ms"}))
      ->group(group);
}

}  // namespace

Result<LogFormat> LogFlags::Interpret() {
  columns.header = !no_header;
  if (time_unit == "ms") columns.time_unit = TimeUnit::kMillis;
  if (span_unit == "ms") columns.span_unit = SpanUnit::kMillis;
  if (time_unit == "s") columns.time_unit = TimeUnit::kSeconds;
  const auto span_ms = ParseSpanMs(shift);
  if (!span_ms) return Status::InvalidArgument("--shift: write 90d, -12h, 30m, 10s or 500ms");
  shift_ms = *span_ms;
  return format.empty() ? LogFormatOfName(file) : LogFormatByName(format);
}

void AddLogFlags(CLI::App& command, LogFlags* flags) {
  command
      .add_option("file", flags->file,
                  "csv, tsv or ndjson, zstd-compressed or not; - for standard input")
      ->required()
      ->type_name("FILE");
  command.add_option("--format", flags->format, "Where the name does not tell: csv, tsv, ndjson")
      ->type_name("FORMAT");
  AddColumnFlags(command, flags);
  AddWatchFlags(command, flags);
  command
      .add_option("--shift", flags->shift,
                  "Add to every time, to bring an old log into the window: 90d, -12h, 500ms")
      ->type_name("SPAN");
}

}  // namespace seendb::tool
