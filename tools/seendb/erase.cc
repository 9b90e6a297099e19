// seendb erase USER: forgets a user everywhere.

#include <memory>
#include <string>

#include "commands.h"
#include "maintenance.h"
#include "table.h"

namespace seendb::tool {

void AddErase(CLI::App& app, Session& session) {
  auto user = std::make_shared<std::string>();
  AddCommand(app, session, "erase",
             "Forget a user everywhere, in all collections, for good (see also: compact)",
             Takes::kFolderOrServer,
             [&session, user] {
               return Perform(
                   session,
                   {.request = {.method = "DELETE", .target = "/users/" + PercentEncode(*user)},
                    .engine = [&](Engine& engine) { return engine.EraseUser(IdRef(*user)); },
                    .done = "erased " + Printable(*user)});
             })
      .add_option("user", *user, "The user's id")
      ->required()
      ->type_name("USER");
}

}  // namespace seendb::tool
