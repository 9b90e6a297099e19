#include "backup/prune.h"

#include <map>
#include <set>
#include <string>

#include "backup/disk.h"
#include "base/disk_file.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

Status RemoveLists(const Folder& folder, const Lists& lists, const std::vector<KeepRule>& rules,
                   Pruned* pruned) {
  std::map<uint64_t, int64_t> began_ms;
  for (const auto& [id, list] : lists.whole) began_ms[id] = list.began_ms;
  const std::set<uint64_t> kept = Kept(began_ms, rules);
  for (const auto& [id, list] : lists.whole) {
    if (kept.contains(id)) {
      pruned->kept.push_back(id);
      continue;
    }
    if (Status removed = folder.RemoveList(id); !removed.ok()) return removed;
    pruned->removed.push_back(id);
  }
  return {};
}

/// Removes the leftovers of a create that was killed.
Status RemoveParts(const Folder& folder) {
  const Result<std::vector<std::string>> names = NamesInFolder(folder.PartsPath());
  if (names.status().code() == StatusCode::kNotFound) return {};  // of a copy without it
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!text::IsSha256(name) && name != "CLAIMS") continue;
    const Status removed = RemoveFile(folder.PartsPath() + "/" + name);
    if (!removed.ok()) return removed;
  }
  return {};
}

}  // namespace

Result<Pruned> Prune(const Folder& folder, const std::vector<KeepRule>& rules) {
  const Result<FileLock> alone = folder.LockToPrune();
  if (!alone.ok()) return alone.status();
  // Claims before lists: what a create that ends meanwhile claims no more, its list names.
  bool runs = false;
  Result<std::set<std::string>> needed = folder.Claims(&runs);
  if (!needed.ok()) return needed.status();
  const Result<Lists> lists = folder.ReadLists();
  if (!lists.ok()) return lists.status();
  if (!lists->damaged.empty()) {
    return Status::Corruption(lists->damaged.begin()->second +
                              "; which files it names is unknown, so none is deleted");
  }
  Pruned pruned;
  if (Status done = RemoveLists(folder, *lists, rules, &pruned); !done.ok()) return done;
  for (const uint64_t id : pruned.kept) {
    for (const BackedFile& file : lists->whole.at(id).files) needed->insert(file.sha256);
  }
  const Result<std::map<std::string, uint64_t>> stored = folder.Stored();
  if (!stored.ok()) return stored.status();
  for (const auto& [sha256, size] : *stored) {
    if (needed->contains(sha256)) continue;
    if (Status removed = RemoveFile(folder.FilePath(sha256)); !removed.ok()) return removed;
    ++pruned.files;
    pruned.bytes += size;
  }
  if (!runs) {
    if (Status done = RemoveParts(folder); !done.ok()) return done;
  }
  return pruned;
}

}  // namespace seendb::backup
