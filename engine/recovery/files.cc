#include "recovery/files.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/return_if_failed.h"
#include "recovery/former.h"
#include "seams.h"
#include "seendb/repair.h"
#include "store/collections_file.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr int kLookPasses = 5;

bool ShardOfName(std::string_view name, uint32_t* shard) {
  if (!name.starts_with("shard-")) return false;
  const auto [end, error] = std::from_chars(name.data() + 6, name.data() + name.size(), *shard);
  return error == std::errc() && end == name.data() + name.size();
}

// What may change beside a running engine: a check that found something is only of worth when this
// stayed the same.
std::string StampOf(rocksdb::Env* env, const std::string& root) {
  std::string stamp;
  std::vector<std::string> shards;
  if (!env->GetChildren(root, &shards).ok()) return stamp;
  std::sort(shards.begin(), shards.end());
  for (const std::string& shard : shards) {
    std::vector<std::string> names;
    uint32_t number = 0;
    if (!ShardOfName(shard, &number) && !IsStoreFolder(shard)) continue;
    if (!env->GetChildren(root + "/" + shard, &names).ok()) continue;
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      uint64_t bytes = 0;
      if (name.starts_with("LOG") ||
          !env->GetFileSize(root + "/" + shard + "/" + name, &bytes).ok())
        continue;
      stamp += shard + "/" + name + " " + std::to_string(bytes) + "\n";
    }
  }
  return stamp;
}

// The identity that the shards' own records tell of.
std::optional<Identity> IdentityOfShards(const std::map<uint32_t, ShardFindings>& shards) {
  std::vector<std::pair<const ShardIdentity*, int>> votes;  // for what shards of one database say
  for (const auto& [number, findings] : shards) {
    if (!findings.identity || findings.identity->shard != number ||
        findings.identity->format > kFormatVersion) {
      continue;
    }
    const ShardIdentity& told = *findings.identity;
    const auto same = std::find_if(votes.begin(), votes.end(), [&](const auto& vote) {
      return vote.first->id == told.id && vote.first->shards == told.shards &&
             vote.first->hash == told.hash;
    });
    if (same == votes.end()) {
      votes.emplace_back(&told, 1);
    } else {
      ++same->second;
    }
  }
  if (votes.empty()) return {};
  const ShardIdentity& most =
      *std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
         return a.second < b.second;
       })->first;
  Identity identity;
  identity.id = most.id;
  identity.shards = most.shards;
  identity.hash = most.hash;
  identity.ready = true;
  return identity;
}

// SEENDB as it is, and what is wrong with it.
Status CheckIdentity(rocksdb::Env* env, const std::string& root, DatabaseFindings* found) {
  std::string json;
  const rocksdb::Status read = rocksdb::ReadFileToString(env, root + "/SEENDB", &json);
  const std::optional<Identity> told = IdentityOfShards(found->shards);
  const auto damaged = [&](const char* kind, const std::string& detail) {
    found->identity_damage = FileDamage{"SEENDB", kind, {}, {}, detail};
    found->identity = told;
    return Status();
  };
  if (!read.ok()) {
    const bool missing = read.IsNotFound() || read.IsPathNotFound();
    return damaged(missing ? "missing" : "unreadable", missing ? "" : read.ToString());
  }
  const Result<Identity> identity = Identity::FromJson(json);
  if (!identity.ok()) {
    // Another version would say so in the shards too.
    if (identity.status().code() == StatusCode::kIncompatible && !told) return identity.status();
    return damaged("damaged", std::string(identity.status().message()));
  }
  if (told && (told->id != identity->id || told->shards != identity->shards)) {
    return damaged("damaged", "the shards are of the database " + told->id + " with " +
                                  std::to_string(told->shards) + " shards");
  }
  if (told && told->hash != identity->hash) {
    return damaged("damaged", "the shards have another hash, or another key for it");
  }
  if (identity->ToJson() != json) return damaged("damaged", "it is not as it was written");
  found->identity = *identity;
  return {};
}

// Where it is missing the shards say the same: an opening writes it.
void CheckCollections(rocksdb::Env* env, const std::string& root, DatabaseFindings* found) {
  const Result<std::optional<CollectionRecords>> read = ReadCollections(env, root);
  if (read.ok() && !read->has_value()) return;
  ++found->files;
  if (read.ok()) return;
  const bool unreadable = read.status().code() == StatusCode::kIOError;
  found->collections_damage = FileDamage{kCollectionsName,
                                         unreadable ? "unreadable" : "damaged",
                                         {},
                                         {},
                                         std::string(read.status().message())};
  found->damages.push_back(*found->collections_damage);
}

void AddShards(rocksdb::Env* env, const std::string& root, bool as_found, DatabaseFindings* found) {
  for (auto& [number, findings] : found->shards) {
    const bool half_made = found->identity && !found->identity->ready && !findings.opens;
    for (FileDamage damage : findings.damages) {
      if (half_made) continue;  // making it will be gone on with
      damage.file = ShardFile(number, damage.file);
      found->damages.push_back(std::move(damage));
    }
    found->files += findings.files;
    found->bytes += findings.bytes;
  }
  if (!found->identity || !found->identity->ready) return;
  for (uint32_t number = 0; number < found->identity->shards; ++number) {
    if (found->shards.contains(number)) continue;
    const auto former = FormerOf(env, root, ShardFile(number), /*taken=*/false, as_found);
    if (as_found && !former) continue;
    const std::string where = former ? "; it lies in " + *former : "";
    found->damages.push_back({ShardFile(number), "missing", {}, {}, "the whole shard" + where});
  }
}

void AddStores(DatabaseFindings* found) {
  for (const auto& [folder, findings] : found->stores) {
    for (FileDamage damage : findings.damages) {
      damage.file.insert(0, folder + "/");
      found->damages.push_back(std::move(damage));
    }
    found->files += findings.files;
    found->bytes += findings.bytes;
  }
}

Result<DatabaseFindings> CheckOnce(rocksdb::Env* env, const std::string& root, bool as_found) {
  DatabaseFindings found;
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(root, &names);
  if (!listed.ok() && !listed.IsNotFound()) return FromRocks(listed, "list " + root);
  std::sort(names.begin(), names.end());
  const bool has_identity = std::binary_search(names.begin(), names.end(), "SEENDB");
  std::vector<FileDamage> unfinished;
  for (const std::string& name : names) {
    uint32_t number = 0;
    if (IsRebuilt(name)) {
      unfinished.push_back({name, "unfinished", {}, {}, "a repair was begun and not finished"});
    }
    if (IsStoreFolder(name)) {
      Result<BesideFindings> store = CheckBeside(env, root + "/" + name, *NewBesideRows(name));
      if (!store.ok()) return store.status();
      found.stores[name] = std::move(store).value();
    }
    if (!ShardOfName(name, &number) || ShardFile(number) != name) continue;
    Result<ShardFindings> shard = CheckShard(env, root + "/" + name);
    if (!shard.ok()) return shard.status();
    found.shards[number] = std::move(shard).value();
  }
  if (!has_identity && found.shards.empty()) {
    return Status::NotFound("there is no database in " + root);
  }
  RETURN_IF_FAILED(CheckIdentity(env, root, &found));
  found.files = has_identity ? 1 : 0;
  if (found.identity_damage) found.damages.push_back(*found.identity_damage);
  CheckCollections(env, root, &found);
  found.damages.insert(found.damages.end(), unfinished.begin(), unfinished.end());
  AddShards(env, root, as_found, &found);
  AddStores(&found);
  return found;
}

}  // namespace

std::string ShardFile(uint32_t shard, const std::string& file) {
  return ShardPath("", shard).substr(1) + (file.empty() ? "" : "/" + file);
}

std::string RebuiltName(uint32_t shard) { return ShardFile(shard) + ".repair"; }

bool IsRebuilt(const std::string& name) {
  return name.ends_with(kRebuiltSuffix) &&
         (name.starts_with("shard-") ||
          IsStoreFolder(name.substr(0, name.size() - kRebuiltSuffix.size())));
}

// Beside a running engine files come and go: what is found counts if nothing changed meanwhile, or
// when it has been so each time.
Result<DatabaseFindings> CheckDatabase(rocksdb::Env* env, const std::string& root, bool as_found) {
  for (int pass = 1;; ++pass) {
    const std::string stamp = StampOf(env, root);
    Result<DatabaseFindings> found = CheckOnce(env, root, as_found);
    if (!found.ok() || found->damages.empty()) return found;
    if (StampOf(env, root) == stamp || pass == kLookPasses) return found;
    env->SleepForMicroseconds(50'000 * pass);
  }
}

Result<FilesReport> VerifyFiles(const std::string& path, bool as_found) {
  return VerifyFiles(path, Seams{}, as_found);
}

Result<FilesReport> VerifyFiles(const std::string& path, const Seams& seams, bool as_found) {
  rocksdb::Env* const env = seams.env != nullptr ? seams.env : rocksdb::Env::Default();
  Result<DatabaseFindings> found = CheckDatabase(env, path, as_found);
  if (!found.ok()) return found.status();
  return FilesReport{found->files, found->bytes, std::move(found->damages)};
}

}  // namespace seendb
