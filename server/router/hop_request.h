// server/router/hop_request.h: a call as a request to another node.

#pragma once

#include <chrono>
#include <cstdint>

#include "api/context.h"
#include "peers/peer_client.h"

namespace seendb::router {

/// The call as a request to another node, but for its url and its timeout. It has a copy of the
/// body, which may be sent when the call is gone.
peers::PeerRequest ToPeer(const api::Call& call);
/// The headers that every request of one node to another has: that it is one, and for whom.
peers::Headers HopHeaders(const http::RequestHead& head, const http::Plan& plan, int64_t age_us);
/// Those of a record that a request has appended to the log by another node.
peers::Headers AppendHeaders(const http::RequestHead& head, const http::Plan& plan, int64_t age_us);
/// Says which trace a request to another node belongs to, if any: it is caused by that of `trace`.
void AddTrace(const http::TraceContext& trace, peers::Headers* headers);
/// When a request has to be answered: its timeout from its first byte on, or 10 s.
std::chrono::steady_clock::time_point UntilOf(const http::RequestHead& head, int64_t age_us);

}  // namespace seendb::router
