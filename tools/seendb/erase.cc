// seendb erase USER: forgets a user everywhere.

#include <memory>
#include <string>

#include "commands.h"
#include "maintenance.h"
#include "table.h"

namespace seendb::tool {

void AddErase(Command app, Session& session) {
  auto user = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "erase",
      "Forget a user everywhere, in all collections, for good (see also: compact)",
      Takes::kFolderOrServer, [&session, user] {
        return Perform(session,
                       {.request = {.method = "DELETE", .target = "/users/" + PercentEncode(*user)},
                        .engine = [&](Engine& engine) { return engine.EraseUser(IdRef(*user)); },
                        .done = "erased " + Printable(*user)});
      });
  command.Add("user", *user, "The user's id").Required().TypeName("USER");
  command.Examples({"seendb erase u9"});
}

}  // namespace seendb::tool
