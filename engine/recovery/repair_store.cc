#include "recovery/repair_store.h"

#include <memory>
#include <utility>

#include "recovery/files.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {
namespace {

/// The new store, in the folder `into`, ready to be put in its place; or none.
Status MakeAnew(rocksdb::Env* env, const std::string& from, const std::string& into,
                const std::string& folder, const BesideFindings& findings, BesideOutcome* outcome) {
  const MarkedFolder begun{into, kRebuilding};
  Status status = begun.RemoveLeftover(env);
  if (status.ok()) status = begun.Make(env);
  const std::unique_ptr<BesideRows> rows = NewBesideRows(folder);
  if (status.ok()) status = RebuildBeside(env, from, into, findings, rows.get(), outcome);
  if (status.ok() && outcome->made) return ReplaceFile(env, into + "/" + kRebuilt, "", true);
  const Status removed = begun.RemoveLeftover(env);
  return status.ok() ? removed : status;
}

}  // namespace

Status RepairStore(rocksdb::Env* env, const std::string& root, const std::string& folder,
                   const BesideFindings& findings, KeptFiles* kept, RepairReport* report) {
  const Result<std::string> home = kept->Folder();
  if (!home.ok()) return home.status();
  const std::string kept_as = *home + "/" + folder;
  for (const FileDamage& damage : findings.damages) {
    RepairedFile done;
    done.damage = damage;
    done.damage.file = folder + "/" + damage.file;
    done.action = "the " + folder + " are made anew";
    if (env->FileExists(root + "/" + done.damage.file).ok()) {
      done.kept_as = kept_as + "/" + damage.file;
    }
    report->files.push_back(std::move(done));
  }
  if (kept->dry_run()) return {};
  const std::string rebuilt = folder + std::string(kRebuiltSuffix);
  BesideOutcome outcome;
  Status status =
      MakeAnew(env, root + "/" + folder, root + "/" + rebuilt, folder, findings, &outcome);
  if (status.ok()) {
    status =
        FromRocks(env->RenameFile(root + "/" + folder, root + "/" + kept_as), "move " + folder);
  }
  if (status.ok()) status = SyncFolder(env, root + "/" + *home);
  if (status.ok()) {
    status = outcome.made ? PutRebuiltInPlace(env, root, rebuilt, folder) : SyncFolder(env, root);
  }
  if (!status.ok()) return status;
  for (const std::string& note : outcome.notes) report->notes.push_back(folder + ": " + note);
  std::string what =
      "the " + folder + " were made anew of " + std::to_string(outcome.rows) + " rows";
  if (!outcome.made) what = "the " + folder + " can't be read without their schema: put both again";
  report->notes.push_back(what + "; their old folder is " + kept_as);
  return {};
}

}  // namespace seendb
