// seendb/maintenance.h: one call that changes the database: by the engine alone in its folder, or
// by the server that has it open.

#pragma once

#include <functional>
#include <string>

#include "database.h"
#include "session.h"

namespace seendb::tool {

/// The two ways to have something done, and how to say that it is done.
struct Deed {
  HttpRequest request = {};                      ///< to a server
  std::function<Status(Engine& engine)> engine;  ///< in a folder
  std::string done;                              ///< "drained", printed and named in the JSON
};

/// Does it.
Status Perform(const Session& session, const Deed& deed);

}  // namespace seendb::tool
