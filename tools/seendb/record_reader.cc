#include "record_reader.h"

#include <cstring>
#include <utility>

namespace seendb::tool {
namespace {

constexpr size_t kFirstBufferBytes = 256 << 10;

}  // namespace

RecordReader::RecordReader(ReadFn read, RecordFormat format, size_t record_bytes_max)
    : read_(std::move(read)), format_(format), record_bytes_max_(record_bytes_max) {
  buffer_.resize(kFirstBufferBytes);
}

/// Moves what is held to the front and reads more behind it. False at the end or on a failure.
bool RecordReader::Fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  auto got = read_(buffer_.data() + end_, buffer_.size() - end_);
  if (!got.ok()) status_ = got.status();
  at_end_ = !got.ok() || *got == 0;
  if (at_end_) return false;
  end_ += *got;
  return true;
}

/// Drops everything up to and with the next line end.
RecordKind RecordReader::SkipLine(RecordKind kind) {
  for (;;) {
    const void* nl = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (nl != nullptr) {
      begin_ = static_cast<size_t>(static_cast<const char*>(nl) - buffer_.data()) + 1;
      return kind;
    }
    begin_ = end_;
    if (!Fill()) return status_.ok() ? kind : RecordKind::kFailed;
  }
}

/// Follows the quotes of one more piece of the record.
void RecordReader::ScanQuotes(const char* from, const char* to) {
  const auto size = static_cast<size_t>(to - from);
  if (!in_quotes_ && std::memchr(from, '"', size) == nullptr) {
    if (size != 0) may_open_ = to[-1] == format_.delimiter;
    return;
  }
  for (; from != to; ++from) {
    if (in_quotes_) {
      // A doubled quote closes and opens again.
      if (*from == '"') in_quotes_ = false;
      may_open_ = true;
    } else if (*from == '"' && may_open_) {
      in_quotes_ = true;
    } else {
      may_open_ = *from == format_.delimiter;
    }
  }
}

RecordKind RecordReader::NextRaw(std::span<char>* record) {
  size_t scanned = 0;  // from begin_ on
  in_quotes_ = false;
  may_open_ = true;
  for (;;) {
    char* const base = buffer_.data() + begin_;
    const size_t held = end_ - begin_;
    const auto* nl = static_cast<char*>(std::memchr(base + scanned, '\n', held - scanned));
    const size_t stop = nl != nullptr ? static_cast<size_t>(nl - base) : held;
    if (format_.quoted) ScanQuotes(base + scanned, base + stop);
    scanned = stop;
    if (stop > record_bytes_max_) {
      return SkipLine(in_quotes_ ? RecordKind::kOpen : RecordKind::kTooLong);
    }
    if (nl != nullptr) {
      scanned = stop + 1;
      if (in_quotes_) continue;
      *record = {base, stop};
      begin_ += stop + 1;
      return RecordKind::kRecord;
    }
    if (Fill()) continue;
    if (!status_.ok()) return RecordKind::kFailed;
    if (begin_ == end_) return RecordKind::kEnd;
    if (in_quotes_) return SkipLine(RecordKind::kOpen);
    *record = {buffer_.data() + begin_, end_ - begin_};
    begin_ = end_;
    return RecordKind::kRecord;
  }
}

RecordKind RecordReader::Next(std::span<char>* record) {
  for (;;) {
    if (std::exchange(at_start_, false)) {
      while (end_ - begin_ < 3 && Fill()) {
      }
      if (end_ - begin_ >= 3 && std::memcmp(buffer_.data() + begin_, "\xEF\xBB\xBF", 3) == 0) {
        begin_ += 3;
      }
    }
    const RecordKind kind = NextRaw(record);
    if (kind != RecordKind::kRecord) return kind;
    if (!record->empty() && record->back() == '\r') *record = record->first(record->size() - 1);
    if (!record->empty()) return kind;
  }
}

namespace {

/// Unquotes the field that begins at `*at` with a quote; leaves `*at` behind its closing quote.
std::string_view Unquote(std::span<char> record, size_t* at) {
  size_t from = *at + 1;
  const size_t begin = from;
  size_t to = from;
  for (; from < record.size(); ++from) {
    if (record[from] == '"') {
      if (from + 1 == record.size() || record[from + 1] != '"') break;
      ++from;
    }
    record[to++] = record[from];
  }
  *at = from + 1;
  return {record.data() + begin, to - begin};
}

}  // namespace

bool SplitFields(std::span<char> record, RecordFormat format,
                 std::vector<std::string_view>* fields) {
  fields->clear();
  size_t at = 0;
  for (;;) {
    if (format.quoted && at < record.size() && record[at] == '"') {
      fields->push_back(Unquote(record, &at));
      if (at >= record.size()) return true;
      if (record[at] != format.delimiter) return false;
    } else {
      const std::string_view rest(record.data() + at, record.size() - at);
      const size_t end = rest.find(format.delimiter);
      fields->push_back(rest.substr(0, end));
      if (end == std::string_view::npos) return true;
      at += end;
    }
    ++at;
  }
}

}  // namespace seendb::tool
