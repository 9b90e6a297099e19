// server/http/error.h: the one shape of every error answer,
// `{"error":{"code":"...","message":"...","field":"..."}}`.

#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace seendb::http {

/// What went wrong with a request.
struct Error {
  unsigned status = 400;
  std::string_view code = "invalid_argument";  ///< stable name; a literal
  std::string message;                         ///< for people
  std::string field = {};                      ///< JSON pointer to the input at fault, or empty
  int retry_after_s = 0;                       ///< of a 429
  std::string challenge = {};  ///< the WWW-Authenticate header of a 401; empty: "Bearer"
};

/// Makes `*response` the answer for `error`; 503 asks for a pause of a second, 429 for that of the
/// error, 401 for what `challenge` says.
void WriteError(const Error& error, Response* response);

}  // namespace seendb::http
