// Arbitrary bytes as a log that the tool loads: CSV, TSV or NDJSON, with any columns. However the
// bytes are cut on their way in, the same rows come out; what is read, written as CSV and as NDJSON
// again, reads the same; and ids and what is said of the player are good ones.
//
// The first byte chooses the format, the second what is said of the columns, the third the cuts.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "play_batch.h"
#include "play_reader.h"
#include "seendb/events.h"
#include "seendb/id.h"

namespace {

using namespace seendb::tool;
using seendb::fuzz::Check;

struct Row {
  RowKind kind;
  uint64_t number;
  std::string user, item, error;
  std::optional<int64_t> at_ms;
  std::string ndjson = {};  // of a play
  bool operator==(const Row&) const = default;
};

struct Log {
  std::string refusal;  // of the header, or of the end
  std::vector<Row> rows;
  bool operator==(const Log&) const = default;
};

/// What is said of the player is what the engine takes.
void CheckWatch(const PlayRow& row) {
  if (!row.watch) return;
  Check(row.watch->progress_s.value_or(0) >= seendb::kFinished);
  Check(row.watch->duration_s.value_or(0) >= 0);
  Check(row.watch->device.size() <= seendb::kMaxDeviceBytes);
  Check(row.watch->fields.size() <= seendb::kMaxFieldsBytes);
}

Log Read(std::string_view bytes, size_t most, LogFormat format, const PlayColumns& columns) {
  seendb::fuzz::Cutter cutter(most);
  const auto read = [&](char* to, size_t room) -> seendb::Result<size_t> {
    const size_t length = std::min(room, cutter.Next(bytes.size()));
    bytes.copy(to, length);
    bytes.remove_prefix(length);
    return length;
  };
  Log log;
  auto reader = PlayReader::Open(read, format, columns);
  if (!reader.ok()) {
    log.refusal = reader.status().ToString();
    Check(!log.refusal.empty());
    return log;
  }
  for (PlayRow row;;) {
    const RowKind kind = (*reader)->Next(&row);
    if (kind == RowKind::kEnd) return log;
    if (kind == RowKind::kFailed) {  // an array that is cut short
      log.refusal = (*reader)->status().ToString();
      Check(format == LogFormat::kNdjson && !(*reader)->status().ok());
      return log;
    }
    Check(kind == RowKind::kPlay || kind == RowKind::kBad);
    Row seen{kind, (*reader)->row_number(), {}, {}, (*reader)->error(), 0};
    Check(seen.number == log.rows.size() + 1);
    if (kind == RowKind::kPlay) {
      seen.user = row.user;
      seen.item = row.item;
      seen.at_ms = row.at_ms;
      AppendNdjson(row, &seen.ndjson);
      CheckWatch(row);
      Check(seendb::IdRef(row.user).Validate().ok() && seendb::IdRef(row.item).Validate().ok());
      Check(seen.error.empty() && (columns.now ? !row.at_ms : row.at_ms >= 0));
    } else {
      Check(!seen.error.empty());
    }
    log.rows.push_back(std::move(seen));
  }
}

/// Whether a line of the quoted field may look like a row of its own, and the row as one that was
/// never closed.
bool MayHoldARow(const Row& row) {
  const std::string both = row.user + row.item;
  return both.find('\n') != std::string::npos && both.find(',') != std::string::npos;
}

/// The id that CSV reads where `id` is written: blanks around a field are no part of it.
std::string AsCsvReads(const std::string& id) {
  const size_t begin = id.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return id.substr(begin, id.find_last_not_of(" \t") - begin + 1);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

/// The plays of `log` as CSV and as NDJSON, and what that must read as.
void CheckWrittenAgain(const Log& log) {
  std::string csv = "user,item,at\r\n";
  std::vector<Row> plays;
  for (const Row& row : log.rows) {
    if (row.kind != RowKind::kPlay || MayHoldARow(row)) continue;
    const std::string user = AsCsvReads(row.user);
    const std::string item = AsCsvReads(row.item);
    if (user.empty() || item.empty()) continue;  // CSV refuses an id of blanks alone
    plays.push_back(row);
    plays.back().user = user;
    plays.back().item = item;
    plays.back().number = plays.size();
    plays.back().ndjson.clear();
    plays.back().at_ms = row.at_ms.value_or(0);
    csv += Quoted(row.user) + "," + Quoted(row.item) + "," + std::to_string(*plays.back().at_ms) +
           "\r\n";
  }
  PlayColumns columns;
  columns.time_form.unit = seendb::times::TimeUnit::kMillis;
  Log again = Read(csv, 0, LogFormat::kCsv, columns);
  for (Row& row : again.rows) row.ndjson.clear();
  Check(again.rows == plays);
  std::string ndjson;
  for (const Row& row : log.rows) ndjson += row.ndjson;
  columns.now = !ndjson.empty() && ndjson.find(",\"at\":") == std::string::npos;
  std::string written;
  for (const Row& row : Read(ndjson, 0, LogFormat::kNdjson, columns).rows) written += row.ndjson;
  Check(written == ndjson);
}

PlayColumns ColumnsOf(uint8_t choice) {
  PlayColumns columns;
  columns.now = (choice & 1) != 0;
  columns.header = (choice & 2) == 0;
  if ((choice & 4) != 0) columns.user = columns.header ? "u" : "3";
  if ((choice & 8) != 0) columns.time = columns.header ? "t" : "2";
  columns.time_form.unit = static_cast<seendb::times::TimeUnit>((choice >> 4) % 3);
  columns.time_form.order = static_cast<seendb::times::DateOrder>(choice >> 6);
  return columns;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const auto format = static_cast<LogFormat>(input.Byte() % 3);
  const PlayColumns columns = ColumnsOf(input.Byte());
  const size_t most = 1 + input.Byte();
  const Log whole = Read(input.Rest(), 0, format, columns);
  Check(Read(input.Rest(), most, format, columns) == whole);
  CheckWrittenAgain(whole);
  return 0;
}
