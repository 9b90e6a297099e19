// events.h: events and updates on their way, and what became of them.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transport.h"

namespace seendb::client::internal {

/// A call of the name, with the timeout that the caller chose.
template <typename Options>
Request RequestFor(const Transport& transport, const Options& options, const char* name,
                   const char* method, std::string path) {
  return {.name = name,
          .method = method,
          .path = std::move(path),
          .end = transport.EndOf(options.timeout)};
}

/// An event as the server takes it; one without a time gets `now_ms`. `index`: in the call.
Json EventJson(const Play& play, int64_t now_ms, size_t index);
Json EventJson(const Exposure& exposure, int64_t now_ms, size_t index);

/// The counts of the events of these users.
Recorded ReadRecorded(Transport& transport, const Reply& reply,
                      const std::vector<std::string>& users);

/// ReadRecorded of a call with this body; throws Refused where all are refused. `where` is written
/// before the field of a refusal, with its index: "/events".
Recorded Record(Transport& transport, Request request, const Json& body,
                const std::vector<std::string>& users, const std::string& where);

/// The answer's body and status, for ReadObject.
Answer AnswerOf(const Reply& reply);

/// A call about one user, whose node and position it has. The answer's object has `needs`.
Json AskOfUser(Transport& transport, Request request, const Id& user, const Json* body,
               std::initializer_list<const char*> needs = {});

}  // namespace seendb::client::internal
