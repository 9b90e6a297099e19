#include "play_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "byte_source.h"
#include "log_head.h"
#include "ndjson_reader.h"
#include "seendb/events.h"
#include "seendb/id.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string_view Trimmed(std::string_view name) {
  while (name.starts_with(' ') || name.starts_with('\t')) name.remove_prefix(1);
  while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
  return name;
}

char Folded(char c) {
  if (c == ' ' || c == '-') return '_';
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// Is `name`, of a header, the usual name `usual`?
bool SameName(std::string_view name, std::string_view usual) {
  return std::equal(name.begin(), name.end(), usual.begin(), usual.end(),
                    [](char x, char y) { return Folded(x) == Folded(y); });
}

/// What names a column of the player: --NAME-column.
constexpr std::array<std::string_view, kWatchNames.size()> kWatchFlags = {"progress", "duration",
                                                                          "device", "fields"};

/// The reason for a text that is no time. It names the orders of a date's numbers that would read
/// it: nobody but the user knows which is meant.
std::string NoTime(std::string_view text, times::TimeForm form) {
  constexpr std::array<std::pair<times::DateOrder, const char*>, 3> kOrders = {
      {{times::DateOrder::kDayMonthYear, "dmy"},
       {times::DateOrder::kMonthDayYear, "mdy"},
       {times::DateOrder::kYearMonthDay, "ymd"}}};
  std::string said, others;
  for (const auto& [order, name] : kOrders) {
    if (form.order == order) said = std::string(" in the order ") + name;
  }
  for (const auto& [order, name] : kOrders) {
    form.order = order;
    if (!times::ReadTime(text, form)) continue;
    others += (others.empty() ? "; --date-order " : " or ") + std::string(name);
  }
  if (!others.empty()) others += others.find(" or ") == others.npos ? " reads it" : " read it";
  return "not a time" + said + ": \"" + std::string(text.substr(0, 64)) + "\"" +
         (others.empty() ? " (ISO 8601 or a number)" : others);
}

/// Rows of fields.
class DelimitedReader : public PlayReader {
 public:
  DelimitedReader(RecordReader::ReadFn read, LogFormat format, const PlayColumns& columns)
      : PlayReader(std::move(read), Format(format, columns), columns) {}

  Status Begin() {
    records_.SetIsRecord([this](std::string_view line) { return IsRecord(line); });
    if (!columns_.header) return Number();
    std::span<char> record;
    const RecordKind kind = records_.Next(&record);
    if (kind == RecordKind::kFailed) return status();
    if (kind == RecordKind::kEnd) return Status::InvalidArgument("the log is empty: no header");
    std::vector<std::string_view> header;
    if (kind != RecordKind::kRecord || !SplitFields(record, format_, &header)) {
      return Status::InvalidArgument("the header can't be read");
    }
    width_ = header.size();
    return Find(header);
  }

  std::string ColumnsText() const override {
    std::string text = (user_ < 0 ? "user \"" + Printable(columns_.one_user) + "\""
                                  : "user from " + NameOf(user_)) +
                       ", item from " + NameOf(item_);
    text += time_ < 0 ? ", all played now" : ", time from " + NameOf(time_);
    for (size_t i = 0; i < watch_.size(); ++i) {
      if (watch_[i] >= 0) text += ", " + std::string(kWatchNames[i]) + " from " + NameOf(watch_[i]);
    }
    return text;
  }

 protected:
  bool Parse(std::span<char> record, PlayRow* row, std::string* error) override {
    if (!SplitFields(record, format_, &fields_)) {
      *error = "text behind a quoted field";
      return false;
    }
    if (fields_.size() <= static_cast<size_t>(last_)) {
      *error = std::to_string(fields_.size()) + " fields where " + std::to_string(last_ + 1) +
               " are needed";
      return false;
    }
    const auto named = static_cast<ptrdiff_t>(width_ == 0 ? fields_.size() : width_);
    if (std::any_of(fields_.begin() + std::min(named, std::ssize(fields_)), fields_.end(),
                    [](std::string_view field) { return !field.empty(); })) {
      *error = std::to_string(fields_.size()) + " fields where the header has " +
               std::to_string(width_) + ": a delimiter in a field that is not quoted?";
      return false;
    }
    row->user = user_ < 0 ? std::string_view(columns_.one_user)
                          : Trimmed(fields_[static_cast<size_t>(user_)]);
    row->item = Trimmed(fields_[static_cast<size_t>(item_)]);
    for (size_t i = 0; i < watch_.size(); ++i) {
      if (watch_[i] < 0 || fields_.size() <= static_cast<size_t>(watch_[i])) continue;
      const std::string_view text = fields_[static_cast<size_t>(watch_[i])];
      if (!ParseWatch(static_cast<WatchField>(i), text, row, error)) return false;
    }
    if (time_ < 0) {
      row->at_ms = std::nullopt;
      return true;
    }
    return ParseTime(fields_[static_cast<size_t>(time_)], row, error);
  }

 private:
  /// Whether the line is a row by itself: it has the fields that one has, and a time.
  bool IsRecord(std::string_view line) {
    line_.assign(line);
    if (!SplitFields(line_, format_, &line_fields_)) return false;
    const bool whole = width_ == 0 ? line_fields_.size() > static_cast<size_t>(last_)
                                   : line_fields_.size() == width_;
    const auto has = [&](int at) { return !line_fields_[static_cast<size_t>(at)].empty(); };
    if (!whole || (user_ >= 0 && !has(user_)) || !has(item_)) return false;
    return time_ < 0 ||
           times::ParseTimeMs(line_fields_[static_cast<size_t>(time_)], columns_.time_form);
  }

  std::string NameOf(int at) const {
    const std::string number = "column " + std::to_string(at + 1);
    const auto index = static_cast<size_t>(at);
    return index < names_.size() ? number + " (" + names_[index] + ")" : number;
  }

  static RecordFormat Format(LogFormat format, const PlayColumns& columns) {
    RecordFormat form =
        format == LogFormat::kCsv ? RecordFormat{',', true} : RecordFormat{'\t', false};
    if (columns.delimiter != 0) form.delimiter = columns.delimiter;
    return form;
  }

  /// Whether the header has item and time by these names.
  bool Has(const std::vector<std::string_view>& header, const ColumnNames& names) const {
    return FindColumn(header, names.item, kItemNames) >= 0 &&
           (columns_.now || FindColumn(header, names.time, kTimeNames) >= 0);
  }

  Status Find(const std::vector<std::string_view>& header) {
    if (!Has(header, columns_)) {
      const auto other = std::find_if(columns_.others.begin(), columns_.others.end(),
                                      [&](const ColumnNames& names) { return Has(header, names); });
      if (other != columns_.others.end()) TakeNames(*other);
    }
    const bool one_user = !columns_.one_user.empty();
    user_ = one_user ? -1 : FindColumn(header, columns_.user, kUserNames);
    item_ = FindColumn(header, columns_.item, kItemNames);
    time_ = columns_.now ? -1 : FindColumn(header, columns_.time, kTimeNames);
    if (user_ < 0 && !one_user) return Missing("user", columns_.user, header);
    if (item_ < 0) return Missing("item", columns_.item, header);
    if (time_ < 0 && !columns_.now) return Missing("time", columns_.time, header);
    last_ = std::max({user_, item_, time_});
    for (const std::string_view name : header) names_.emplace_back(Trimmed(name).substr(0, 64));
    for (size_t i = 0; i < watch_.size(); ++i) {
      const std::string& wanted = columns_.watch[i];
      watch_[i] = FindColumn(header, wanted, {&kWatchNames[i], 1});
      if (watch_[i] < 0 && !wanted.empty()) return Missing(kWatchFlags[i], wanted, header);
    }
    return {};
  }

  static Status Missing(std::string_view what, const std::string& wanted,
                        const std::vector<std::string_view>& header) {
    std::string message = "no " + std::string(what) + " column";
    if (!wanted.empty()) message += " \"" + wanted + "\"";
    message += " in the header (";
    for (size_t i = 0; i < header.size(); ++i) {
      message += (i == 0 ? "" : ", ") + std::string(header[i].substr(0, 64));
    }
    message += "); name it by --" + std::string(what) + "-column";
    // A header of one field is mostly one that was not cut.
    const size_t other = header.size() == 1 ? header[0].find_first_of(";|\t,") : std::string::npos;
    if (other != std::string::npos) {
      const bool tab = header[0][other] == '\t';
      message += ", or what lies between the fields by --delimiter " +
                 (tab ? std::string("tab") : "'" + std::string(1, header[0][other]) + "'");
    }
    if (what == "time") message += " or say --now";
    if (what == "user") message += ", or whose log it is by --user";
    return Status::InvalidArgument(message);
  }

  /// Columns by number.
  Status Number() {
    std::vector<std::pair<const std::string*, int*>> all = {
        {&columns_.user, &user_}, {&columns_.item, &item_}, {&columns_.time, &time_}};
    for (size_t i = 0; i < watch_.size(); ++i) all.emplace_back(&columns_.watch[i], &watch_[i]);
    for (const auto& [name, column] : all) {
      if (name->empty()) continue;
      int number = 0;
      const auto [end, error] = std::from_chars(name->data(), name->data() + name->size(), number);
      if (error != std::errc() || end != name->data() + name->size() || number < 1) {
        return Status::InvalidArgument("without a header a column is a number from 1, not \"" +
                                       *name + "\"");
      }
      *column = number - 1;
    }
    if (!columns_.one_user.empty()) user_ = -1;
    if (columns_.now) time_ = -1;
    last_ = std::max({user_, item_, time_});
    return {};
  }

  int user_ = 0;
  int item_ = 1;
  int time_ = 2;
  int last_ = 2;  // what every row must have
  std::array<int, kWatchNames.size()> watch_ = {-1, -1, -1, -1};
  size_t width_ = 0;                // fields of the header; 0: there is none
  std::vector<std::string> names_;  // of the header
  std::vector<std::string_view> fields_;
  std::string line_;  // that IsRecord looks at
  std::vector<std::string_view> line_fields_;
};

}  // namespace

std::optional<std::string_view> TakeItem(std::string_view* items, std::string_view separator) {
  while (!items->empty()) {
    if (separator.empty()) return std::exchange(*items, {});
    const size_t end = std::min(items->find(separator), items->size());
    const std::string_view item = Trimmed(items->substr(0, end));
    items->remove_prefix(std::min(end + separator.size(), items->size()));
    if (!item.empty()) return item;
  }
  return std::nullopt;
}

int FindColumn(const std::vector<std::string_view>& header, std::string_view wanted,
               std::span<const std::string_view> usual) {
  const auto find = [&](auto&& is_it) {
    const auto found = std::find_if(header.begin(), header.end(), is_it);
    return found == header.end() ? -1 : static_cast<int>(found - header.begin());
  };
  if (!wanted.empty()) {
    const int exact = find([&](std::string_view name) { return name == wanted; });
    if (exact >= 0) return exact;
    return find([&](std::string_view name) { return Trimmed(name) == Trimmed(wanted); });
  }
  for (const std::string_view one : usual) {
    const int at = find([&](std::string_view name) { return SameName(Trimmed(name), one); });
    if (at >= 0) return at;
  }
  return -1;
}

Result<LogFormat> LogFormatByName(std::string_view name) {
  if (name == "csv") return LogFormat::kCsv;
  if (name == "tsv" || name == "tab") return LogFormat::kTsv;
  if (name == "ndjson" || name == "jsonl" || name == "json") return LogFormat::kNdjson;
  return Status::InvalidArgument("unknown format \"" + std::string(name) +
                                 "\": csv, tsv or ndjson");
}

Result<LogFormat> LogFormatOfName(const std::string& path) {
  const std::string stem = WithoutCompression(path);
  const size_t dot = stem.find_last_of("./");
  if (dot != std::string::npos && stem[dot] == '.') {
    auto format = LogFormatByName(stem.substr(dot + 1));
    if (format.ok()) return format;
  }
  return Status::InvalidArgument("the name of " + path +
                                 " does not tell its format: say --format csv, tsv or ndjson");
}

PlayReader::PlayReader(RecordReader::ReadFn read, RecordFormat format, const PlayColumns& columns)
    : records_(std::move(read), format),
      format_(format),
      columns_(columns),
      zone_(columns.time_form.zone),
      zone_known_(columns.zone_known) {
  TakeNames(ColumnNames(columns));
}

void PlayReader::TakeNames(const ColumnNames& names) {
  static_cast<ColumnNames&>(columns_) = names;
  const bool utc = names.utc && !columns_.zone_said;
  columns_.time_form.zone = utc ? times::TimeZone() : zone_;
  columns_.zone_known = utc || zone_known_;
}

bool PlayReader::ParseTime(std::string_view text, PlayRow* row, std::string* error) {
  const auto read = times::ReadTime(text, columns_.time_form);
  if (!read) {
    *error = NoTime(text, columns_.time_form);
    return false;
  }
  if (read->local && !columns_.zone_known) {
    *error = "\"" + std::string(text.substr(0, 64)) +
             "\" names no zone, and nobody can be asked for one: say --time-zone";
    return false;
  }
  local_times_ += read->local ? 1 : 0;
  row->at_ms = read->at_ms;
  return true;
}

bool PlayReader::CheckIds(const PlayRow& row, std::string* error) const {
  const auto is_id = [&](const char* name, std::string_view id) {
    const Status status = IdRef(id).Validate();
    if (!status.ok()) *error = std::string(name) + ": " + std::string(status.message());
    return status.ok();
  };
  std::string_view items = row.item;
  std::optional<std::string_view> item = TakeItem(&items, item_separator());
  if (!is_id("user", row.user) || !is_id("item", item.value_or(""))) return false;
  while ((item = TakeItem(&items, item_separator()))) {
    if (!is_id("item", *item)) return false;
  }
  return true;
}

bool PlayReader::CutItem(PlayRow* row, std::string* error) const {
  if (columns_.item_after.empty()) return true;
  const size_t at = row->item.find(columns_.item_after);
  if (at == std::string_view::npos) {
    *error = "item: no \"" + columns_.item_after + "\" in it";
    return false;
  }
  row->item.remove_prefix(at + columns_.item_after.size());
  row->item = row->item.substr(0, row->item.find_first_of("&#"));
  return true;
}

bool PlayReader::ParseWatch(WatchField field, std::string_view text, PlayRow* row,
                            std::string* error) const {
  if (text.empty()) return true;
  if (!row->watch) row->watch.emplace();
  return TakeWatchField(field, text, columns_.span_unit, &*row->watch, error);
}

bool PlayReader::GoOnAt(uint64_t rows, uint64_t position) {
  row_number_ = rows;
  return records_.SkipTo(position);
}

RecordKind PlayReader::NextRecord(std::span<char>* record) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  for (;;) {
    const RecordKind kind = records_.Next(record);
    const bool whole_lines = format_.delimiter == '\n';
    if (kind != RecordKind::kRecord || !whole_lines ||
        !std::all_of(record->begin(), record->end(), is_blank)) {
      return kind;
    }
  }
}

RowKind PlayReader::Next(PlayRow* row) {
  error_.clear();
  uncounted_ = false;
  row->watch.reset();
  std::span<char> record;
  const RecordKind kind = NextRecord(&record);
  if (kind == RecordKind::kEnd) return RowKind::kEnd;
  if (kind == RecordKind::kFailed) {
    error_ = status().ToString();
    return RowKind::kFailed;
  }
  ++row_number_;
  if (kind == RecordKind::kTooLong) error_ = "a line of more than 1 MiB";
  if (kind == RecordKind::kOpen) error_ = "a quote is never closed";
  if (kind != RecordKind::kRecord || !Parse(record, row, &error_) || !CutItem(row, &error_)) {
    return RowKind::kBad;
  }
  if (!CheckIds(*row, &error_)) return RowKind::kBad;
  if (first_row_.empty()) {
    first_row_ = "user \"" + Printable(row->user) + "\", item \"" + Printable(row->item) + "\", " +
                 (row->at_ms ? FormatTimeMs(*row->at_ms) + " UTC" : "now");
  }
  return RowKind::kPlay;
}

bool PlayReader::Skip(uint64_t rows) {
  std::span<char> record;
  for (; rows != 0; --rows) {
    const RecordKind kind = NextRecord(&record);
    if (kind == RecordKind::kEnd || kind == RecordKind::kFailed) return false;
    ++row_number_;
  }
  return true;
}

Result<std::unique_ptr<PlayReader>> PlayReader::Open(RecordReader::ReadFn read, LogFormat format,
                                                     const PlayColumns& columns) {
  Result<RecordReader::ReadFn> text = TextOf(std::move(read), format);
  if (!text.ok()) return text.status();
  if (format == LogFormat::kNdjson) {
    return std::unique_ptr<PlayReader>(
        std::make_unique<NdjsonReader>(std::move(text).value(), columns));
  }
  auto reader = std::make_unique<DelimitedReader>(std::move(text).value(), format, columns);
  Status status = reader->Begin();
  if (!status.ok()) return status;
  return std::unique_ptr<PlayReader>(std::move(reader));
}

}  // namespace seendb::tool
