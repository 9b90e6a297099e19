// server/router/held_request.h: a request that is answered after its handler has returned: a copy
// of all that another node is sent, and that the handler here needs.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/context.h"
#include "api/routes.h"
#include "http/reply.h"
#include "peers/peer_client.h"

namespace seendb::router {

/// See the head of this file. Threads: one at a time.
class HeldRequest : public std::enable_shared_from_this<HeldRequest> {
 public:
  /// Copies a call.
  explicit HeldRequest(const api::Call& call);

  /// Has the handler of `route` answer it, on this thread.
  void Run(const api::Route& route, std::string_view lacks, http::Response* response) const;
  /// What another node is asked, but for its url and its timeout. It holds this request, whose body
  /// it sends.
  peers::PeerRequest ToPeer() const;
  /// The answer is owed by it.
  http::Reply reply;

 private:
  std::string_view body() const { return {body_.data(), body_.size() - http::kBodyPadding}; }

  api::Context& context_;
  http::RequestHead head_;
  http::Plan plan_;
  std::string body_;  // with http::kBodyPadding bytes behind it
  const int64_t age_us_;
  const std::chrono::steady_clock::time_point since_;
};

/// The headers that every request of one node to another has: that it is one, and for whom.
peers::Headers HopHeaders(const http::RequestHead& head, const http::Plan& plan, int64_t age_us);
/// When a request has to be answered: its timeout from its first byte on, or 10 s.
std::chrono::steady_clock::time_point UntilOf(const http::RequestHead& head, int64_t age_us);

}  // namespace seendb::router
