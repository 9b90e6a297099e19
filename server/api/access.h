// server/api/access.h: who asks, and whether it may.
//
// A request shows a bearer token (RFC 6750: "Authorization: Bearer TOKEN"); the file of tokens says
// what its bearer may do. Where no file is named everything may be done by everybody.
//
// With `once`, a connection is asked only until it has shown a token: what comes on it later
// without one counts as its bearer's. A client whose certificate was verified counts as the bearer
// of the entry that has the name of the certificate (its common name).

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "files/tokens.h"
#include "http/error.h"
#include "http/service.h"
#include "seendb/status.h"

namespace seendb::api {

/// See the head of this file. Threads: any.
class AccessCheck {
 public:
  /// `clock`, borrowed, says when a token has expired.
  explicit AccessCheck(const Clock* clock = SystemClock()) : clock_(*clock) {}

  /// What a route asks of its callers.
  struct Needs {
    files::Role role = files::Role::kRead;
    bool whole_database = false;  ///< no caller that reaches some collections only
  };

  /// From now on these are the tokens; null: everybody may do everything. `once`: see above.
  void Set(std::shared_ptr<const files::TokenSet> tokens, bool once);
  /// The tokens of now; null: everybody may do everything.
  std::shared_ptr<const files::TokenSet> Current() const { return tokens_.Current(); }
  /// The refusal (401 unauthorized, 403 forbidden), or nothing. Notes in `plan` who asks.
  std::optional<http::Error> Check(const Needs& needs, const http::RequestHead& head,
                                   http::Plan* plan) const;
  /// The refusal of a caller whose rights don't reach.
  static std::optional<http::Error> Judge(const Needs& needs, const files::Token& caller);
  /// The refusal of a caller that Check has noted, unless it still may do all that it might then.
  /// `by_name`: its certificate was taken for a token. Cost: without a newer file, a lock, and a
  /// look at the clock where the token expires.
  std::optional<http::Error> Recheck(const files::Token& caller, bool by_name) const;

 private:
  /// The refusal of a token that has expired.
  std::optional<http::Error> CheckExpiry(const files::Token& token) const;

  const Clock& clock_;
  files::TokenStore tokens_;
  std::atomic<bool> once_{false};
};

/// The token of the header "Bearer TOKEN"; empty: there is none.
std::string_view BearerToken(std::string_view authorization);

/// Who asks; null: everybody may do everything.
using Caller = std::shared_ptr<const files::Token>;
Caller CallerOf(const http::Plan& plan);

/// The caller as a node that passes the request on tells of it, and back.
std::string CallerToHeader(const files::Token* caller);
/// What is none, or lacks a word that counts, may read nothing.
Caller CallerFromHeader(std::string_view header);

/// kForbidden of `field` unless the caller reaches the collection.
Status MayUse(const files::Token* caller, std::string_view collection,
              std::string_view field = "/collection");
/// kForbidden of `field` unless it reaches all: the request names none.
Status MayUseAll(const files::Token* caller, std::string_view field = "/collection");
/// kForbidden of `field` unless it may write.
Status MayWrite(const files::Token* caller, std::string_view field);

}  // namespace seendb::api
