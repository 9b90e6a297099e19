// seendb: the admin tool. Each command is in the file of its name; this one only puts them
// together and turns the outcome into an exit code.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "commands.h"
#include "exit_code.h"
#include "flags.h"
#include "redis/address.h"
#include "table.h"
#include "version.h"

namespace seendb::tool {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  seendb load plays.csv            # into the server at http://127.0.0.1:7373\n"
    "  seendb check u1 v1 v2            # has u1 seen v1, v2?\n"
    "  seendb stats --db db             # of a folder, beside its server too\n"
    "  seendb check --help              # each command has examples\n";

void AddCommands(Command root, Session& session) {
  AddCommonFlags(root, session, Takes::kFolderOrServer);
  AddInspect(root, session);
  AddCheck(root, session);
  AddHistory(root, session);
  AddBuckets(root, session);
  AddRing(root, session);
  AddStats(root, session);
  AddTop(root, session);
  AddTail(root, session);
  AddReady(root, session);
  AddCollections(root, session);
  AddScan(root, session);
  AddVerify(root, session);
  AddRepair(root, session);
  AddIngest(root, session);
  AddItems(root, session);
  AddSets(root, session);
  AddLoad(root, session);
  AddProduce(root, session);
  AddRedis(root, session);
  AddGenerate(root, session);
  AddPlan(root, session);
  AddSeal(root, session);
  AddCompact(root, session);
  AddDegrade(root, session);
  AddDrain(root, session);
  AddDropExpired(root, session);
  AddCheckpoint(root, session);
  AddBackup(root, session);
  AddCluster(root, session);
  AddToken(root, session);
  AddErase(root, session);
  AddExport(root, session);
  AddLdb(root, session);
  AddCompletion(root, session);
}

/// Says what failed: a line on stderr, or with --json an object on it.
void PrintFailure(const Session& session) {
  if (!session.json) {
    const std::string text =
        session.exit_code == 0 ? session.result.ToString() : std::string(session.result.message());
    // A server may have said it: nothing in it steers the terminal.
    std::fprintf(stderr, "seendb: %s\n", Printable(redis::HideCredentials(text)).c_str());
    return;
  }
  const std::string_view code =
      session.exit_code == 0 ? StatusCodeName(session.result.code()) : session.exit_name;
  Json error = {{"code", code}, {"message", redis::HideCredentials(session.result.message())}};
  if (!session.result.field().empty()) error["field"] = session.result.field();
  const Json whole = {{"error", std::move(error)}};
  std::fprintf(stderr, "%s\n",
               whole.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace).c_str());
}

/// The flags of a line that can't be parsed are not set.
bool WantsJson(int argc, char** argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* arg) { return std::string_view(arg) == "--json"; });
}

int Main(int argc, char** argv) {
  Session session;
  session.argv.assign(argv, argv + argc);
  CommandLine line(
      "seendb",
      "Looks into a SeenDB database and looks after it: by --db DIR in its folder "
      "(reading beside a running server; writing alone), otherwise through a running "
      "server: --url URL, the variable SEENDB_URL, or http://127.0.0.1:7373. Where the "
      "server has an admin_listen, SEENDB_ADMIN_URL names that, unless --url is given.",
      std::string(kExitCodeHelp) + kExamples, kVersion);
  AddCommands(line.root(), session);
  const bool json = WantsJson(argc, argv);
  switch (line.Parse(argc, argv, !json)) {
    case Parsed::kRan:
      break;
    case Parsed::kHelped:
      return 0;
    case Parsed::kRefused:
      if (!json) return kExitUsage;
      session.json = true;
      session.result = Status::InvalidArgument(line.error());
      break;
  }
  if (!session.result.ok()) PrintFailure(session);
  if (!session.result.ok() && session.exit_code != 0) return session.exit_code;
  return ExitCodeOf(session.result.code());
}

}  // namespace
}  // namespace seendb::tool

int main(int argc, char** argv) {
  umask(umask(0) | 027);  // what is made holds what people watched
  try {
    return seendb::tool::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "seendb: %s\n", error.what());
    return 1;
  }
}
