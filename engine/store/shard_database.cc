#include "store/shard_database.h"

#include <cassert>
#include <map>
#include <string>
#include <utility>

#include <rocksdb/convenience.h>

#include "base/return_if_failed.h"
#include "store/files.h"
#include "store/status.h"

namespace seendb {
rocksdb::WriteOptions NotSynced() {
  rocksdb::WriteOptions options;
  options.ignore_missing_column_families = true;
  return options;
}

rocksdb::WriteOptions Synced() {
  rocksdb::WriteOptions options = NotSynced();
  options.sync = true;
  return options;
}

ShardDatabase::ShardDatabase(ShardStoreOptions options, std::shared_ptr<SharedResources> shared)
    : options_(std::move(options)),
      shared_(std::move(shared)),
      problems_(std::make_shared<ProblemList>()),
      families_(std::make_shared<FamilySet>()) {}

void ShardDatabase::Close() {
  Publish(std::make_shared<FamilySet>());
  {
    const WriterLock lock(mutex_);
    ring_.clear();
  }
  users_.reset();
  meta_.reset();
  log_sync_.reset();
  if (db_) db_->Close().PermitUncheckedError();
  db_.reset();
  placeholders_.reset();
  {
    const MutexLock lock(sync_mutex_);
    noted_sequence_ = 0;
    noted_files_ = {};
  }
  family_count_ = 0;
}

void ShardDatabase::BeginReopening(int64_t now_ms) {
  options_.now_ms = now_ms;
  options_.create = options_.read_only = false;
  giving_up_ = false;
}

std::shared_ptr<const FamilySet> ShardDatabase::families() const {
  const ReaderLock lock(mutex_);
  return families_;
}

void ShardDatabase::Publish(std::shared_ptr<const FamilySet> families) {
  std::map<std::string, std::string> policies;
  for (const auto& [name, of] : families->collections) policies[name] = PolicyToJson(of.policy);
  const WriterLock lock(mutex_);
  families_.swap(families);
  policies_.swap(policies);
}

void ShardDatabase::NameFamilies(Inventory* files) const {
  for (const std::shared_ptr<Family>& family : OpenTables()) {
    files->families[family->get()->GetID()] = family->name();
  }
  const ReaderLock lock(mutex_);
  for (const auto& [name, policy] : policies_) files->policies[name] = policy;
}

std::shared_ptr<Family> ShardDatabase::ring_family(uint32_t slot) const {
  const ReaderLock lock(mutex_);
  return slot < ring_.size() ? ring_[slot] : nullptr;
}

uint32_t ShardDatabase::ring_families() const {
  const ReaderLock lock(mutex_);
  return static_cast<uint32_t>(ring_.size());
}

void ShardDatabase::PublishRingFamily(uint32_t slot, std::shared_ptr<Family> family) {
  const WriterLock lock(mutex_);
  assert(slot < ring_.size());
  ring_[slot] = std::move(family);
}

std::vector<std::shared_ptr<Family>> ShardDatabase::OpenTables() const {
  std::vector<std::shared_ptr<Family>> all{meta_, users_};
  const ReaderLock lock(mutex_);
  for (const std::shared_ptr<Family>& family : ring_) {
    if (family) all.push_back(family);
  }
  const auto add = [&all](const std::shared_ptr<Family>& family) { all.push_back(family); };
  if (families_->own) add(families_->own);
  for (const auto& [name, families] : families_->collections) families.ForEachFamily(add);
  return all;
}

Status ShardDatabase::PutMeta(const std::string& key, const std::string& value) {
  return FromRocks(db_->Put(Synced(), meta(), key, value), "write " + key);
}

Result<std::shared_ptr<Family>> ShardDatabase::CreateFamily(const std::string& name,
                                                            const TableRules& rules) {
  const Table& kind = *ParseFamilyName(name).kind;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status status =
      db_->CreateColumnFamily(FamilyOptions(kind, rules, shared_->block_cache), name, &handle);
  if (!status.ok()) return InDoubt(status, "make the family " + name);
  ++family_count_;
  return std::make_shared<Family>(db_.get(), handle, kind);
}

Status ShardDatabase::DropFamilies(const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                                   std::string_view what) {
  const rocksdb::Status dropped = db_->DropColumnFamilies(families);
  if (!dropped.ok()) return InDoubt(dropped, what);
  family_count_ -= static_cast<uint32_t>(families.size());
  return {};
}

Inventory ShardDatabase::NotedFiles() {
  Inventory noted;
  {
    const MutexLock lock(sync_mutex_);
    noted = noted_files_;
  }
  NameFamilies(&noted);
  return noted;
}

Status ShardDatabase::SyncWal() {
  RETURN_IF_FAILED(CheckWritable());
  if (options_.read_only) return {};
  const MutexLock lock(sync_mutex_);
  Inventory files = TakeInventory(db_.get(), noted_files_);
  NameFamilies(&files);
  const uint64_t sequence = db_->GetLatestSequenceNumber();
  if (sequence == noted_sequence_ && files == noted_files_) return {};
  const rocksdb::Status status = log_sync_->SyncTo(sequence);
  if (!status.ok()) return InDoubt(status, "sync the log");
  // The folder is synced too by now: no log is noted that a power loss could take.
  RETURN_IF_FAILED(WriteSyncedSequence(shared_->env, options_.path, sequence));
  noted_sequence_ = sequence;
  // A list that could not be written says less, nothing wrong.
  if (files.manifest.empty()) return {};
  if (WriteInventory(shared_->env, options_.path, files).ok()) noted_files_ = files;
  return {};
}

Status ShardDatabase::CheckWritable() const {
  if (!problems_->stopped()) return {};
  return Status::IOError("shard " + std::to_string(options_.shard) +
                         " takes no writes until its disk does: " + problems_->why_stopped());
}

// A family that failed to be made may be there, without a handle; one that failed to be dropped may
// be gone; a log that failed to be synced may lack anything. What holds is found by opening the
// shard anew.
Status ShardDatabase::InDoubt(const rocksdb::Status& status, std::string_view what) {
  Status failed = FromRocks(status, what);
  problems_->Stop(failed.ToString());
  problems_->Add("RocksDB: " + failed.ToString());
  return failed;
}

void ShardDatabase::GiveUp() {
  giving_up_ = true;
  if (db_) rocksdb::CancelAllBackgroundWork(db_.get(), false);
}

}  // namespace seendb
