#include "record_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace seendb::tool {
namespace {

constexpr size_t kFirstBufferBytes = 256 << 10;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

/// Whether a quote stands within a field that is not quoted.
bool HoldsStrayQuote(std::string_view line, char delimiter) {
  bool may_open = true, in_quotes = false;
  for (const char c : line) {
    if (in_quotes) {
      in_quotes = c != '"';
      may_open = true;  // a doubled quote closes and opens again
    } else if (c == '"') {
      if (!may_open) return true;
      in_quotes = true;
    } else {
      may_open = c == delimiter || (may_open && IsBlank(c));
    }
  }
  return false;
}

}  // namespace

RecordReader::RecordReader(ReadFn read, RecordFormat format, size_t record_bytes_max)
    : read_(std::move(read)), format_(format), record_bytes_max_(record_bytes_max) {
  buffer_.resize(kFirstBufferBytes);
}

/// Moves what is held to the front and reads more behind it. False at the end or on a failure.
bool RecordReader::Fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  base_ += begin_;
  end_ -= std::exchange(begin_, 0);
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  auto got = read_(buffer_.data() + end_, buffer_.size() - end_);
  if (!got.ok()) status_ = got.status();
  at_end_ = !got.ok() || *got == 0;
  if (at_end_) return false;
  end_ += *got;
  return true;
}

/// Goes on behind so many bytes.
void RecordReader::Consume(size_t bytes) {
  const std::string_view passed(buffer_.data() + begin_, bytes);
  hash_.Add(passed.data(), passed.size());
  begin_ += bytes;
  lines_ += static_cast<uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
  if (!keeps_text_) return;
  text_.append(passed.substr(0, kKeptTextMost - std::min(kKeptTextMost, text_.size())));
}

bool RecordReader::SkipTo(uint64_t position) {
  at_start_ = false;
  while (this->position() < position) {
    if (begin_ == end_ && !Fill()) return false;
    Consume(std::min<uint64_t>(end_ - begin_, position - this->position()));
  }
  return this->position() == position;
}

/// Whether any line but the first is a record by itself: see SetIsRecord.
bool RecordReader::HoldsRecord(std::string_view lines) const {
  size_t at = lines.find('\n');
  std::optional<bool> whole;  // is a record
  while (is_record_ && at != std::string_view::npos) {
    const size_t next = lines.find('\n', ++at);
    std::string_view line = lines.substr(at, next == std::string_view::npos ? next : next - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_record_(line)) {
      if (!HoldsStrayQuote(line, format_.delimiter)) return true;
      if (!whole)
        whole = is_record_(lines.substr(0, lines.size() - (lines.ends_with('\r') ? 1 : 0)));
      if (!*whole) return true;
    }
    at = next;
  }
  return false;
}

/// Drops everything up to and with the next line end.
RecordKind RecordReader::SkipLine(RecordKind kind) {
  for (;;) {
    const void* nl = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (nl != nullptr) {
      Consume(static_cast<size_t>(static_cast<const char*>(nl) - buffer_.data()) + 1 - begin_);
      return kind;
    }
    Consume(end_ - begin_);
    if (Fill()) continue;
    ended_ = false;
    return status_.ok() ? kind : RecordKind::kFailed;
  }
}

/// Follows the quotes of one more piece of the record.
void RecordReader::ScanQuotes(const char* from, const char* to) {
  const auto size = static_cast<size_t>(to - from);
  if (!in_quotes_ && std::memchr(from, '"', size) == nullptr) {
    for (; to != from; --to) {
      if (to[-1] != format_.delimiter && IsBlank(to[-1])) continue;
      may_open_ = to[-1] == format_.delimiter;
      return;
    }
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
      may_open_ = *from == format_.delimiter || (may_open_ && IsBlank(*from));
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
      if (HoldsRecord({base, stop})) return SkipLine(RecordKind::kOpen);
      *record = {base, stop};
      Consume(stop + 1);
      return RecordKind::kRecord;
    }
    if (Fill()) continue;
    if (!status_.ok()) return RecordKind::kFailed;
    if (begin_ == end_) return RecordKind::kEnd;
    *record = {buffer_.data() + begin_, end_ - begin_};
    if (in_quotes_ || HoldsRecord({record->data(), record->size()})) {
      return SkipLine(RecordKind::kOpen);
    }
    Consume(record->size());
    ended_ = false;
    return RecordKind::kRecord;
  }
}

RecordKind RecordReader::Next(std::span<char>* record) {
  ended_ = true;
  position_before_ = position();
  hash_before_.CopyFrom(hash_);
  for (;;) {
    if (std::exchange(at_start_, false)) {
      while (end_ - begin_ < 3 && Fill()) {
      }
      if (end_ - begin_ >= 3 && std::memcmp(buffer_.data() + begin_, "\xEF\xBB\xBF", 3) == 0) {
        Consume(3);
      }
    }
    text_.clear();
    line_ = lines_ + 1;
    const RecordKind kind = NextRaw(record);
    while (text_.ends_with('\n') || text_.ends_with('\r')) text_.pop_back();
    if (kind != RecordKind::kRecord) return kind;
    if (!record->empty() && record->back() == '\r') *record = record->first(record->size() - 1);
    if (!record->empty()) return kind;
  }
}

namespace {

/// An unquoted field without the blanks around it; without its quotes, where it is in quotes for
/// all that (behind a blank, or in a file whose fields are not quoted).
std::string_view Plain(std::span<char> field) {
  while (!field.empty() && IsBlank(field.front())) field = field.subspan(1);
  while (!field.empty() && IsBlank(field.back())) field = field.first(field.size() - 1);
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') {
    return {field.data(), field.size()};
  }
  field = field.subspan(1, field.size() - 2);
  size_t to = 0;
  for (size_t from = 0; from < field.size(); ++from) {
    if (field[from] == '"' && from + 1 < field.size() && field[from + 1] == '"') ++from;
    field[to++] = field[from];
  }
  return {field.data(), to};
}

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
  const auto skip_blanks = [&](size_t from) {
    while (from < record.size() && record[from] != format.delimiter && IsBlank(record[from])) {
      ++from;
    }
    return from;
  };
  for (;;) {
    const size_t opens = format.quoted ? skip_blanks(at) : record.size();
    if (opens < record.size() && record[opens] == '"') {
      at = opens;
      fields->push_back(Unquote(record, &at));
      at = skip_blanks(at);
      if (at >= record.size()) return true;
      if (record[at] != format.delimiter) return false;
    } else {
      const std::string_view rest(record.data() + at, record.size() - at);
      const size_t end = rest.find(format.delimiter);
      fields->push_back(Plain(record.subspan(at, std::min(end, rest.size()))));
      if (end == std::string_view::npos) return true;
      at += end;
    }
    ++at;
  }
}

}  // namespace seendb::tool
