// server/api/router.h: what stands between the service and the handlers at a node of a cluster: it
// says who answers a request about users or policies, which others it concerns, and when.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/context.h"

namespace seendb::api {

/// Values of Call::lacks: this replica is not as far as the request asks; no replica can be asked.
inline constexpr std::string_view kLacksBehind = "behind";
inline constexpr std::string_view kLacksPartition = "partition";

/// See the head of this file. Threads: any.
class Router {
 public:
  virtual ~Router() = default;
  /// Answers a call of a route that is not of this node alone (Route::spread): by its handler, by
  /// another node, through the log.
  virtual http::Task<> Handle(Call& call) = 0;
  /// Takes a body of NDJSON of such a route. Null, and `*refusal` is ok: as at a server by itself.
  virtual std::unique_ptr<http::BodyStream> Stream(const http::RequestHead& head,
                                                   const http::Plan& plan, Status* refusal) = 0;
  /// POST /internal/append: another node has a record for the log.
  virtual http::Task<> Append(Call call) = 0;
  /// The engine has recorded that these items were served, at that time: the log is to have it too.
  virtual void Served(const IdRef& user, std::string_view collection,
                      std::span<const Impression> items, int64_t at_ms) = 0;
  /// This node has promised items to a user: the log has it (values of records `reserve`) when
  /// this ends, or the answer is a failure. The promise counts here in any case.
  virtual http::Task<> Reserved(Call call, std::string user, std::vector<std::string> promised) = 0;
  /// Whether the log may have the groups of what was served.
  virtual bool LogsGroups() const = 0;
  /// Whether Handle takes a request whose answer is a stream at a server by itself.
  virtual bool TakesStream(const http::RequestHead& head, const http::Plan& plan) = 0;
};

}  // namespace seendb::api
