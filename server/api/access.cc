#include "api/access.h"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/time_text.h"

namespace seendb::api {
namespace {

/// Of a node without tokens, where everybody may do everything.
constexpr std::string_view kAnybody = "anybody";

/// What a connection has shown. A newer file makes it void.
struct Shown {
  std::shared_ptr<const files::TokenSet> tokens;
  const files::Token* token;
};

/// Who the connection is known to be from before.
const files::Token* KnownOn(const http::Connection& connection,
                            const std::shared_ptr<const files::TokenSet>& tokens) {
  const auto shown = std::static_pointer_cast<const Shown>(connection.known);
  if (shown != nullptr && shown->tokens == tokens) return shown->token;
  if (connection.certificate_name.empty()) return nullptr;
  return tokens->FindName(connection.certificate_name);
}

http::Error Forbidden(std::string message) { return {403, "forbidden", std::move(message)}; }

std::string Named(const files::Token& token) { return "the token \"" + token.name + "\" "; }

Status Refused(const files::Token& caller, std::string_view what, std::string_view field) {
  return {StatusCode::kForbidden, Named(caller).append(what), std::string(field)};
}

}  // namespace

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return {};
  for (size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) return {};
  }
  authorization.remove_prefix(kScheme.size());
  const size_t begin = authorization.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : authorization.substr(begin);
}

void AccessCheck::Set(std::shared_ptr<const files::TokenSet> tokens, bool once) {
  once_.store(once, std::memory_order_relaxed);
  tokens_.Set(std::move(tokens));
}

std::optional<http::Error> AccessCheck::Check(const Needs& needs, const http::RequestHead& head,
                                              http::Plan* plan) const {
  std::shared_ptr<const files::TokenSet> tokens = tokens_.Current();
  if (!tokens) return {};
  const bool remembers = once_.load(std::memory_order_relaxed) && head.connection != nullptr;
  const files::Token* token = nullptr;
  if (!head.authorization.empty()) {
    token = tokens->Find(BearerToken(head.authorization));
    if (remembers && token != nullptr && KnownOn(*head.connection, tokens) != token) {
      head.connection->known = std::make_shared<const Shown>(Shown{tokens, token});
    }
  } else if (remembers) {
    token = KnownOn(*head.connection, tokens);
  }
  if (token == nullptr) {
    return http::Error{401, "unauthorized",
                       head.authorization.empty()
                           ? "a token is asked for: send Authorization: Bearer TOKEN"
                           : "the token is not known (Authorization: Bearer TOKEN)"};
  }
  plan->caller = std::shared_ptr<const files::Token>(std::move(tokens), token);
  if (auto expired = CheckExpiry(*token)) return expired;
  return Judge(needs, *token);
}

std::optional<http::Error> AccessCheck::Judge(const Needs& needs, const files::Token& caller) {
  if (!files::Includes(caller.role, needs.role)) {
    return Forbidden(Named(caller) + "has the role " + std::string(files::RoleName(caller.role)) +
                     "; this asks for " + std::string(files::RoleName(needs.role)));
  }
  if (needs.whole_database && !caller.collections.empty()) {
    return Forbidden(Named(caller) + "reaches some collections only; this is about all of them");
  }
  return {};
}

std::optional<http::Error> AccessCheck::CheckExpiry(const files::Token& token) const {
  if (token.expires_ms == 0 || !token.Expired(clock_.NowMs())) return {};
  return http::Error{401, "unauthorized",
                     Named(token) + "expired at " + TimeText(token.expires_ms)};
}

std::optional<http::Error> AccessCheck::Recheck(const files::Token& caller, bool by_name) const {
  const std::shared_ptr<const files::TokenSet> tokens = tokens_.Current();
  if (!tokens) return {};
  if (tokens->Has(caller)) return CheckExpiry(caller);
  const files::Token* const now =
      by_name ? tokens->FindName(caller.name) : tokens->FindDigest(caller.digest);
  if (now == nullptr) {
    return http::Error{401, "unauthorized",
                       Named(caller) + "was taken out of tokens_file meanwhile"};
  }
  if (auto expired = CheckExpiry(*now)) return expired;
  if (now->HasRightsOf(caller)) return {};
  return Forbidden(Named(caller) + "has lost some of its role or collections meanwhile");
}

Caller CallerOf(const http::Plan& plan) {
  return std::static_pointer_cast<const files::Token>(plan.caller);
}

std::string CallerToHeader(const files::Token* caller) {
  if (caller == nullptr) return std::string(kAnybody);
  const nlohmann::json json = {{"name", caller->name},
                               {"role", files::RoleName(caller->role)},
                               {"collections", caller->collections}};
  return json.dump(-1, ' ', /*ensure_ascii=*/true);
}

Caller CallerFromHeader(std::string_view header) {
  if (header == kAnybody) return nullptr;
  auto token = std::make_shared<files::Token>();  // without a word that counts it may read nothing
  token->collections = {""};
  const nlohmann::json json = ParseOutside(header);
  if (!json.is_object()) return token;
  try {
    token->name = json.at("name").get<std::string>();
    for (const files::Role role :
         {files::Role::kWrite, files::Role::kAdmin, files::Role::kFilters}) {
      if (json.at("role") == files::RoleName(role)) token->role = role;
    }
    token->collections = json.at("collections").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    token->collections = {""};
  }
  return token;
}

Status MayUse(const files::Token* caller, std::string_view collection, std::string_view field) {
  if (caller == nullptr || caller->Reaches(collection)) return Status::Ok();
  return Refused(*caller, "does not reach this collection", field);
}

Status MayUseAll(const files::Token* caller, std::string_view field) {
  if (caller == nullptr || caller->collections.empty()) return Status::Ok();
  return Refused(*caller, "reaches some collections only; name one of them", field);
}

Status MayWrite(const files::Token* caller, std::string_view field) {
  if (caller == nullptr || files::Includes(caller->role, files::Role::kWrite)) return Status::Ok();
  return Refused(*caller, "has the role read; this asks for write", field);
}

}  // namespace seendb::api
