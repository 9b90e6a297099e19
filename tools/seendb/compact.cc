// seendb compact: compacts every family, so that erased users' bytes are gone.

#include "commands.h"
#include "maintenance.h"
#include "units.h"

namespace seendb::tool {

void AddCompact(Command app, Session& session) {
  Command command = AddCommand(
      app, session, "compact", "Compact every family; erased users' bytes are gone afterwards",
      Takes::kFolderOrServer, [&session] {
        return Perform(session,
                       {.request = {.method = "POST", .target = "/admin/compact"},
                        .engine = [](Engine& engine) { return engine.Compact(); },
                        .done = "compacted, writing",
                        .counter = {"compaction_bytes_written",
                                    &EngineStats::compaction_bytes_written, FormatBytes, ""}});
      });
  command.Examples({"seendb compact"});
}

}  // namespace seendb::tool
