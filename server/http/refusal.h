// server/http/refusal.h: what a request is answered that is refused for the load.

#pragma once

#include "admission/ticket.h"
#include "http/message.h"

namespace seendb::http {

/// Makes `*response`, which is clear, the answer to a refusal: 429 to a tenant beyond a limit of
/// its own, otherwise 503; with Retry-After in seconds and SeenDB-Retry-After-Ms.
void WriteRefusal(const admission::Verdict& verdict, Response* response);

}  // namespace seendb::http
