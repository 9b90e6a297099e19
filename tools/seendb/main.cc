// seendb: the admin tool. Each command is in the file of its name; this one only puts them
// together and turns the outcome into an exit code.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "commands.h"
#include "exit_code.h"

namespace seendb::tool {
namespace {

void Describe(CLI::App& app, Session& session) {
  app.name("seendb");
  app.footer(kExitCodeHelp);
  app.require_subcommand(1);
  app.set_version_flag("--version", SEENDB_VERSION);
  AddCommonFlags(app, session, Takes::kFolderOrServer);
  AddInspect(app, session);
  AddCheck(app, session);
  AddHistory(app, session);
  AddBuckets(app, session);
  AddRing(app, session);
  AddStats(app, session);
  AddReady(app, session);
  AddCollections(app, session);
  AddScan(app, session);
  AddVerify(app, session);
  AddRepair(app, session);
  AddIngest(app, session);
  AddLoad(app, session);
  AddProduce(app, session);
  AddGenerate(app, session);
  AddSeal(app, session);
  AddCompact(app, session);
  AddDrain(app, session);
  AddDropExpired(app, session);
  AddCheckpoint(app, session);
  AddErase(app, session);
  AddExport(app, session);
  AddLdb(app, session);
}

/// Says what failed: a line on stderr, or with --json an object on it.
void PrintFailure(const Session& session) {
  if (!session.json) {
    std::fprintf(stderr, "seendb: %s\n", session.result.ToString().c_str());
    return;
  }
  Json error = {{"code", StatusCodeName(session.result.code())},
                {"message", session.result.message()}};
  if (!session.result.field().empty()) error["field"] = session.result.field();
  const Json whole = {{"error", std::move(error)}};
  std::fprintf(stderr, "%s\n", whole.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

/// The flags of a line that can't be parsed are not set.
bool WantsJson(int argc, char** argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* arg) { return std::string_view(arg) == "--json"; });
}

int Main(int argc, char** argv) {
  Session session;
  CLI::App app(
      "Looks into a SeenDB database and looks after it: by --db DIR in its folder (reading beside "
      "a "
      "running server; writing alone), or by --url through a running server.");
  Describe(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too.
    if (error.get_exit_code() == 0) return app.exit(error);
    if (!WantsJson(argc, argv)) return app.exit(error), kExitUsage;
    session.json = true;
    session.result = Status::InvalidArgument(error.what());
  }
  if (!session.result.ok()) PrintFailure(session);
  return ExitCodeOf(session.result.code());
}

}  // namespace
}  // namespace seendb::tool

int main(int argc, char** argv) {
  try {
    return seendb::tool::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "seendb: %s\n", error.what());
    return 1;
  }
}
