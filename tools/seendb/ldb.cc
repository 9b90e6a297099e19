// seendb ldb ARGS...: RocksDB's own ldb on one shard, knowing SeenDB's operators, families and
// keys. The stock ldb does not: it reads merged values wrongly and can ruin them by writing.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/utilities/ldb_cmd.h>

#include "commands.h"
#include "store/database_options.h"
#include "store/files.h"

namespace seendb::tool {
namespace {

struct Call {
  uint32_t shard = 0;
  std::vector<std::string> args;
};

/// What LDBTool::Run does, but that our families reach the command: LDBTool of RocksDB 7.8 drops
/// them, and a replay of the log without our operators loses every merge in it.
Status RunLdb(const std::vector<std::string>& args, const LdbSetup& setup) {
  const std::unique_ptr<rocksdb::LDBCommand> command(rocksdb::LDBCommand::InitFromCmdLineArgs(
      args, setup.options, setup.ldb_options, &setup.families));
  if (!command) {
    rocksdb::LDBCommandRunner::PrintHelp(setup.ldb_options, "seendb ldb");
    return Status::InvalidArgument("not a command of ldb");
  }
  command->SetDBOptions(setup.options);
  command->SetLDBOptions(setup.ldb_options);
  command->SetColumnFamilies(&setup.families);
  if (!command->ValidateCmdLineOptions()) return Status::InvalidArgument("not an option of ldb");
  command->Run();
  rocksdb::LDBCommandExecuteResult result = command->GetExecuteState();
  if (result.IsFailed()) return Status::IOError("ldb: " + result.ToString());
  return Print(result.ToString());
}

Status RunLdb(const Session& session, const Call& call) {
  if (session.db.empty()) return Status::InvalidArgument("say --db DIR");
  const std::string path = ShardPath(session.db, call.shard);
  if (!std::filesystem::exists(path)) return Status::NotFound("there is no shard " + path);
  auto setup = LdbSetupFor(path);
  if (!setup.ok()) return setup.status();
  setup->ldb_options.print_help_header = "RocksDB's ldb with SeenDB's operators, families and keys";
  // Options of the database's own file would lack our operators, and ldb would put the
  // string-append one in their place.
  std::vector<std::string> args = {"--db=" + path, "--try_load_options=false"};
  args.insert(args.end(), call.args.begin(), call.args.end());
  return RunLdb(args, *setup);
}

}  // namespace

void AddLdb(Command app, Session& session) {
  auto call = std::make_shared<Call>();
  Command command = AddCommand(app, session, "ldb",
                               "Run RocksDB's ldb on one shard: seendb ldb --db DIR --shard 0 "
                               "scan --column_family=users --hex. Its writing commands need "
                               "the server stopped",
                               Takes::kFolder, [&session, call] { return RunLdb(session, *call); });
  command.Add("--shard", call->shard, "Which shard").TypeName("N");
  command.PassTheRest(call->args);
  command.Examples({"seendb ldb --db db --shard 0 scan --column_family=users --hex"});
}

}  // namespace seendb::tool
