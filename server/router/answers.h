// server/router/answers.h: answers of other nodes as this node's, and what is added to answers.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"
#include "peers/peer_client.h"

namespace seendb::router {

/// A replica that lags by more says so.
inline constexpr int64_t kTellBehindMs = 1'000;

/// Another node's answer as this node's.
http::Response ToResponse(peers::PeerAnswer answer);
/// Adds a member to a JSON object; nothing where it is none. `value`: JSON.
void AddMember(std::string_view name, std::string_view value, std::string* object);
/// Says how old the newest applied record is: "behind_ms", or SeenDB-Behind-Ms beside what is no
/// JSON object.
void TellBehind(int64_t behind_ms, http::Response* response);
/// Whether a handler said that this node can't tell, and another one may.
bool CanNotTell(const http::Response& response);

}  // namespace seendb::router
