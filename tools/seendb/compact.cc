// seendb compact: compacts every family, so that erased users' bytes are gone.

#include "commands.h"
#include "maintenance.h"

namespace seendb::tool {

void AddCompact(CLI::App& app, Session& session) {
  AddCommand(app, session, "compact",
             "Compact every family; erased users' bytes are gone afterwards",
             Takes::kFolderOrServer, [&session] {
               return Perform(session, {.request = {.method = "POST", .target = "/admin/compact"},
                                        .engine = [](Engine& engine) { return engine.Compact(); },
                                        .done = "compacted"});
             });
}

}  // namespace seendb::tool
