// seendb/record_reader.h: cuts a stream of bytes into the records of a CSV, TSV or NDJSON file.
//
// A record is a line, or with `quoted` a CSV record after RFC 4180, whose quoted fields may hold
// delimiters, doubled quotes and line ends; a quote within an unquoted field is a character. Lines
// end in LF or CRLF; the last may lack it; a byte-order mark at the start is dropped; empty lines
// are no records. Blanks around a field, quoted or not, are no part of it; a field that is wholly
// quoted loses its quotes without `quoted` too.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_hash.h"
#include "seendb/status.h"

namespace seendb::tool {

/// Longest record, in bytes.
inline constexpr size_t kRecordBytesMax = 1 << 20;

/// What is kept of a record's text, where that is asked for.
inline constexpr size_t kKeptTextMost = 64 << 10;

/// How records are told apart and fields within them.
struct RecordFormat {
  char delimiter = ',';  ///< between fields
  bool quoted = true;    ///< fields may be quoted
};

/// What RecordReader::Next found.
enum class RecordKind {
  kRecord,   ///< a record
  kTooLong,  ///< a line beyond the limit, skipped
  kOpen,     ///< a quote that is never closed (within the limit, or before a line that is a
             ///< record); its first line was skipped
  kEnd,      ///< nothing more
  kFailed,   ///< the source failed: see status()
};

/// Reads records: see the head of this file. Memory: twice the limit. Threads: one.
class RecordReader {
 public:
  /// Fills a buffer: ByteSource::Read.
  using ReadFn = std::function<Result<size_t>(char*, size_t)>;

  /// Reads from `read`, which must outlive the reader.
  RecordReader(ReadFn read, RecordFormat format, size_t record_bytes_max = kRecordBytesMax);

  /// The next record, without its line end; valid, and free to be written over, until the next
  /// call.
  RecordKind Next(std::span<char>* record);
  /// Why Next said kFailed.
  const Status& status() const { return status_; }
  /// Tells whether text is a whole record by itself. A quoted field that reaches over a line that
  /// is one was never closed; but a line with a quote within an unquoted field is mostly the end of
  /// a field that began before it, and counts only where all the lines together are no record.
  /// Without it a quoted field may hold any line.
  void SetIsRecord(std::function<bool(std::string_view)> is_record) {
    is_record_ = std::move(is_record);
  }

  /// From now on the text of the last record is kept as it came.
  void KeepText() { keeps_text_ = true; }
  std::string_view text() const { return text_; }
  /// The line on which the last record began, from 1.
  uint64_t line() const { return line_; }
  /// Whether the last record had its line end: one that lacks it may grow.
  bool ended() const { return ended_; }
  /// Bytes up to the end of the last record (`_before`: up to where it was looked for), and a hash
  /// of all of them.
  uint64_t position() const { return base_ + begin_; }
  uint64_t position_before() const { return position_before_; }
  std::string hash() const { return hash_.Text(); }
  std::string hash_before() const { return hash_before_.Text(); }
  /// Passes over bytes until that position. False: there are fewer, or reading failed (status()).
  bool SkipTo(uint64_t position);

 private:
  bool Fill();
  void Consume(size_t bytes);
  bool HoldsRecord(std::string_view lines) const;
  RecordKind NextRaw(std::span<char>* record);
  RecordKind SkipLine(RecordKind kind);
  void ScanQuotes(const char* from, const char* to);

  ReadFn read_;
  RecordFormat format_;
  size_t record_bytes_max_;
  std::function<bool(std::string_view)> is_record_;
  PrefixHash hash_, hash_before_;
  uint64_t position_before_ = 0;
  uint64_t base_ = 0;  ///< of the buffer's first byte
  bool ended_ = true;
  std::string buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  bool at_start_ = true;
  // State of the record being scanned.
  bool in_quotes_ = false;
  bool may_open_ = true;  ///< a quote here opens a quoted field, or goes on with it
  bool keeps_text_ = false;
  std::string text_;
  uint64_t line_ = 1, lines_ = 0;  // line ends that were passed
  Status status_;
};

/// Splits a record into fields, unquoting in place. The fields view `record`.
/// False where a quoted field is followed by anything but blanks and the delimiter.
bool SplitFields(std::span<char> record, RecordFormat format,
                 std::vector<std::string_view>* fields);

}  // namespace seendb::tool
