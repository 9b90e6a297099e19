// A shard and damage: what is checked before RocksDB sees its files, opening without tables that
// can't be opened, and what is lost for good.

#include <algorithm>
#include <utility>

#include "base/return_if_failed.h"
#include "store/copy_file.h"
#include "store/files.h"
#include "store/placeholder.h"
#include "store/shard_opening.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr char kRestore[] = "; put the file back, restore a checkpoint, or run: seendb repair";

constexpr char kGoOn[] =
    "; restore a checkpoint, or run: seendb repair (open_damaged goes on without)";

std::string TextOf(const std::vector<LogShortage>& shortages) {
  std::string missing, text;
  for (const LogShortage& log : shortages) {
    if (log.missing) {
      missing += (missing.empty() ? "logs are missing: " : ", ") + LogName(log.number);
      continue;
    }
    text += (text.empty() ? "" : ", ") + LogName(log.number) + " has " + std::to_string(log.bytes) +
            " of " + std::to_string(log.bytes_was) + " bytes";
  }
  return missing + (missing.empty() || text.empty() ? "" : "; ") + text;
}

bool CanPlaceholder(std::string_view family) {
  const Table* const kind = ParseFamilyName(family).kind;
  return kind != nullptr && kind->may_be_missing;
}

template <typename Buckets>
bool HasBucket(const Buckets& buckets, std::string_view label) {
  return std::any_of(buckets.begin(), buckets.end(),
                     [&](const auto& bucket) { return bucket.second->label == label; });
}

// Whether the collection still has what that part of a DataLossSet is about.
bool HasPart(const CollectionFamilies& of, std::string_view part) {
  if (part == DataLossSet::kLog || part == kImpressionsLabel || part == kExposuresLabel ||
      part == kCountsLabel) {
    return true;
  }
  constexpr std::string_view kHistory = kHistoryLabelPrefix;
  return part.starts_with(kHistory) ? HasBucket(of.history, part.substr(kHistory.size()))
                                    : HasBucket(of.buckets, part);
}

std::string TextOf(const DamagedTable& table) {
  return table.path + " (family " + table.family + ") can't be opened: " + table.error;
}

}  // namespace

// Before RocksDB opens the shard: it would delete every file that a shortened MANIFEST does not
// name.
Status ShardOpening::CheckFiles() {
  rocksdb::Env* env = shared_->env;
  logs_ = ReadLogNotes(env, options_.path);
  if (options_.create && !env->FileExists(options_.path + "/CURRENT").ok()) return {};
  if (!options_.repairing && env->FileExists(options_.path + "/" + kRepairName).ok()) {
    return Status::Corruption("a repair was begun and not finished; run: seendb repair");
  }
  const Status manifest = CheckManifest(env, options_.path, logs_.noted);
  if (!manifest.ok()) return Status(manifest.code(), std::string(manifest.message()) + kRestore);
  RETURN_IF_FAILED(ReadLogs(env, options_.path, &logs_));
  const std::string repeats = RepeatsText(logs_);
  if (!repeats.empty()) return Status::Corruption(repeats + kRestore);
  const std::vector<LogShortage> shortages = ShortagesOf(logs_);
  log_loss_ = shortages.empty() ? LackSyncedText(logs_) : TextOf(shortages);
  if (log_loss_.empty()) return {};
  return options_.open_damaged ? Status() : Status::Corruption(log_loss_ + kGoOn);
}

// A journal record or an erasure that only newer software reads is not passed over: before anything
// is written, the opening is refused. To look at the rest (verify) it goes on, as over a loss; so
// does a repair, which leaves them as they are.
Status ShardOpening::CheckNewer() {
  if (options_.repairing) return {};
  for (const Opened& opened : opened_) {
    const Table& kind = *opened.name.kind;
    if (kind.newer_reason == nullptr) continue;
    const rocksdb::Slice end(kind.newer_end.data(), kind.newer_end.size());
    rocksdb::ReadOptions options;
    if (!end.empty()) options.iterate_upper_bound = &end;
    const std::unique_ptr<rocksdb::Iterator> it(
        database_.db_->NewIterator(options, opened.family->get()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string_view key = it->key().ToStringView();
      const std::string reason = kind.newer_reason(it->value().ToStringView());
      if (reason.empty()) continue;
      const std::string text = opened.family->name() + ", " + kind.key_text(key) + ": " + reason;
      if (!options_.read_only || !options_.open_damaged) return Status::Incompatible(text);
      log_loss_ += (log_loss_.empty() ? "" : "; ") + text;
      break;
    }
    if (!it->status().ok()) return FromRocks(it->status(), "read " + opened.family->name());
  }
  return {};
}

rocksdb::Status ShardOpening::OpenRocks(
    const rocksdb::DBOptions& db_options,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
    std::vector<rocksdb::ColumnFamilyHandle*>* handles) {
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      options_.read_only
          ? rocksdb::DB::OpenForReadOnly(db_options, options_.path, families, handles, &db)
          : rocksdb::DB::Open(db_options, options_.path, families, handles, &db);
  if (status.ok()) database_.db_.reset(db);
  if (status.ok() && !options_.read_only) {
    database_.log_sync_ =
        std::make_unique<LogSync>(FolderOf(options_.path + "/" + LogName(0)), shared_->logs,
                                  [db] { return db->GetLatestSequenceNumber(); });
  }
  return status;
}

// A table that can't be opened keeps only its bucket from being read: it is tried again with
// placeholders for those. What a shard can't do without gets no placeholder.
Status ShardOpening::OpenWithPlaceholders(
    rocksdb::DBOptions db_options, const rocksdb::Status& refused,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
    std::vector<rocksdb::ColumnFamilyHandle*>* handles) {
  Status failed = FromRocks(refused, "open");
  if (!refused.IsCorruption() && !refused.IsIOError()) return failed;
  Result<std::vector<DamagedTable>> tables = FindDamagedTables(db_options, options_.path, families);
  if (!tables.ok() || tables->empty()) {
    return Status(failed.code(), std::string(failed.message()) + kRestore);
  }
  for (const DamagedTable& table : *tables) {
    if (!CanPlaceholder(table.family)) return Status::Corruption(TextOf(table) + kRestore);
  }
  Result<std::unique_ptr<rocksdb::Env>> env = NewPlaceholderEnv(shared_->env, *tables);
  if (!env.ok()) return env.status();
  database_.placeholders_ = std::move(env).value();
  db_options.env = database_.placeholders_.get();
  db_options.verify_sst_unique_id_in_manifest = false;
  const rocksdb::Status status = OpenRocks(db_options, families, handles);
  if (!status.ok()) return FromRocks(status, TextOf(tables->front()) + "; open without");
  for (const DamagedTable& table : *tables) database_.problems().Add(TextOf(table));
  return {};
}

// Sets what the markers say into `set`, which is not published yet.
Status ShardOpening::LoadLosses(FamilySet* set) {
  const std::unique_ptr<rocksdb::Iterator> it(database_.db_->NewIterator({}, database_.meta()));
  for (it->Seek(kLostPrefix); it->Valid() && it->key().starts_with(kLostPrefix); it->Next()) {
    const std::string name = it->key().ToString().substr(sizeof(kLostPrefix) - 1);
    std::optional<DataLoss> read = DataLoss::FromJson(it->value().ToStringView());
    if (!read) read = DataLoss{options_.now_ms, "the marker is damaged", {}};
    const size_t slash = name.find('/');
    const auto at = set->collections.find(name.substr(0, slash));
    if (at == set->collections.end()) continue;
    const std::string part = slash == std::string::npos ? "" : name.substr(slash + 1);
    if (!HasPart(at->second, part)) continue;
    database_.problems().Add("lost: " + name + ": " + read->reason);
    at->second.losses.Add(part, *read);
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read what was lost");
  std::string text;
  const rocksdb::Status got = database_.db_->Get({}, database_.meta(), kLostOwnKey, &text);
  if (got.IsNotFound() || set->own == nullptr) return {};
  if (!got.ok()) return FromRocks(got, "read what was lost");
  std::optional<DataLoss> read = DataLoss::FromJson(text);
  if (!read) read = DataLoss{options_.now_ms, "the marker is damaged", {}};
  database_.problems().Add("lost: own: " + read->reason);
  set->own_losses.Add(kOwnLabel, *read);
  return {};
}

// Nobody can tell whose plays were in a log, nor of which buckets: every user's, of all buckets
// that could take plays.
Status ShardStore::MarkLogLost(const DataLoss& loss) {
  problems().Add(loss.reason);
  const MutexLock change(tables_.change_mutex());
  auto set = std::make_shared<FamilySet>(*families());
  for (auto& [name, collection] : set->collections) {
    const DataLoss& losses = collection.losses.Add(DataLossSet::kLog, loss);
    if (database_.options().read_only) continue;
    RETURN_IF_FAILED(database_.PutMeta(LostKey(name), losses.ToJson()));
  }
  database_.Publish(std::move(set));
  return database_.options().read_only ? Status() : ForgetSources();
}

Status ShardStore::NoteFormerLost(const std::string& reason) {
  return database_.PutMeta(kFormerLostKey,
                           DataLoss{database_.options().now_ms, reason, {}}.ToJson());
}

// The note goes last: an opening after a crash in between marks the collections again.
Status ShardStore::MarkFormerLost() {
  std::string note;
  const rocksdb::Status got = db()->Get({}, meta(), kFormerLostKey, &note);
  if (got.IsNotFound()) return {};
  if (!got.ok()) return FromRocks(got, "read what was lost before");
  const std::optional<DataLoss> read = DataLoss::FromJson(note);
  const Status marked =
      read ? MarkLogLost(*read) : MarkLogLost("the note of what was lost before is damaged");
  if (!marked.ok() || database_.options().read_only) return marked;
  return FromRocks(db()->Delete(Synced(), meta(), kFormerLostKey), "mark what was lost before");
}

// Tables may have kept offsets whose plays were in the log: what a queue still has is read again
// from its beginning. That there were some is kept: else a queue of which no shard knows anything
// would be taken for a new one, and be read from where the settings say.
Status ShardStore::ForgetSources() {
  rocksdb::WriteBatch batch;
  std::vector<std::string> topics;
  const std::unique_ptr<rocksdb::Iterator> it(db()->NewIterator({}, meta()));
  for (const MetaKey& kind : kMetaKeys) {
    if (!kind.lost_with_log) continue;
    const rocksdb::Slice prefix(kind.key.data(), kind.key.size());
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      std::string_view name = it->key().ToStringView();
      if (kind.key == kSourcePrefix) {
        name.remove_prefix(kind.key.size());
        topics.push_back(std::string(kTopicPrefix).append(name));
      } else if (SaysForgotten(it->value().ToStringView())) {
        continue;
      }
      const rocksdb::Status gone = batch.Delete(meta(), it->key());
      if (!gone.ok()) return FromRocks(gone, "forget the offsets");
    }
    if (!it->status().ok()) return FromRocks(it->status(), "read the offsets");
  }
  for (const std::string& topic : topics) {
    const rocksdb::Status kept = batch.Put(meta(), topic, ForgottenTopicState());
    if (!kept.ok()) return FromRocks(kept, "forget the offsets");
  }
  if (batch.Count() == 0) return {};
  return FromRocks(db()->Write(Synced(), &batch), "forget the offsets");
}

void ShardStore::FindDamagedOf(std::string_view user, std::vector<std::string>* keys) const {
  const std::unique_ptr<rocksdb::Iterator> it(db()->NewIterator({}, meta()));
  for (it->Seek(kDamagedPrefix); it->Valid() && it->key().starts_with(kDamagedPrefix); it->Next()) {
    if (it->value().ToStringView().find(user) == std::string_view::npos) continue;
    keys->push_back(it->key().ToString());
  }
}

}  // namespace seendb
