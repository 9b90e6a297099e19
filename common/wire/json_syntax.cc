#include "wire/json_syntax.h"

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace seendb::wire {
namespace {

/// Bytes that are quoted of what stands at an error.
constexpr size_t kQuoted = 16;
/// nlohmann's number of a number that is out of range: that is JSON, only too large for us.
constexpr int kOutOfRange = 406;

/// Finds the first error of a document; builds nothing.
class SyntaxReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool failed = false;
  bool complete = false;    ///< a whole value was read
  size_t position = 0;      ///< of the error: behind the token that was read last
  size_t string_bytes = 0;  ///< of that token, if it is a string

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(number_integer_t) override { return Value(); }
  bool number_unsigned(number_unsigned_t) override { return Value(); }
  bool number_float(number_float_t, const string_t&) override { return Value(); }
  bool string(string_t&) override { return Value(); }
  bool binary(binary_t&) override { return Value(); }
  bool start_object(size_t) override { return Open(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t at, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    failed = error.id != kOutOfRange;
    position = at;
    string_bytes = token.starts_with('"') && token.ends_with('"') ? token.size() : 0;
    return false;
  }

 private:
  bool Open() {
    ++depth_;
    return true;
  }
  bool Close() {
    --depth_;
    return Value();
  }
  bool Value() {
    complete = depth_ == 0;
    return true;
  }

  size_t depth_ = 0;
};

bool IsOfWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Where the token begins that ends before `behind`: a string, a word or number, or one character.
size_t TokenBegin(std::string_view text, size_t behind, size_t string_bytes) {
  if (behind == 0) return 0;
  size_t at = behind - 1;
  if (text[at] == '"' && string_bytes > 0) return behind - std::min(string_bytes, behind);
  while (at > 0 && IsOfWord(text[at]) && IsOfWord(text[at - 1])) --at;
  return at;
}

/// Whether a value begins at `at`, on another line than that of the first value.
bool BeginsALine(std::string_view text, size_t at) {
  if (at >= text.size() || (text[at] != '{' && text[at] != '[')) return false;
  const std::string_view before = text.substr(0, at);
  const size_t end = before.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && before.find('\n', end) != std::string_view::npos;
}

}  // namespace

Status ExplainSyntax(Status status, std::string_view text, bool takes_ndjson) {
  if (status.code() != StatusCode::kInvalidArgument) return status;
  const std::string_view head = text.substr(0, kMaxSyntaxBytes);
  SyntaxReader reader;
  nlohmann::json::sax_parse(head.begin(), head.end(), &reader);
  const bool cut = head.size() < text.size() && reader.position >= head.size();
  if (!reader.failed || cut) return status;
  const size_t behind = std::min(reader.position, head.size());
  const bool ended = reader.position > head.size();
  const size_t at = ended ? head.size() : TokenBegin(head, behind, reader.string_bytes);
  std::string message = "JSON syntax error at byte " + std::to_string(at) + ": ";
  if (ended) {
    message += head.empty() ? "the body is empty" : "the document ends too early";
  } else if (reader.complete && BeginsALine(text, at)) {
    message += "a second value";
    if (takes_ndjson) message += "; one value per line needs Content-Type: application/x-ndjson";
  } else {
    message += reader.complete ? "something follows the document, " : "unexpected ";
    message.append("`").append(Utf8Prefix(text.substr(at), kQuoted)).append("`");
  }
  return Status::InvalidArgument(std::move(message), std::string(status.field()));
}

}  // namespace seendb::wire
