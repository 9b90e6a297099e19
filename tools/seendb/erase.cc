// seendb erase USER: forgets a user everywhere.

#include <memory>
#include <string>

#include "commands.h"
#include "maintenance.h"
#include "table.h"

namespace seendb::tool {
namespace {

constexpr char kNotReached[] =
    "Its bytes leave logs and tables within engine.erase_within_days, or now by: seendb drain.\n"
    "No erasure reaches checkpoints and other copies, detached shards, what a repair set aside,\n"
    "dead letters, topics, and logs of requests.\n";

}  // namespace

void AddErase(Command app, Session& session) {
  auto user = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "erase",
      "Forget a user everywhere, in all collections, for good (see also: drain)",
      Takes::kFolderOrServer, [&session, user] {
        Erasure erasure;
        return Perform(
            session,
            {.request = {.method = "DELETE", .target = "/users/" + PercentEncode(*user)},
             .engine = [&](Engine& engine) { return engine.EraseUser(IdRef(*user), {}, &erasure); },
             .done = "erased " + Printable(*user),
             .answered = [&](const Json& answer) { erasure.known = answer.value("known", true); },
             .tell =
                 [&](std::string* done, Json* json) {
                   if (!erasure.known) *done += ", of whom nothing was held,";
                   (*json)["known"] = erasure.known;
                 },
             .note = kNotReached});
      });
  command.Add("user", *user, "The user's id").Required().TypeName("USER");
  command.Examples({"seendb erase u9"});
}

}  // namespace seendb::tool
