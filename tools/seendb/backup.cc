// seendb backup: what is in a folder of backups: listed, verified, restored, pruned.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backup/keep.h"
#include "backup/prune.h"
#include "backup/restore.h"
#include "backup/verify.h"
#include "backup_commands.h"
#include "commands.h"
#include "interrupt.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

struct BackupFlags {
  std::string folder, target, keep;
  uint64_t id = 0;
};

/// A folder, locked so that nothing goes while it is read.
struct ReadFolder {
  backup::Folder folder;
  backup::FileLock lock;
};

Result<ReadFolder> OpenLocked(const std::string& path) {
  Result<backup::Folder> folder = backup::Folder::Open(path);
  if (!folder.ok()) return folder.status();
  Result<backup::FileLock> lock = folder->LockToRead();
  if (!lock.ok()) return lock.status();
  return ReadFolder{std::move(folder).value(), std::move(lock).value()};
}

backup::Meter Unhurried() {
  return {0, [] { return InterruptedBy() != 0; }};
}

std::string Joined(const std::vector<uint64_t>& ids) {
  std::string text;
  for (const uint64_t id : ids) text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text;
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// ---- list ----

Status PrintLists(const Session& session, const backup::Folder& folder,
                  const backup::Lists& lists) {
  Json json = {{"database", folder.database()}, {"backups", Json::array()}};
  Table table({{"id", Align::kRight},
               {"began"},
               {"took", Align::kRight},
               {"shards", Align::kRight},
               {"stores"},
               {"files", Align::kRight},
               {"size", Align::kRight},
               {"new", Align::kRight}});
  for (const auto& [id, list] : lists.whole) {
    const int64_t took_ms = list.ended_ms - list.began_ms;
    const size_t shards = list.Shards().size();
    json["backups"].push_back({{"id", id},
                               {"began_ms", list.began_ms},
                               {"took_ms", took_ms},
                               {"partitions", list.partitions},
                               {"shards", shards},
                               {"stores", list.Stores()},
                               {"files", list.files.size()},
                               {"bytes", list.Bytes()},
                               {"new_bytes", list.new_bytes}});
    table.Add({std::to_string(id), FormatTimeMs(list.began_ms / 1'000 * 1'000),
               FormatDurationUs(static_cast<double>(took_ms) * 1e3), FormatCount(shards),
               Joined(list.Stores()), FormatCount(list.files.size()), FormatBytes(list.Bytes()),
               FormatBytes(list.new_bytes)});
  }
  for (const auto& [id, why] : lists.damaged) {
    json["damaged"].push_back({{"id", id}, {"why", why}});
  }
  if (session.json) return PrintJson(json);
  return Print(table.empty() ? "no backups\n" : table.ToString());
}

Status RunBackupList(const Session& session, const BackupFlags& flags) {
  const Result<ReadFolder> opened = OpenLocked(flags.folder);
  if (!opened.ok()) return opened.status();
  const Result<backup::Lists> lists = opened->folder.ReadLists();
  if (!lists.ok()) return lists.status();
  if (Status printed = PrintLists(session, opened->folder, *lists); !printed.ok()) return printed;
  if (lists->damaged.empty()) return {};
  return Status::Corruption(lists->damaged.begin()->second);
}

// ---- verify ----

Status PrintVerified(const Session& session, const backup::Verified& found) {
  Json json = {{"backups", found.backups},
               {"files", found.files},
               {"bytes", found.bytes},
               {"unlisted_files", found.unlisted},
               {"unlisted_bytes", found.unlisted_bytes},
               {"damages", Json::array()}};
  std::string text =
      FormatCount(found.backups) + " backups, " + FormatCount(found.files) + " files, " +
      FormatBytes(found.bytes) + " read and checked: " +
      (found.damages.empty() ? "all sound" : FormatCount(found.damages.size()) + " damaged") + "\n";
  Table table({{"file"}, {"what"}, {"is"}, {"of backups"}});
  for (const backup::Damage& damage : found.damages) {
    json["damages"].push_back({{"file", damage.file},
                               {"what", damage.what},
                               {"path", damage.path},
                               {"backups", damage.backups}});
    table.Add({damage.file, damage.what, damage.path, Joined(damage.backups)});
  }
  if (session.json) return PrintJson(json);
  if (!found.damages.empty()) text += "\n" + table.ToString();
  return Print(text);
}

Status RunBackupVerify(const Session& session, const BackupFlags& flags) {
  const Result<ReadFolder> opened = OpenLocked(flags.folder);
  if (!opened.ok()) return opened.status();
  const CatchInterrupts interrupts;
  backup::Meter meter = Unhurried();
  const Result<backup::Verified> found = backup::Verify(opened->folder, &meter);
  if (!found.ok()) return found.status();
  if (Status printed = PrintVerified(session, *found); !printed.ok()) return printed;
  if (found->damages.empty()) return {};
  return Status::Corruption(FormatCount(found->damages.size()) + " damaged files, the first " +
                            found->damages.front().file);
}

// ---- restore ----

Result<backup::BackupList> Chosen(const backup::Folder& folder, uint64_t id) {
  if (id != 0) return folder.ReadList(id);
  const Result<backup::Lists> lists = folder.ReadLists();
  if (!lists.ok()) return lists.status();
  const bool newest_damaged =
      !lists->damaged.empty() &&
      (lists->whole.empty() || lists->damaged.rbegin()->first > lists->whole.rbegin()->first);
  if (newest_damaged) {
    return Status::Corruption(lists->damaged.rbegin()->second + "; name an older backup by --id");
  }
  if (lists->whole.empty()) return Status::NotFound(folder.path() + " has no backup");
  return lists->whole.rbegin()->second;
}

Status RunBackupRestore(const Session& session, const BackupFlags& flags) {
  const Result<ReadFolder> opened = OpenLocked(flags.folder);
  if (!opened.ok()) return opened.status();
  const Result<backup::BackupList> list = Chosen(opened->folder, flags.id);
  if (!list.ok()) return list.status();
  const CatchInterrupts interrupts;
  backup::Meter meter = Unhurried();
  const Status restored = backup::Restore(opened->folder, *list, flags.target, &meter);
  if (!restored.ok()) return restored;
  if (session.json) {
    return PrintJson({{"ok", true},
                      {"id", list->id},
                      {"began_ms", list->began_ms},
                      {"files", list->files.size()},
                      {"bytes", list->Bytes()}});
  }
  return Print("restored backup " + std::to_string(list->id) + " of " +
               FormatTimeMs(list->began_ms / 1'000 * 1'000) + ": " + FormatBytes(list->Bytes()) +
               "\n");
}

// ---- prune ----

Status RunBackupPrune(const Session& session, const BackupFlags& flags) {
  const auto rules = backup::ParseKeep(flags.keep);
  if (!rules.ok()) return rules.status();
  const Result<backup::Folder> folder = backup::Folder::Open(flags.folder);
  if (!folder.ok()) return folder.status();
  const Result<backup::Pruned> pruned = backup::Prune(*folder, *rules);
  if (!pruned.ok()) return pruned.status();
  if (session.json) {
    return PrintJson({{"ok", true},
                      {"kept", pruned->kept},
                      {"removed", pruned->removed},
                      {"files", pruned->files},
                      {"bytes", pruned->bytes}});
  }
  return Print("removed " + FormatCount(pruned->removed.size()) + " backups and " +
               FormatCount(pruned->files) + " files of " + FormatBytes(pruned->bytes) + ", kept " +
               FormatCount(pruned->kept.size()) + " backups\n");
}

Command AddOfFolder(Command backup, Session& session, const std::string& name,
                    const std::string& description, const std::shared_ptr<BackupFlags>& flags,
                    Status (*run)(const Session&, const BackupFlags&)) {
  Command command = AddCommand(backup, session, name, description, Takes::kNothing,
                               [&session, flags, run] { return run(session, *flags); });
  command.Add("dir", flags->folder, "The folder of backups").Required().NotEmpty().TypeName("DIR");
  return command;
}

}  // namespace

void AddBackup(Command app, Session& session) {
  Command backup =
      AddCommand(app, session, "backup", "Make backups in a folder, look after them, restore one",
                 Takes::kNothing, [] {
                   return Status::InvalidArgument(
                       "say what: seendb backup create, list, verify, restore or prune");
                 });
  backup.Examples({"seendb backup create backups --db db"});
  AddBackupCreate(backup, session);
  auto flags = std::make_shared<BackupFlags>();
  AddOfFolder(backup, session, "list", "List the backups of a folder", flags, RunBackupList)
      .Examples({"seendb backup list backups"});
  AddOfFolder(backup, session, "verify",
              "Read and check every file of every backup; exit code 4 if anything is damaged, "
              "which is named",
              flags, RunBackupVerify)
      .Examples({"seendb backup verify backups"});
  Command restore = AddOfFolder(backup, session, "restore", "Make a database of a backup", flags,
                                RunBackupRestore);
  restore.Add("newdb", flags->target, "The database's folder, which must not be there")
      .Required()
      .NotEmpty()
      .TypeName("NEWDB");
  restore.Add("--id", flags->id, "Which backup; the newest without").TypeName("N");
  restore.Examples(
      {"seendb backup restore backups restored", "seendb backup restore backups first --id 1"});
  Command prune = AddOfFolder(backup, session, "prune",
                              "Remove old backups, and the files that no other one needs; a "
                              "create may run meanwhile",
                              flags, RunBackupPrune);
  prune
      .Add("--keep", flags->keep,
           "Keep the newest backup of each of so many days and weeks that have one (UTC, weeks "
           "from Monday); the newest of all stays anyway")
      .Required()
      .TypeName("7d,4w");
  prune.Examples({"seendb backup prune backups --keep 7d,4w"});
}

}  // namespace seendb::tool
