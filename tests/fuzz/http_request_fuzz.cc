// Arbitrary bytes as a request: read whole and in pieces they come to the same; and of a head that
// is taken every line is one that any reader of HTTP cuts there, with at most one length.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "http/request_parser.h"

namespace {

using seendb::http::Bytes;
using seendb::http::MemoryBudget;
using seendb::http::RequestHead;
using seendb::http::RequestParser;
using Progress = RequestParser::Progress;

constexpr size_t kHeaderBytes = 512;
constexpr size_t kBodyBytes = 256;

void Check(bool holds) {
  if (!holds) std::abort();
}

/// What came of the bytes.
struct Parsed {
  Progress progress = Progress::kNeedsMore;
  RequestHead head;
  size_t head_end = 0;  // of the input; 0: no head was taken
  std::string body, rest;
  bool over_limit = false;  // a limit may be met earlier in one cut than in another
};

/// Reads `bytes` in pieces of 1..`most` bytes by turns; 0: at once.
Parsed Parse(std::string_view bytes, size_t most) {
  MemoryBudget budget(size_t{1} << 30);
  Bytes in(&budget), body(&budget);
  Parsed parsed;
  RequestParser parser(kHeaderBytes, &parsed.head);
  size_t given = 0, step = 0;
  while (given < bytes.size() && parsed.progress == Progress::kNeedsMore) {
    const size_t left = bytes.size() - given;
    const size_t length = most == 0 ? left : std::min(left, 1 + step++ % most);
    Check(in.Append(bytes.substr(given, length)));
    given += length;
    if (parsed.head_end == 0) {
      parsed.progress = parser.PutHead(&in);
      if (parsed.progress != Progress::kHead) continue;
      parsed.head_end = given - in.size();
      if (!parsed.head.chunked) break;
    }
    parsed.progress = parser.PutChunks(&in, &body, kBodyBytes);
    Check(parsed.progress != Progress::kNeedsMore || in.size() <= kHeaderBytes);
  }
  if (parsed.progress == Progress::kBroken) {
    const auto& error = parser.error();
    Check(error.status == 400 || error.status == 413 || error.status == 431);
    parsed.over_limit = error.status != 400 || error.message.find("limit") != std::string::npos;
  }
  parsed.body = body.view();
  parsed.rest = std::string(in.view()) + std::string(bytes.substr(given));
  return parsed;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(),
                    [](unsigned char x, char y) { return std::tolower(x) == y; });
}

/// The lines of a head that was taken, by the simplest of readers.
void CheckHead(std::string_view bytes, const RequestHead& head) {
  while (bytes.substr(0, 2) == "\r\n") bytes.remove_prefix(2);
  Check(bytes.size() <= kHeaderBytes && bytes.ends_with("\r\n\r\n"));
  size_t lengths = 0, encodings = 0;
  bool first = true;
  for (size_t end = bytes.find("\r\n"); end > 0; end = bytes.find("\r\n")) {
    Check(end != std::string_view::npos);
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 2);
    Check(line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
    Check(line.front() != ' ' && line.front() != '\t');
    if (!std::exchange(first, false)) {
      const std::string_view name = line.substr(0, line.find(':'));
      Check(!name.empty() && name.size() < line.size());
      Check(name.find_first_of(" \t\v\f") == std::string_view::npos);
      lengths += EqualsIgnoringCase(name, "content-length") ? 1 : 0;
      encodings += EqualsIgnoringCase(name, "transfer-encoding") ? 1 : 0;
    }
  }
  Check(bytes == "\r\n");  // nothing behind the empty line was taken
  Check(lengths + encodings <= 1);
  Check(lengths == (head.content_length ? 1 : 0) && encodings == (head.chunked ? 1 : 0));
}

bool Same(const RequestHead& a, const RequestHead& b) {
  return a.method == b.method && a.target == b.target && a.content_type == b.content_type &&
         a.content_encoding == b.content_encoding && a.expects_continue == b.expects_continue &&
         a.http11 == b.http11 && a.keep_alive == b.keep_alive && a.chunked == b.chunked &&
         a.content_length == b.content_length;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Parsed whole = Parse(bytes, 0);
  if (whole.head_end > 0) CheckHead(bytes.substr(0, whole.head_end), whole.head);
  for (const size_t most : {size_t{1}, size_t{2}, size_t{7}}) {
    const Parsed pieces = Parse(bytes, most);
    if (whole.over_limit || pieces.over_limit) continue;
    // A head may be refused before its end has come, or then.
    const bool no_head = whole.head_end == 0 && pieces.head_end == 0;
    const bool waits =
        whole.progress == Progress::kNeedsMore || pieces.progress == Progress::kNeedsMore;
    if (no_head && waits) continue;
    Check(pieces.progress == whole.progress);
    if (whole.progress == Progress::kBroken) continue;
    Check(pieces.head_end == whole.head_end && Same(pieces.head, whole.head));
    Check(pieces.body == whole.body && pieces.rest == whole.rest);
  }
  return 0;
}
