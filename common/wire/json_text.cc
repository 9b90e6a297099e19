#include "wire/json_text.h"

#include <cstddef>

namespace seendb::wire {
namespace {

/// Length of the well-formed UTF-8 sequence at text[at], or 0.
size_t SequenceLength(std::string_view text, size_t at) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || lead > 0xF4 || text.size() - at < length) return 0;
  if (length == 1) return 1;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return 0;
  }
  const unsigned second = byte(1);
  if (lead == 0xE0 && second < 0xA0) return 0;
  if (lead == 0xED && second > 0x9F) return 0;
  if (lead == 0xF0 && second < 0x90) return 0;
  if (lead == 0xF4 && second > 0x8F) return 0;
  return length;
}

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
    } else if (const size_t length = SequenceLength(text, i); length > 0) {
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
