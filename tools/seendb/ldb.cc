// seendb ldb ARGS...: RocksDB's own ldb on one shard, knowing SeenDB's operators, families and
// keys. The stock ldb does not: it reads merged values wrongly and can ruin them by writing.

#include <memory>
#include <string>
#include <vector>

#include <rocksdb/ldb_tool.h>

#include "commands.h"
#include "store/ldb_options.h"

namespace seendb::tool {
namespace {

struct Call {
  uint32_t shard = 0;
  std::vector<std::string> args;
};

Status Run(const Session& session, const Call& call) {
  if (session.db.empty()) return Status::InvalidArgument("say --db DIR");
  const std::string path = ShardPath(session.db, call.shard);
  auto setup = LdbSetupFor(path);
  if (!setup.ok()) return setup.status();
  std::vector<std::string> words = {"seendb ldb", "--db=" + path};
  words.insert(words.end(), call.args.begin(), call.args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  setup->ldb_options.print_help_header = "RocksDB's ldb with SeenDB's operators, families and keys";
  // Exits the process.
  rocksdb::LDBTool().Run(static_cast<int>(argv.size()), argv.data(), setup->options,
                         setup->ldb_options, &setup->families);
  return {};
}

}  // namespace

void AddLdb(CLI::App& app, Session& session) {
  auto call = std::make_shared<Call>();
  CLI::App& command = AddCommand(
      app, session, "ldb",
      "Run RocksDB's ldb on one shard: seendb ldb --db DIR --shard 0 "
      "scan --column_family=users --hex. The exit code is ldb's. Its writing commands need "
      "the server stopped",
      Takes::kFolder, [&session, call, &app] {
        call->args = app.get_subcommand("ldb")->remaining();
        return Run(session, *call);
      });
  command.add_option("--shard", call->shard, "Which shard")->type_name("N");
  command.prefix_command();
}

}  // namespace seendb::tool
