// server/api/node_access.h: requests of other nodes of the cluster. A node proves that it is one
// (proof/proofs.h). It passes on what somebody asked it about users, and says who that is; without
// that it may ask only for what nodes need themselves: the routes of kPeer, and Route::nodes_ask.

#pragma once

#include <optional>
#include <string_view>

#include "api/context.h"
#include "api/routes.h"
#include "http/error.h"
#include "http/service.h"

namespace seendb::api {

/// Whether the request says that another node passes it on.
bool IsPassedOn(const Context& context, const http::RequestHead& head);
/// True where only a node may ask. CheckNode and CheckNodeBody then decide whether one does.
bool IsOfNodes(const Context& context, const http::RequestHead& head, const Route& route);
/// The refusal, or nothing. Notes in `plan` who asks. A proof counts once.
std::optional<http::Error> CheckNode(const Context& context, const http::RequestHead& head,
                                     const Route& route, http::Plan* plan);
/// The refusal of a body that the head's proof is not of.
std::optional<http::Error> CheckNodeBody(const http::RequestHead& head, std::string_view body);

}  // namespace seendb::api
