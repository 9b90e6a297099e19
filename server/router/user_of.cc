#include "router/user_of.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/json_read.h"
#include "api/media_type.h"
#include "api/routes.h"

namespace seendb::router {
namespace {

std::optional<Question> Of(const IdRef& user, bool record, const Engine& engine) {
  if (!user.Validate().ok()) return {};
  return Question{engine.ShardOf(user), record};
}

/// More than a day is asked for by nobody in earnest.
int64_t MsOf(uint64_t ms) {
  constexpr uint64_t kDayMs = 24ULL * 3'600'000;
  return static_cast<int64_t>(std::min(ms, kDayMs));
}

}  // namespace

std::optional<Question> QuestionOfLine(std::string_view line, const Engine& engine) {
  api::JsonDocument document;
  api::ondemand::object root;
  if (!document.Begin(line, &root).ok()) return {};
  std::optional<Question> found;
  std::optional<int64_t> deadline_ms;
  bool record = false;
  for (auto member : root) {
    api::ondemand::field field;
    std::string_view key;
    if (std::move(member).get(field) || field.unescaped_key().get(key)) return {};
    if (key == "user") {
      IdRef user;
      std::string_view token;
      if (!api::ReadId(field.value(), &user, &token).ok()) return {};
      found = Of(user, false, engine);
    } else if (key == "record") {
      bool asked = false;
      if (!field.value().get_bool().get(asked)) record = asked;
    } else if (key == "deadline_ms") {
      uint64_t asked = 0;
      if (api::ReadUint(field.value(), &asked).ok()) deadline_ms = MsOf(asked);
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
    auto found = Of(IdRef(*user), false, engine);
    uint64_t ms = 0;
    const std::string_view asked = call.Query("deadline_ms").value_or("");
    const auto [stop, error] = std::from_chars(asked.data(), asked.data() + asked.size(), ms);
    if (found && error == std::errc()) found->deadline_ms = MsOf(ms);
    return found;
  }
  // A body that does not record, and waits for nothing, needs no reading where a header names the
  // user.
  const std::string_view named = call.request.head.routing.user;
  const std::string_view body = call.request.body;
  const bool json = api::ParseMediaType(call.request.head.content_type) == api::MediaType::kJson;
  const bool waits = !call.request.head.routing.position.empty();
  if (!named.empty() && !waits && (!json || body.find("\"record\"") == std::string_view::npos)) {
    return Of(IdRef(named), false, engine);
  }
  return json ? QuestionOfLine(body, engine) : std::nullopt;
}

}  // namespace seendb::router
