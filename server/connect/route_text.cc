#include "connect/route_text.h"

#include "seendb/id.h"

namespace seendb::connect {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

}  // namespace

void AppendEscaped(std::string_view text, std::string* out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    if (IsPlain(c)) {
      out->push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out->push_back('%');
    out->push_back(kDigits[byte >> 4]);
    out->push_back(kDigits[byte & 15]);
  }
}

void AppendQuery(std::string_view name, std::string_view text, std::string* target) {
  target->push_back(target->find('?') == std::string::npos ? '?' : '&');
  target->append(name).push_back('=');
  AppendEscaped(text, target);
}

void AppendName(std::string_view name, std::string* out) {
  if (!out->empty() && out->back() != '{') out->push_back(',');
  out->append("\"").append(name).append("\":");
}

void AppendMember(std::string_view name, std::string_view text, std::string* out) {
  AppendName(name, out);
  wire::AppendJsonString(text, out);
}

void AppendMember(std::string_view name, int64_t number, std::string* out) {
  AppendName(name, out);
  out->append(std::to_string(number));
}

Status CheckIds(const google::protobuf::RepeatedPtrField<std::string>& texts,
                const google::protobuf::RepeatedField<uint64_t>& numbers, std::string_view name) {
  const std::string field = "/" + std::string(name);
  if (!texts.empty() && !numbers.empty()) {
    return Status::InvalidArgument("texts or numbers, not both: their order would be unknown",
                                   field);
  }
  for (int i = 0; i < texts.size(); ++i) {
    const Status status = IdRef(texts[i]).Validate();
    if (!status.ok()) {
      return Status::InvalidArgument(std::string(status.message()),
                                     field + "/" + std::to_string(i));
    }
  }
  return {};
}

}  // namespace seendb::connect
