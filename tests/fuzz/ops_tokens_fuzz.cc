// Arbitrary bytes as the file of tokens: refused with a reason and a pointer, or read to entries
// that are those of a plain reading.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "files/tokens.h"
#include "fuzz/input.h"

namespace {

using Json = nlohmann::json;
using seendb::files::Priority;
using seendb::files::Token;
using seendb::fuzz::Check;

void CheckEntry(const Json& entry, const Token& token) {
  Check(entry.at("name") == token.name && !token.name.empty());
  Check(entry.at("role") == seendb::files::RoleName(token.role));
  const Json collections = entry.value("collections", Json::array());
  Check(collections == Json(token.collections));
  Check(entry.contains("collections") == !token.collections.empty());
  Check(entry.value("requests_per_s", 0.0) == token.limits.requests_per_s);
  Check(entry.value("decoded_bytes_per_s", 0.0) == token.limits.decoded_bytes_per_s);
  Check(entry.value("work_ms_per_s", 0.0) == token.limits.work_ms_per_s);
  Check(entry.value("share", 1.0) == token.share && token.share > 0);
  const Json expires = entry.value("expires", Json(0));
  Check(expires.is_string()
            ? seendb::files::ParseMoment(expires.get<std::string>()) == token.expires_ms
            : expires == token.expires_ms);
  const std::string priority = entry.value("priority", "normal");
  Check((priority == "high") == (token.priority == Priority::kHigh));
  Check((priority == "low") == (token.priority == Priority::kLow));
  for (const Json& name : collections) Check(token.Reaches(name.get<std::string>()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = seendb::files::ReadTokens(text);
  if (!read.ok()) {
    const seendb::Status& status = read.status();
    Check(!status.message().empty() && status.code() == seendb::StatusCode::kInvalidArgument);
    Check(status.field().empty() || status.field().front() == '/');
    return 0;
  }
  const Json document = Json::parse(text, nullptr, false);
  const seendb::files::TokenSet& set = **read;
  Check(document.is_array() && document.size() == set.tokens.size());
  Check(set.digests.size() == set.tokens.size());
  for (size_t i = 0; i < set.tokens.size(); ++i) {
    CheckEntry(document[i], set.tokens[i]);
    Check(set.FindName(set.tokens[i].name) == &set.tokens[i]);
  }
  Check(set.Find(text) == nullptr || !set.tokens.empty());
  return 0;
}
