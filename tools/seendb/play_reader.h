// seendb/play_reader.h: plays out of a CSV, TSV or NDJSON log, columns by name.
//
// Rows are numbered from 1, the header not counted. A row that is no play (a field is missing,
// the time can't be read, an id is empty, over-long or not UTF-8, or what is said of the player is
// nothing POST /plays would take) is kBad, with the reason; the next row goes on. Extra columns are
// ignored; but where there is a header, a row with more fields than it has names is bad, for a
// delimiter in a field that is not quoted moves all behind it. Empty fields at the end are none.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record_reader.h"
#include "seendb/status.h"
#include "times/time_text.h"
#include "watch_fields.h"

namespace seendb::tool {

/// How a log is written.
enum class LogFormat { kCsv, kTsv, kNdjson };

/// The format of a file by its name ("log.csv.zst"); kInvalidArgument where the name does not say.
Result<LogFormat> LogFormatOfName(const std::string& path);
/// "csv", "tsv", "ndjson" ("jsonl", "json" too).
Result<LogFormat> LogFormatByName(std::string_view name);

/// Names tried, in this order, where none is given.
inline constexpr std::array<std::string_view, 6> kUserNames = {"user", "user_id",     "userid",
                                                               "uid",  "customer_id", "customer"};
inline constexpr std::array<std::string_view, 9> kItemNames = {
    "item",       "item_id",  "itemid",     "video_id", "stock_code",
    "article_id", "comic_id", "product_id", "sku"};
inline constexpr std::array<std::string_view, 9> kTimeNames = {
    "at", "time_ms", "at_ms", "timestamp_ms", "ts", "timestamp", "time", "event_time", "date"};

/// The names of a log's columns. Of NDJSON a name that begins with '/' is a path into objects
/// (RFC 6901).
struct ColumnNames {
  std::string user;  ///< a column's name; empty: guessed
  std::string item;  ///< likewise
  std::string time;  ///< likewise
  /// Names of NDJSON's item tried where none is given; none: kItemNames.
  std::vector<std::string> item_names = {};
  /// The item is what stands behind this in its text, up to a '&', a '#' or the end; empty: all.
  std::string item_after = {};
  /// A field of NDJSON that stands before the item, with " - " between; empty: none.
  std::string item_of = {};
  /// By WatchField: columns' names; empty: kWatchNames, where they are (never without a header).
  std::array<std::string, kWatchNames.size()> watch = {};
  bool utc = false;  ///< dates that name no zone are UTC, unless PlayColumns::zone_said
};

/// What is read from a log.
struct PlayColumns : ColumnNames {
  std::string one_user;  ///< whose log it is: there is no column of users; empty: there is one
  /// Other names for the same: those are taken of which the header, or the line of NDJSON, has item
  /// and time. Without any such, the names above are.
  std::vector<ColumnNames> others = {};
  /// A row's item is a list, with this between its ids; empty: it is one id.
  std::string item_separator = {};
  bool now = false;    ///< no time column: everything was played now
  char delimiter = 0;  ///< between fields; 0: the format's
  bool header = true;  ///< CSV and TSV: the first record names the columns; otherwise names are
                       ///< column numbers from 1, by default 1, 2 and 3
  times::TimeForm time_form = {};
  bool zone_known = true;                   ///< false: dates that name no zone can't be read
  bool zone_said = false;                   ///< time_form.zone counts whatever the log is
  SpanUnit span_unit = SpanUnit::kSeconds;  ///< of progress and duration
};

/// One play of a log; its views are valid until the next row is read.
struct PlayRow {
  std::string_view user;
  std::string_view item;
  std::optional<int64_t> at_ms;     ///< absent with PlayColumns::now
  std::optional<Watch> watch = {};  ///< where the row says any of it
};

/// What PlayReader::Next found.
enum class RowKind { kPlay, kBad, kEnd, kFailed };

/// Reads plays: see the head of this file. Threads: one.
class PlayReader {
 public:
  virtual ~PlayReader() = default;
  /// Begins to read from `read`. kInvalidArgument, naming the header's columns, where a column is
  /// not there, or what the log is, where it is no text (log_head.h).
  static Result<std::unique_ptr<PlayReader>> Open(RecordReader::ReadFn read, LogFormat format,
                                                  const PlayColumns& columns);
  /// The next row.
  RowKind Next(PlayRow* row);
  /// The number of the row Next gave last.
  uint64_t row_number() const { return row_number_; }
  /// Why the last row is bad, or why Next failed.
  const std::string& error() const { return error_; }
  /// Why Next failed.
  const Status& status() const { return records_.status(); }
  /// Takes the last row off the count: it was looked at, and is not to be counted as read.
  void UncountRow() {
    --row_number_;
    uncounted_ = true;
  }
  /// Whether the last row had its line end: one that lacks it may grow.
  bool row_ended() const { return records_.ended(); }
  /// From now on the last row's text and line are known.
  void KeepRows() { records_.KeepText(); }
  /// Between the ids of a row's item: see TakeItem.
  std::string_view item_separator() const { return columns_.item_separator; }
  std::string_view row_text() const { return records_.text(); }
  uint64_t row_line() const { return records_.line(); }
  /// Bytes up to the end of the last row that counts, and a hash of all of them.
  uint64_t position() const {
    return uncounted_ ? records_.position_before() : records_.position();
  }
  std::string hash() const { return uncounted_ ? records_.hash_before() : records_.hash(); }
  /// Goes on at that position, behind so many rows. False: the log is shorter, or can't be read.
  bool GoOnAt(uint64_t rows, uint64_t position);
  /// What is read from where, for people: "user from column 1 (user_id), ...".
  virtual std::string ColumnsText() const = 0;
  /// The zone of dates that name none.
  const times::TimeZone& zone() const { return columns_.time_form.zone; }
  /// Times that were dates without a zone.
  uint64_t local_times() const { return local_times_; }
  /// How the first play was understood; empty: there was none.
  const std::string& first_row() const { return first_row_; }
  /// Skips `rows` rows, unread. False if there are fewer.
  bool Skip(uint64_t rows);

 protected:
  PlayReader(RecordReader::ReadFn read, RecordFormat format, const PlayColumns& columns);
  /// Reads one record into `*row`; otherwise why not.
  virtual bool Parse(std::span<char> record, PlayRow* row, std::string* error) = 0;
  /// A time as text, in the columns' unit.
  bool ParseTime(std::string_view text, PlayRow* row, std::string* error);
  /// The next record; of a format without fields, lines of blanks are passed over.
  RecordKind NextRecord(std::span<char>* record);
  /// Whether user and items of the row are ids; otherwise why not.
  bool CheckIds(const PlayRow& row, std::string* error) const;
  /// Cuts the item out of its text, where the columns say so.
  bool CutItem(PlayRow* row, std::string* error) const;
  /// What is said of the player, from its text; empty says nothing.
  bool ParseWatch(WatchField field, std::string_view text, PlayRow* row, std::string* error) const;
  /// Takes other names for columns.
  void TakeNames(const ColumnNames& names);

  RecordReader records_;
  RecordFormat format_;
  PlayColumns columns_;

 private:
  const times::TimeZone zone_;  // of names that are not `utc`
  const bool zone_known_;
  uint64_t row_number_ = 0;
  uint64_t local_times_ = 0;
  bool uncounted_ = false;
  std::string error_, first_row_;
};

/// Takes the next id off a row's item, which is a list where there is a separator: without the
/// blanks around it, and passing over empty ones. Nothing where there are no more.
std::optional<std::string_view> TakeItem(std::string_view* items, std::string_view separator);

/// The position of the column called `wanted` in `header`, blanks around the header's names aside;
/// or, where `wanted` is empty, of the first of the `usual` names found there, where letter case is
/// ignored and blanks and dashes count as underscores ("User ID" is user_id). -1 without one.
int FindColumn(const std::vector<std::string_view>& header, std::string_view wanted,
               std::span<const std::string_view> usual);

}  // namespace seendb::tool
