#include "wire/json_text.h"

#include <cstddef>

#include "base/utf8.h"

namespace seendb::wire {
namespace {

void AppendEscape(unsigned char c, std::string* out) {
  switch (c) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      break;
  }
  constexpr char kHex[] = "0123456789abcdef";
  out->append("\\u00");
  out->push_back(kHex[c >> 4]);
  out->push_back(kHex[c & 15]);
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == '"' || c == '\\') {
      AppendEscape(c, out);
      ++i;
    } else if (c < 0x80) {
      out->push_back(text[i++]);
    } else if (const size_t length = Utf8SequenceLength(text.substr(i)); length > 0) {
      out->append(text.substr(i, length));
      i += length;
    } else {
      out->append("\xEF\xBF\xBD");
      ++i;
    }
  }
  out->push_back('"');
}

void AppendErrorObject(std::string_view code, std::string_view message, std::string_view field,
                       std::string* out) {
  out->append("{\"code\":");
  AppendJsonString(code, out);
  out->append(",\"message\":");
  AppendJsonString(message, out);
  out->append(",\"field\":");
  AppendJsonString(field, out);
  out->push_back('}');
}

}  // namespace seendb::wire
