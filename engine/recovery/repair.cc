// Repair: the files that RocksDB and the engine can make anew are made anew, logs are cleaned, a
// shard that can't be opened is rebuilt, what is lost is marked, the damaged files are kept.

#include "seendb/repair.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/return_if_failed.h"
#include "recovery/files.h"
#include "recovery/former.h"
#include "recovery/kept.h"
#include "recovery/log.h"
#include "recovery/rebuild.h"
#include "recovery/rebuilt_shard.h"
#include "recovery/repair_store.h"
#include "seams.h"
#include "store/collections_file.h"
#include "store/copy_file.h"
#include "store/database_lock.h"
#include "store/real_disk.h"
#include "store/shard_folders.h"
#include "store/shard_store.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr int kRepairPasses = 4;

class Repairer {
 public:
  Repairer(std::string root, const RepairOptions& options, const Seams& seams)
      : root_(std::move(root)),
        options_(options),
        ordered_(NewOrderedEnv(seams.env != nullptr ? seams.env : rocksdb::Env::Default(), logs_)),
        env_(ordered_.get()),
        clock_(seams.clock != nullptr ? seams.clock : SystemClock()) {
    report_.dry_run = options.dry_run;
  }
  Repairer(const Repairer&) = delete;
  Repairer& operator=(const Repairer&) = delete;

  Result<RepairReport> Run() {
    if (!env_->FileExists(root_).ok()) return Status::NotFound("there is no database in " + root_);
    Result<std::string> canonical = CanonicalPath(env_, root_);
    if (!canonical.ok()) return canonical.status();
    root_ = std::move(canonical).value();
    kept_ = KeptFiles(env_, root_, options_.dry_run);
    Status status = Lock();
    if (status.ok()) status = EndBegun();
    for (int pass = 0; status.ok(); ++pass) {
      Result<DatabaseFindings> found = CheckDatabase(env_, root_, options_.as_found);
      if (!found.ok()) return found.status();
      if (found->damages.empty()) return std::move(report_);
      if (pass == kRepairPasses) {
        const FileDamage& one = found->damages.front();
        return Status::Corruption(root_ + "/" + one.file + " is still " + one.kind + ": " +
                                  one.detail + "; restore a checkpoint");
      }
      status = RepairOnce(*found);
      if (status.ok() && options_.dry_run) return std::move(report_);
    }
    return status;
  }

 private:
  std::string In(const std::string& file) const { return root_ + "/" + file; }

  Status Lock() {
    if (options_.dry_run) return {};
    Result<std::unique_ptr<DatabaseLock>> locked = DatabaseLock::Take(env_, root_);
    if (locked.ok()) {
      lock_ = std::move(locked).value();
      return {};
    }
    if (locked.status().code() != StatusCode::kBusy) return locked.status();
    return Status::Busy(std::string(locked.status().message()) + "; stop the server first");
  }

  // A repair that was killed: what it had rebuilt is put in its place, or made again.
  Status EndBegun() {
    std::vector<std::string> names;
    const rocksdb::Status listed = env_->GetChildren(root_, &names);
    if (!listed.ok()) return FromRocks(listed, "list " + root_);
    for (const std::string& name : names) {
      if (options_.dry_run || !IsRebuilt(name)) continue;
      const std::string place = name.substr(0, name.size() - kRebuiltSuffix.size());
      const bool ready = env_->FileExists(In(name) + "/" + kRebuilt).ok();
      if (!ready && env_->DeleteDir(In(name)).ok()) continue;  // empty: killed before the mark
      const Result<PathKind> kind = KindOfPath(env_, In(name));
      if (!kind.ok()) return kind.status();
      const MarkedFolder begun{In(name), ready ? kRebuilt : kRebuilding};
      RETURN_IF_FAILED(ready && *kind == PathKind::kFolder && !env_->FileExists(In(place)).ok()
                           ? PutInPlace(name, place)
                           : begun.RemoveLeftover(env_));
    }
    return {};
  }
  Status PutInPlace(const std::string& name, const std::string& place) {
    return PutRebuiltInPlace(env_, root_, name, place);
  }

  Status RepairOnce(const DatabaseFindings& found) {
    for (const auto& [folder, findings] : found.stores) {
      if (findings.damages.empty()) continue;
      RETURN_IF_FAILED(RepairStore(env_, root_, folder, findings, &kept_, &report_));
    }
    const bool others = std::ranges::any_of(found.damages, [](const FileDamage& damage) {
      return !IsStoreFolder(damage.file.substr(0, damage.file.find('/')));
    });
    return others ? RepairShards(found) : Status();
  }

  Status RepairShards(const DatabaseFindings& found) {
    if (!found.identity) {
      // CURRENT may be all that keeps the shards from being asked.
      Status status = WriteCurrents(found);
      if (status.ok() && !wrote_current_) {
        status = Status::Corruption(In("SEENDB") +
                                    " can't be read, and no shard tells what was in it; restore a "
                                    "checkpoint");
      }
      return status;
    }
    bool put_back = false;
    Status status = PutFormersBack(found, &put_back);
    if (!status.ok() || put_back) return status;
    status = WriteCurrents(found);
    if (!status.ok() || (wrote_current_ && !options_.dry_run)) return status;
    if (found.identity_damage) status = RepairIdentity(*found.identity_damage, *found.identity);
    if (status.ok() && found.collections_damage) status = RenewFile(*found.collections_damage);
    for (uint32_t shard = 0; shard < found.identity->shards; ++shard) {
      if (!status.ok()) return status;
      const auto at = found.shards.find(shard);
      const bool missing = at == found.shards.end();
      const bool as_it_should =
          missing ? options_.as_found || !found.identity->ready : at->second.damages.empty();
      if (as_it_should) continue;
      if (options_.dry_run && !missing && NeedsCurrent(at->second)) continue;
      status = RepairShard(found, shard, missing ? ShardFindings{} : at->second);
    }
    return status;
  }

  // Shards that lie beside their places. All else is looked at when they are there.
  Status PutFormersBack(const DatabaseFindings& found, bool* any) {
    Status status;
    for (uint32_t shard = 0; found.identity->ready && shard < found.identity->shards; ++shard) {
      const auto at = found.shards.find(shard);
      const bool missing = at == found.shards.end();
      if (!status.ok() || (!missing && at->second.damages.empty())) continue;
      const auto former = FormerOf(env_, root_, ShardFile(shard), !missing, options_.as_found);
      if (!former) continue;
      status = PutFormerBack(shard, *former, missing);
      *any = true;
    }
    return status;
  }
  Status PutFormerBack(uint32_t shard, const std::string& former, bool missing) {
    const std::string place = ShardFile(shard);
    RepairedFile& done = Add({place, missing ? "missing" : "damaged", {}, {}, "the whole shard"},
                             former + " is put in its place");
    if (!missing) {
      const Result<std::string> kept = kept_.Keep(place, true);
      if (!kept.ok()) return kept.status();
      done.kept_as = *kept;
    }
    return options_.dry_run ? Status() : RenameFolder(env_, In(former), In(place));
  }

  bool IsThere(const std::string& file) const { return env_->FileExists(In(file)).ok(); }

  RepairedFile& Add(FileDamage damage, std::string action) {
    return report_.files.emplace_back(RepairedFile{std::move(damage), std::move(action), 0, 0, {}});
  }

  // ---- Small files ----

  Status RepairIdentity(const FileDamage& damage, const Identity& identity) {
    RepairedFile& done = Add(damage, "written anew from what the shards say");
    if (IsThere("SEENDB")) {
      const Result<std::string> kept = kept_.Keep("SEENDB", false);
      if (!kept.ok()) return kept.status();
      done.kept_as = *kept;
    }
    return options_.dry_run ? Status() : WriteIdentity(env_, root_, identity);
  }

  // All else is looked at when it has been written.
  static bool NeedsCurrent(const ShardFindings& findings) {
    return !findings.manifest.empty() &&
           std::any_of(findings.damages.begin(), findings.damages.end(),
                       [](const FileDamage& damage) { return damage.file == "CURRENT"; });
  }
  Status WriteCurrents(const DatabaseFindings& found) {
    wrote_current_ = false;
    for (const auto& [shard, findings] : found.shards) {
      for (const FileDamage& damage : findings.damages) {
        if (damage.file != "CURRENT" || findings.manifest.empty()) continue;
        FileDamage named = damage;
        named.file = ShardFile(shard, damage.file);
        RepairedFile& done = Add(named, "written anew: it names " + findings.manifest);
        wrote_current_ = true;
        if (IsThere(named.file)) {
          const Result<std::string> kept = kept_.Keep(named.file, false);
          if (!kept.ok()) return kept.status();
          done.kept_as = *kept;
        }
        if (options_.dry_run) continue;
        RETURN_IF_FAILED(ReplaceFile(env_, In(named.file), findings.manifest + "\n", true));
      }
    }
    return {};
  }

  // ---- A shard ----

  Status RepairShard(const DatabaseFindings& found, uint32_t shard, const ShardFindings& findings) {
    RETURN_IF_FAILED(RenewIdentity(*found.identity));
    if (HasRecordsAgain(findings)) return EndRepeats(shard, findings);
    const bool in_place =
        findings.opens && std::none_of(findings.damages.begin(), findings.damages.end(), IsTable);
    return in_place ? RepairInPlace(*found.identity, shard, findings)
                    : Rebuild(found, shard, findings);
  }

  // RocksDB can look at the shard in the next pass, which marks the loss that is noted here.
  Status EndRepeats(uint32_t shard, const ShardFindings& findings) {
    const std::string note = In(ShardFile(shard, kRepairName));
    for (FileDamage damage : findings.damages) {
      if (damage.detail != kRecordsAgain) continue;
      std::string loss = damage.file + " was damaged (" + damage.detail + ")", before;
      if (rocksdb::ReadFileToString(env_, note, &before).ok()) loss = before + "; " + loss;
      if (options_.dry_run) report_.losses.push_back(ShardFile(shard) + ": " + loss + ", or more");
      Status status = options_.dry_run ? Status() : ReplaceFile(env_, note, loss, true);
      damage.file = ShardFile(shard, damage.file);
      if (status.ok()) status = RepairLog(damage, findings);
      if (!status.ok()) return status;
    }
    return {};
  }

  // What a repair writes is of the present format.
  Status RenewIdentity(const Identity& identity) {
    if (!identity.older() || options_.dry_run) return {};
    return WriteIdentity(env_, root_, identity.Renewed());
  }

  Status RepairInPlace(const Identity& identity, uint32_t shard, const ShardFindings& findings) {
    const std::string note = ShardFile(shard, kRepairName);
    std::string loss;
    rocksdb::ReadFileToString(env_, In(note), &loss).PermitUncheckedError();
    for (const FileDamage& damage : findings.damages) {
      if (!IsLog(damage)) continue;
      loss += (loss.empty() ? "" : "; ") + damage.file + " is " + damage.kind;
      if (!damage.detail.empty()) loss += " (" + damage.detail + ")";
    }
    if (!loss.empty()) {
      report_.losses.push_back(ShardFile(shard) + ": plays and impressions in the log: " + loss +
                               kForgottenWithLog);
      // Before a log is changed: whoever comes after a kill must mark the loss.
      if (!options_.dry_run) {
        RETURN_IF_FAILED(ReplaceFile(env_, In(note), loss, true));
      }
    }
    for (FileDamage damage : findings.damages) {
      damage.file = ShardFile(shard, damage.file);
      RETURN_IF_FAILED(IsLog(damage) ? RepairLog(damage, findings) : RenewFile(damage));
    }
    if (options_.dry_run) return {};
    RETURN_IF_FAILED(OpenShard(identity, shard, loss));
    const rocksdb::Status removed = env_->DeleteFile(In(note));
    if (!removed.ok() && env_->FileExists(In(note)).ok())
      return FromRocks(removed, "remove " + note);
    return SyncFolder(env_, In(ShardFile(shard)));
  }

  // Files that an opening writes.
  Status RenewFile(const FileDamage& damage) {
    if (damage.file.ends_with(kRepairName)) {
      Add(damage, "gone on with");
      return {};
    }
    RepairedFile& done = Add(damage, "written anew");
    if (!IsThere(damage.file)) return {};
    const Result<std::string> kept = kept_.Keep(damage.file, true);
    if (kept.ok()) done.kept_as = *kept;
    return kept.status();
  }

  Status RepairLog(const FileDamage& damage, const ShardFindings& findings) {
    RepairedFile& done = Add(damage, "the loss is marked");
    for (const LogState& log : findings.logs) {
      if (!damage.file.ends_with("/" + LogName(log.number))) continue;
      done.salvaged = log.records;
      done.bytes_left = log.damaged_bytes != 0 ? log.damaged_bytes : log.bytes - log.sound_bytes;
    }
    if (!IsThere(damage.file)) return {};
    const bool unreadable = damage.kind == "unreadable";
    const Result<std::string> kept = kept_.Keep(damage.file, unreadable);
    if (!kept.ok()) return kept.status();
    done.kept_as = *kept;
    if (unreadable) return {};
    done.action = "written anew of the records that can be read; the loss is marked";
    if (options_.dry_run) return {};
    const std::string fresh = In(damage.file) + ".tmp";
    RETURN_IF_FAILED(RewriteLog(env_, In(damage.file), fresh, damage.detail == kRecordsAgain));
    return FromRocks(env_->RenameFile(fresh, In(damage.file)), "replace " + In(damage.file));
  }

  // ---- A shard made anew ----

  Status Rebuild(const DatabaseFindings& found, uint32_t shard, const ShardFindings& findings) {
    RebuildInput input;
    input.env = env_;
    input.from = In(ShardFile(shard));
    input.into = In(RebuiltName(shard));
    input.identity = {kFormatVersion, found.identity->id, shard, found.identity->shards,
                      found.identity->hash};
    input.findings = findings;
    input.policies = PoliciesOfOthers(env_, root_, found, shard);
    const Result<std::optional<CollectionRecords>> filed = ReadCollections(env_, root_);
    for (const auto& [name, record] :
         filed.ok() ? filed->value_or(CollectionRecords()) : CollectionRecords()) {
      if (!record.policy) continue;
      input.policies[name] = PolicyToJson(*record.policy);
      input.makings[name] = record.making;
    }
    input.repaired_before = env_->FileExists(In("damaged")).ok();
    input.now_ms = clock_->NowMs();
    const MarkedFolder begun{input.into, kRebuilding};
    RebuildOutcome outcome;
    const bool there = IsThere(ShardFile(shard));
    Status status;
    if (options_.dry_run) {
      outcome = TryTables(input);
    } else {
      status = begun.RemoveLeftover(env_);
      if (status.ok()) status = begun.Make(env_);
      if (status.ok()) status = RebuildShard(input, &outcome);
    }
    if (!status.ok()) {
      const Status removed = begun.RemoveLeftover(env_);
      static_cast<void>(removed);  // the next run removes what is left
      return status;
    }
    const Result<std::string> kept = kept_.Folder();
    if (!kept.ok()) return kept.status();
    const std::string kept_as = *kept + "/" + ShardFile(shard);
    for (const FileDamage& damage : findings.damages) {
      AddRebuilt(damage, shard, kept_as, findings, outcome);
    }
    if (!there) Add({ShardFile(shard), "missing", {}, {}, "the whole shard"}, "made anew, empty");
    for (const std::string& one : outcome.losses) report_.losses.push_back(ShardFile(shard, one));
    for (const std::string& one : outcome.notes) report_.notes.push_back(ShardFile(shard, one));
    if (options_.dry_run) return {};
    report_.notes.push_back(ShardFile(shard) + " was made anew of " + std::to_string(outcome.keys) +
                            " keys and " + std::to_string(outcome.records) +
                            " log records; its old folder is " + (there ? kept_as : "gone"));
    status = ReplaceFile(env_, input.into + "/" + kRebuilt, "", true);
    if (status.ok() && there) {
      status = FromRocks(env_->RenameFile(input.from, In(kept_as)), "move " + input.from);
      if (status.ok()) status = SyncFolder(env_, In(*kept));
    }
    if (status.ok()) status = PutInPlace(RebuiltName(shard), ShardFile(shard));
    return status.ok() ? OpenShard(*found.identity, shard, {}) : status;
  }

  void AddRebuilt(FileDamage damage, uint32_t shard, const std::string& kept_as,
                  const ShardFindings& findings, const RebuildOutcome& outcome) {
    const std::string name = damage.file;
    damage.file = ShardFile(shard, name);
    const bool there = IsThere(damage.file) || env_->FileExists(In(kept_as + "/" + name)).ok();
    RepairedFile& done = Add(std::move(damage), "the shard is made anew");
    if (there) done.kept_as = kept_as + "/" + name;
    if (const auto table = outcome.tables.find(name); table != outcome.tables.end()) {
      done.action = "what can be read of it is written anew, with the shard";
      done.salvaged = table->second.keys;
      done.bytes_left = table->second.bytes_left;
    }
    for (const LogState& log : findings.logs) {
      if (name != LogName(log.number)) continue;
      done.action = "its readable records are written anew, with the shard; the loss is marked";
      done.salvaged = log.records;
      done.bytes_left = log.damaged_bytes != 0 ? log.damaged_bytes : log.bytes - log.sound_bytes;
    }
  }

  // Opens the shard, marks what its log lost, and writes what an opening writes.
  Status OpenShard(const Identity& identity, uint32_t shard, const std::string& loss) {
    auto shared = std::make_shared<SharedResources>();
    shared->env = env_;
    shared->logs = logs_;
    shared->block_cache = rocksdb::NewLRUCache(8 << 20);
    shared->write_buffer_bytes = 64 << 20;
    shared->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(64 << 20);
    shared->statistics = rocksdb::CreateDBStatistics();
    shared->counters = std::make_shared<Counters>();
    ShardStoreOptions options;
    options.path = In(ShardFile(shard));
    options.database_id = identity.id;
    options.hash = identity.hash;
    options.shard = shard;
    options.shards = identity.shards;
    options.open_damaged = true;
    options.repairing = true;
    options.now_ms = clock_->NowMs();
    const Result<std::unique_ptr<ShardStore>> store = ShardStore::Open(options, shared);
    if (!store.ok()) return store.status();
    if (!loss.empty()) {
      uint64_t users = 0;
      RETURN_IF_FAILED((*store)->RepeatErasures(&users));
      if (users > 0) {
        report_.notes.push_back(ShardFile(shard) +
                                ": what erasures and cleared filters had taken of " +
                                std::to_string(users) + " users was there: deleted again");
      }
      RETURN_IF_FAILED((*store)->MarkLogLost(loss + kForgottenWithLog));
      // Logs with a gap between them are let go.
      RETURN_IF_FAILED((*store)->tables().FlushAll());
    }
    return (*store)->SyncWal();
  }

  std::string root_;
  const RepairOptions options_;
  const std::shared_ptr<OpenLogs> logs_ = std::make_shared<OpenLogs>();
  const std::unique_ptr<rocksdb::Env> ordered_;
  rocksdb::Env* const env_;
  const Clock* const clock_;
  std::unique_ptr<DatabaseLock> lock_;
  KeptFiles kept_;
  bool wrote_current_ = false;
  RepairReport report_;
};

}  // namespace

Result<RepairReport> Repair(const std::string& path, const RepairOptions& options) {
  return Repair(path, options, Seams{});
}

Result<RepairReport> Repair(const std::string& path, const RepairOptions& options,
                            const Seams& seams) {
  return Repairer(path, options, seams).Run();
}

}  // namespace seendb
