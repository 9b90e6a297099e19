#include "log_head.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace seendb::tool {
namespace {

constexpr size_t kHeadBytes = 4'096;

struct Magic {
  std::string_view bytes;
  const char* what;
};
constexpr std::array<Magic, 9> kMagics = {{
    {"PK\x03\x04", "a zip archive: unpack it first"},
    {"PAR1", "a Parquet file: write it as csv or ndjson first"},
    {"SQLite format 3", "an SQLite database: export a table of it as csv"},
    {"Obj\x01", "an Avro file: write it as csv or ndjson first"},
    {"ORC", "an ORC file: write it as csv or ndjson first"},
    {"BZh", "compressed by bzip2: unpack it first"},
    {"\xFD"
     "7zXZ",
     "compressed by xz: unpack it first"},
    {"7z\xBC\xAF", "a 7z archive: unpack it first"},
    {"\xD0\xCF\x11\xE0", "an Office document: save it as csv in UTF-8"},
}};
constexpr char kUtf16[] =
    "in UTF-16: save it as UTF-8, or pipe it through iconv -f UTF-16 -t UTF-8";

/// What the bytes are, where they are no text in UTF-8 or its like; null: they are.
const char* WhatElse(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return kUtf16;
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) return magic.what;
  }
  const auto zeros = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  // Text in UTF-16 without a mark: of plain letters each other byte is zero. A few make bad rows.
  if (zeros * 3 > head.size()) return kUtf16;
  return zeros * 10 > head.size() ? "no text: many of its bytes are zero" : nullptr;
}

/// Where the first line ends that is not blank; npos: not yet.
size_t LineEnd(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  const size_t end = first == bytes.npos ? first : bytes.find('\n', first);
  return end == bytes.npos ? end : end + 1;
}

/// Whether a first line is not all of its object: no object of NDJSON ends in an opening bracket.
bool OpensAnObject(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r\n");
  const size_t last = line.find_last_not_of(" \t\r\n");
  if (first == line.npos || line[first] != '{' || !line.ends_with('\n')) return false;
  return line[last] == '{' || line[last] == '[';
}

/// Gives `head`, then what `read` gives.
RecordReader::ReadFn Behind(std::string head, RecordReader::ReadFn read) {
  return [head = std::move(head), read = std::move(read)](char* to,
                                                          size_t size) mutable -> Result<size_t> {
    if (head.empty()) return read(to, size);
    const size_t n = std::min(size, head.size());
    std::memcpy(to, head.data(), n);
    head.erase(0, n);
    return n;
  };
}

/// Turns the bytes of a JSON array into as many bytes with a line for each member.
class ArrayLines {
 public:
  /// Whether what came so far ends within an array.
  bool within() const { return depth_ != 0; }
  void Turn(char* bytes, size_t size) {
    for (char* at = bytes; at != bytes + size; ++at) *at = Turned(*at);
  }

 private:
  char Turned(char c) {
    if (in_text_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
      }
      return c;
    }
    switch (c) {
      case '"':
        in_text_ = true;
        return c;
      case '[':
      case '{':
        return depth_++ == 0 ? ' ' : c;
      case ']':
      case '}':
        return depth_ != 0 && --depth_ == 0 ? '\n' : c;
      case ',':
        return depth_ == 1 ? '\n' : c;
      case '\n':
      case '\r':
        return depth_ == 0 ? c : ' ';
      default:
        return c;
    }
  }

  size_t depth_ = 0;
  bool in_text_ = false, escaped_ = false;
};

}  // namespace

Result<RecordReader::ReadFn> TextOf(RecordReader::ReadFn read, LogFormat format) {
  std::string head(kHeadBytes, '\0');
  size_t have = 0;
  // The first line alone is judged: a pipe may give no more for a long time.
  while (have < head.size() && LineEnd({head.data(), have}) == std::string_view::npos) {
    const Result<size_t> got = read(head.data() + have, head.size() - have);
    if (!got.ok()) return got.status();
    if (*got == 0) break;
    have += *got;
  }
  head.resize(have);
  std::string_view text = head;
  text = text.substr(0, LineEnd(text));
  if (const char* const what = WhatElse(text)) {
    return Status::InvalidArgument(std::string("the log is ") + what);
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (format == LogFormat::kNdjson && OpensAnObject(text)) {
    return Status::InvalidArgument(
        "the log is JSON whose objects go over several lines: jq -c . makes a line of each, and jq "
        "-c '.NAME[]' of each member of the list NAME in it");
  }
  const bool is_array =
      format == LogFormat::kNdjson && first != std::string_view::npos && text[first] == '[';
  RecordReader::ReadFn whole = Behind(std::move(head), std::move(read));
  if (!is_array) return whole;
  const auto lines = std::make_shared<ArrayLines>();
  return RecordReader::ReadFn([whole = std::move(whole), lines](
                                  char* to, size_t size) mutable -> Result<size_t> {
    Result<size_t> got = whole(to, size);
    if (got.ok()) lines->Turn(to, *got);
    if (got.ok() && *got == 0 && lines->within()) {
      return Status::InvalidArgument("the log is a JSON array that ends before its ]: cut short?");
    }
    return got;
  });
}

}  // namespace seendb::tool
