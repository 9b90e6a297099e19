// seendb drop-expired: drops the buckets past retention.

#include "commands.h"
#include "maintenance.h"
#include "units.h"

namespace seendb::tool {

void AddDropExpired(Command app, Session& session) {
  Command command = AddCommand(
      app, session, "drop-expired",
      "Drop every bucket past retention, whatever the maintenance window says",
      Takes::kFolderOrServer, [&session] {
        return Perform(session, {.request = {.method = "POST", .target = "/admin/drop-expired"},
                                 .engine = [](Engine& engine) { return engine.DropExpired(); },
                                 .done = "dropped",
                                 .counter = {"buckets_dropped", &EngineStats::buckets_dropped,
                                             FormatCount, " families"}});
      });
  command.Examples({"seendb drop-expired"});
}

}  // namespace seendb::tool
