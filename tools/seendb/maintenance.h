// seendb/maintenance.h: one call that changes the database: by the engine alone in its folder, or
// by the server that has it open.

#pragma once

#include <functional>
#include <string>

#include "database.h"
#include "session.h"

namespace seendb::tool {

/// What a call counts, as the server's answer names it.
struct OperationCounter {
  const char* name = nullptr;                 ///< "drained_plays"; null: nothing is counted
  uint64_t EngineStats::*value = nullptr;     ///< by how much it rose
  std::string (*format)(uint64_t) = nullptr;  ///< for people
  const char* unit = "";                      ///< "plays"
};

/// The two ways to have something done, and how to say that it is done.
struct Operation {
  HttpRequest request = {};                      ///< to a server
  std::function<Status(Engine& engine)> engine;  ///< in a folder
  std::string done;                              ///< "drained"
  OperationCounter counter = {};
  std::function<void(const Json& answer)> answered = {};         ///< takes a server's answer
  std::function<void(std::string* done, Json* json)> tell = {};  ///< says more of it
  std::string note = {};                                         ///< for people, lines behind it
};

/// Does it. Prints "drained 12,188 plays in 204.6 ms", or with --json
/// {"ok":true,"drained_plays":12188,"took_ms":204}.
Status Perform(const Session& session, const Operation& operation);

}  // namespace seendb::tool
