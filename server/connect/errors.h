// connect/errors.h: failures as the Connect protocol has them:
// {"code":"invalid_argument","message":"...","details":[{"type","value","debug"}]}.

#pragma once

#include <string_view>

#include "http/message.h"

namespace seendb::connect {

/// Connect's name for what went wrong.
/// `status` and `code` are those of SeenDB's own error (http::Error).
std::string_view CodeOf(unsigned status, std::string_view code);
/// The HTTP status that Connect gives a code; 404 and 405 of what is no method, and 415, stay.
unsigned StatusOf(std::string_view connect_code, unsigned status);

/// Turns an error answer of the server's own shape into Connect's. Its headers stay.
void ShapeError(http::Response* response);

}  // namespace seendb::connect
