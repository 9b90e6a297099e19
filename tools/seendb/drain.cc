// seendb drain: moves everything staged in the ring into the seen filters.

#include "commands.h"
#include "maintenance.h"
#include "units.h"

namespace seendb::tool {

void AddDrain(Command app, Session& session) {
  Command command = AddCommand(
      app, session, "drain",
      "Close the current slots and drain everything staged into the seen filters",
      Takes::kFolderOrServer, [&session] {
        return Perform(session, {.request = {.method = "POST", .target = "/admin/drain"},
                                 .engine = [](Engine& engine) { return engine.Drain(); },
                                 .done = "drained",
                                 .counter = {"drained_plays", &EngineStats::drained_plays,
                                             FormatCount, " plays"}});
      });
  command.Examples({"seendb drain", "seendb drain --db db"});
}

}  // namespace seendb::tool
