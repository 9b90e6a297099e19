// seendb backup create: a backup of a database's folder, or of a running server.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "backup/create.h"
#include "backup/local_source.h"
#include "backup/server_source.h"
#include "backup_commands.h"
#include "database.h"
#include "interrupt.h"
#include "progress.h"
#include "seendb/item_store.h"
#include "seendb/set_store.h"
#include "table.h"
#include "text/sha256.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr int64_t kRateMost = 100'000;
constexpr uint64_t kMegabyte = 1'000'000;

struct CreateFlags {
  std::string folder;
  uint64_t mb_per_s = 100;
};

/// kInvalidArgument: the folder of backups is to lie in the database's.
Status CheckApart(const std::string& folder, const std::string& db) {
  std::error_code none;
  const std::string inside = std::filesystem::weakly_canonical(folder, none).string() + "/";
  const std::string whole = std::filesystem::weakly_canonical(db, none).string() + "/";
  if (!inside.starts_with(whole)) return {};
  return Status::InvalidArgument(folder + " lies inside the database", "/dir");
}

/// "items, sets, "
std::string WithStores(const backup::BackupList& list) {
  std::string text;
  for (const std::string& store : list.Stores()) text += store + ", ";
  return text;
}

Status PrintCreated(const Session& session, const backup::BackupList& list) {
  const auto took_ms = static_cast<uint64_t>(list.ended_ms - list.began_ms);
  if (session.json) {
    return PrintJson({{"ok", true},
                      {"id", list.id},
                      {"shards", list.Shards().size()},
                      {"stores", list.Stores()},
                      {"files", list.files.size()},
                      {"bytes", list.Bytes()},
                      {"new_bytes", list.new_bytes},
                      {"took_ms", took_ms}});
  }
  return Print("backup " + std::to_string(list.id) + ": " + FormatCount(list.Shards().size()) +
               " shards, " + WithStores(list) + FormatCount(list.files.size()) + " files, " +
               FormatBytes(list.Bytes()) + " of which " + FormatBytes(list.new_bytes) +
               " are new, in " + FormatDurationUs(static_cast<double>(took_ms) * 1e3) + "\n");
}

Result<backup::BackupList> CreateOfFolder(const Session& session, const CreateFlags& flags,
                                          backup::Meter* meter,
                                          const backup::CreateOptions& options) {
  if (Status apart = CheckApart(flags.folder, session.db); !apart.ok()) return apart;
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  Result<backup::BackupList> list = Status::Unavailable("");
  {
    backup::LocalSource source((*database)->engine(), session.db,
                               {{"items", ItemStore::Copy}, {"sets", SetStore::Copy}}, meter);
    list = backup::Create(flags.folder, &source, meter, options);
  }
  const Status closed = (*database)->Close(list.status());
  if (!closed.ok()) return closed;
  return list;
}

/// The same for each backup into the folder, and no other machine's.
std::string AskerOf(const std::string& folder) {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  std::error_code none;
  text::Sha256 sum;
  sum.Add(host);
  sum.Add(":" + std::filesystem::weakly_canonical(folder, none).string());
  return "backup-" + sum.Digits().substr(0, 16);
}

Result<backup::BackupList> CreateOfServer(const Session& session, const CreateFlags& flags,
                                          backup::Meter* meter, backup::CreateOptions options) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  options.silent_most = std::chrono::seconds(session.timeout_s);
  backup::ServerSource source(server->get(), AskerOf(flags.folder));
  Result<backup::BackupList> list = backup::Create(flags.folder, &source, meter, options);
  if (!list.ok()) return list;
  if (const Status told = source.Tell(*list); !told.ok()) {
    std::fprintf(stderr, "seendb: the backup is complete, but the server was not told: %s\n",
                 Printable(told.message()).c_str());
  }
  return list;
}

Status RunBackupCreate(const Session& session, const CreateFlags& flags) {
  if (!session.db.empty() && !session.url.empty()) {
    return Status::InvalidArgument("--db and --url exclude each other");
  }
  const CatchInterrupts interrupts;
  backup::Meter meter(static_cast<double>(flags.mb_per_s * kMegabyte),
                      [] { return InterruptedBy() != 0; });
  Progress progress("new MB");
  backup::CreateOptions options;
  options.progress = [&](const backup::CreateProgress& now) {
    const double of = now.parts == 0 ? 1 : now.parts;
    progress.Show(now.parts_done / of, now.new_bytes / kMegabyte);
  };
  const Result<backup::BackupList> list =
      session.db.empty() ? CreateOfServer(session, flags, &meter, std::move(options))
                         : CreateOfFolder(session, flags, &meter, options);
  progress.Clear();
  return list.ok() ? PrintCreated(session, *list) : list.status();
}

}  // namespace

void AddBackupCreate(Command backup, Session& session) {
  auto flags = std::make_shared<CreateFlags>();
  Command command = AddCommand(
      backup, session, "create",
      "Make a backup in a folder, of what the backups there don't have yet; killed, it goes on "
      "when it is called again",
      Takes::kFolderOrServer, [&session, flags] { return RunBackupCreate(session, *flags); });
  command.Add("dir", flags->folder, "The folder of backups; made if it is not there")
      .Required()
      .NotEmpty()
      .TypeName("DIR");
  command.Add("--mb-per-s", flags->mb_per_s, "Read at most so many MB a second; 0: no limit")
      .Range(0, kRateMost)
      .ShowDefault();
  command.Examples({"seendb backup create backups --db db    # of a folder that nobody has open",
                    "seendb backup create of-server           # of the running server"});
}

}  // namespace seendb::tool
