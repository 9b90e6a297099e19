#include "router/user_of.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "api/routes.h"
#include "wire/json_read.h"
#include "wire/media_type.h"

namespace seendb::router {
namespace {

std::optional<Question> Of(const IdRef& user, bool record, const Engine& engine) {
  if (!user.Validate().ok()) return {};
  return Question{engine.ShardOf(user), record};
}

/// The user of a body that begins with it, as most do: `{"user":"u1",`. Empty: it has to be read.
std::string_view LeadingUser(std::string_view body) {
  constexpr std::string_view kBegin = R"({"user":")";
  if (!body.starts_with(kBegin)) return {};
  body.remove_prefix(kBegin.size());
  const size_t end = body.find('"');
  if (end == std::string_view::npos || end + 1 == body.size()) return {};
  const std::string_view user = body.substr(0, end);
  const bool whole = body[end + 1] == ',' || body[end + 1] == '}';
  return whole && user.find('\\') == std::string_view::npos ? user : std::string_view();
}

/// Whether the body may say that it records: an escape may hide the name.
bool MayRecord(std::string_view body) {
  constexpr std::string_view kName = "\"record\"";
  return memmem(body.data(), body.size(), kName.data(), kName.size()) != nullptr ||
         body.find('\\') != std::string_view::npos;
}

/// More than a day is asked for by nobody in earnest.
int64_t MsOf(uint64_t ms) {
  constexpr uint64_t kDayMs = 24ULL * 3'600'000;
  return static_cast<int64_t>(std::min(ms, kDayMs));
}

}  // namespace

std::optional<Question> QuestionOfLine(std::string_view line, const Engine& engine) {
  wire::JsonDocument document;
  wire::ondemand::object root;
  if (!document.Begin(line, &root).ok()) return {};
  std::optional<Question> found;
  std::optional<int64_t> deadline_ms;
  bool record = false;
  for (auto member : root) {
    wire::ondemand::field field;
    std::string_view key;
    if (std::move(member).get(field) || field.unescaped_key().get(key)) return {};
    if (key == "user") {
      IdRef user;
      std::string_view token;
      if (!wire::ReadId(field.value(), &user, &token).ok()) return {};
      found = Of(user, false, engine);
    } else if (key == "record") {
      bool asked = false;
      if (!field.value().get_bool().get(asked)) record = asked;
    } else if (key == "deadline_ms") {
      uint64_t asked = 0;
      if (wire::ReadUint(field.value(), &asked).ok()) deadline_ms = MsOf(asked);
    }
  }
  if (!found) return {};
  found->record = record;
  found->deadline_ms = deadline_ms;
  return found;
}

std::optional<Question> QuestionOf(const api::Call& call, const Engine& engine) {
  const api::Route& route = api::Routes()[static_cast<size_t>(call.plan.route)];
  if (route.spread == api::Spread::kRead) {
    return Of(IdRef(call.plan.arguments.front()), false, engine);
  }
  if (const auto user = call.Query("user")) {
    auto found = Of(IdRef(*user), call.Query("record") == "true", engine);
    uint64_t ms = 0;
    const std::string_view asked = call.Query("deadline_ms").value_or("");
    const auto [stop, error] = std::from_chars(asked.data(), asked.data() + asked.size(), ms);
    if (found && error == std::errc()) found->deadline_ms = MsOf(ms);
    return found;
  }
  const http::RequestHead& head = call.request.head;
  const std::string_view body = call.request.body;
  const bool json = wire::ParseMediaType(head.content_type) == wire::MediaType::kJson;
  // Thousands of items are read by the handler once more: not here, where nothing is to be known of
  // the request but its user. What another node passes on is answered here anyway.
  if (head.routing.position.empty()) {
    std::string_view user = head.routing.user;
    if (user.empty() && json) user = LeadingUser(body);
    const bool plain = !json || head.routing.hop || !MayRecord(body);
    if (!user.empty() && plain) return Of(IdRef(user), false, engine);
  }
  return json ? QuestionOfLine(body, engine) : std::nullopt;
}

}  // namespace seendb::router
