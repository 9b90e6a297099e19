#include "sets/base_store.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include <rocksdb/utilities/checkpoint.h>

#include "base/folder_sync.h"
#include "sets/piece_codec.h"
#include "sets/set_ids.h"
#include "store/status.h"

namespace seendb::sets {
namespace {

constexpr size_t kWriteBuffer = size_t{4} << 20;  // sets change seldom

rocksdb::Options SetDatabaseOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.max_background_jobs = 2;
  options.write_buffer_size = kWriteBuffer;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = 4;
  options.max_log_file_size = size_t{16} << 20;
  return options;
}

uint64_t NewNonce() {
  std::random_device chance;
  return uint64_t{chance()} << 32 | chance();
}

}  // namespace

std::shared_ptr<const MemorySet> Assemble(const ReadVersion& read) {
  std::vector<std::string_view> ids;
  bool damaged = !read.whole();
  for (const std::string& value : read.values) {
    Piece piece;
    if (!ParsePiece(value, &piece)) continue;
    damaged = damaged || (!ids.empty() && !piece.ids.empty() && piece.ids.front() <= ids.back());
    ids.insert(ids.end(), piece.ids.begin(), piece.ids.end());
  }
  if (damaged) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  if (MemorySet::BytesOf(ids.size(), TextBytes(ids)) > kMaxSetBytes) return nullptr;
  return std::make_shared<const MemorySet>(ids, read.version, damaged);
}

Status NoSuchSet(std::string_view name) {
  return Status::NotFound("no set \"" + std::string(name) + "\"");
}

BaseStore::BaseStore(const SetStoreOptions& options)
    : bytes_(std::min(options.bytes, kMaxSetBytes)), now_ms_(options.now_ms) {}

rocksdb::ReadOptions BaseStore::WalkOptions() {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  return options;
}

Status BaseStore::ClosedStore() { return Status::Closed("the store of sets is closed"); }

Status BaseStore::OpenDatabase(const std::string& path) {
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(SetDatabaseOptions(), path, &db);
  if (!opened.ok()) {
    // RocksDB has no code of its own for this: it names its file LOCK.
    const bool locked = opened.IsIOError() && opened.ToString().find("LOCK") != std::string::npos;
    if (locked) return Status::Busy("the sets in " + path + " are open already");
    return FromRocks(opened, "open the sets in " + path);
  }
  db_.reset(db);
  return CheckFormat();
}

Status BaseStore::Load(const std::string& path) {
  if (Status status = OpenDatabase(path); !status.ok()) return status;
  if (Status status = SyncFolderOf(path); !status.ok()) return status;
  return ReadSets();
}

Status BaseStore::ReadSets() {
  Sets read;
  Status status =
      ReadAll([&](const std::string& name, SetPtr set) { read[name] = std::move(set); });
  if (!status.ok()) return status;
  {
    const MutexLock lock(sets_mutex_);
    sets_.swap(read);
  }
  return {};  // the former sets go behind the lock
}

Status BaseStore::CheckFormat() {
  std::string format;
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const rocksdb::Status read = db_->Get({}, kFormatKey, &format);
  if (read.IsNotFound()) {
    return FromRocks(db_->Put(synced, kFormatKey, kFormat), "write the format of the sets");
  }
  if (!read.ok()) return FromRocks(read, "read the format of the sets");
  if (format == kFormat) return {};
  return Status::Incompatible("the sets have format " + format + ", this software has " + kFormat);
}

Status BaseStore::ReadAll(const std::function<void(const std::string&, SetPtr)>& take) const {
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(WalkOptions()));
  std::string name;
  SetReader reader;
  const auto finish = [&]() -> Status {
    if (name.empty()) return {};
    SetPtr set = Assemble(reader.Best());
    if (set == nullptr) return Status::Corruption("the set \"" + name + "\" is too large");
    take(name, std::move(set));
    reader = {};
    return {};
  };
  for (rows->Seek(std::string(kSetPrefix)); rows->Valid(); rows->Next()) {
    const std::string_view value = rows->value().ToStringView();
    const std::string_view of = NameInKey(rows->key().ToStringView());
    if (of.empty()) return Status::Corruption("the sets have a key that is of no set");
    if (const std::string newer = NewerPieceText(value); !newer.empty()) {
      return Status::Incompatible("the set \"" + std::string(of) + "\": " + newer);
    }
    if (of != name) {
      if (Status status = finish(); !status.ok()) return status;
      name = of;
    }
    reader.Take(value);
  }
  if (!rows->status().ok()) return FromRocks(rows->status(), "read the sets");
  return finish();
}

int64_t BaseStore::NowMs() const {
  if (now_ms_) return now_ms_();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Version BaseStore::NewVersion(const MemorySet* former) const {
  Version version{std::max<int64_t>(NowMs(), 1), NewNonce()};
  if (former != nullptr) {
    version.begun_ms = std::max(version.begun_ms, former->version().begun_ms + 1);
  }
  return version;
}

BaseStore::SetPtr BaseStore::Get(std::string_view name) const {
  const MutexLock lock(sets_mutex_);
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : found->second;
}

void BaseStore::Publish(std::string_view name, SetPtr set) {
  const MutexLock lock(sets_mutex_);
  if (set == nullptr) {
    const auto found = sets_.find(name);
    if (found != sets_.end()) set = std::move(found->second);  // let go behind the lock
    if (found != sets_.end()) sets_.erase(found);
    return;
  }
  sets_[std::string(name)].swap(set);
}

Status BaseStore::CheckRoom(std::string_view name, uint64_t bytes) const {
  const MutexLock lock(sets_mutex_);
  uint64_t others = 0;
  for (const auto& [other, set] : sets_) others += other == name ? 0 : set->bytes();
  if (others + bytes > bytes_) {
    return Status::Busy("the set takes " + std::to_string(bytes) + " bytes, the other sets " +
                        std::to_string(others) + ": more than " + std::to_string(bytes_) +
                        " together");
  }
  if (sets_.size() < kMaxSets || sets_.contains(name)) return {};
  return Status::Incompatible(std::to_string(kMaxSets) + " sets are there already");
}

Status BaseStore::DeletePieces(std::string_view name, rocksdb::WriteBatch* batch) const {
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(WalkOptions()));
  const std::string prefix = KeyPrefix(name);
  for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
    if (NameInKey(rows->key().ToStringView()) == name) batch->Delete(rows->key());
  }
  return FromRocks(rows->status(), "read the former set");
}

Status BaseStore::Write(rocksdb::WriteBatch* batch, bool sync, const char* what) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  return FromRocks(db_->Write(options, batch), what);
}

std::shared_ptr<const ItemSet> BaseStore::Find(std::string_view name) const { return Get(name); }

std::vector<SetInfo> BaseStore::List() const {
  const MutexLock lock(sets_mutex_);
  std::vector<SetInfo> all;
  all.reserve(sets_.size());
  for (const auto& [name, set] : sets_) {
    all.push_back({name, set->count(), set->bytes(), set->version().begun_ms, set->damaged()});
  }
  return all;
}

Result<SetPage> BaseStore::Read(std::string_view name, std::string_view after, size_t limit) const {
  if (limit < 1 || limit > kMaxSetPage) {
    return Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxSetPage), "/limit");
  }
  const SetPtr set = Get(name);
  if (set == nullptr) return NoSuchSet(name);
  SetPage page;
  page.info = {std::string(name), set->count(), set->bytes(), set->version().begun_ms,
               set->damaged()};
  if (set->Read(after, limit, &page.items)) page.after = page.items.back();
  return page;
}

Result<std::vector<std::string>> BaseStore::Verify() const {
  if (closed_) return ClosedStore();
  std::vector<std::string> damaged;
  const Status read = ReadAll([&](const std::string& name, const SetPtr& set) {
    if (set->damaged()) damaged.push_back(name);
  });
  if (!read.ok()) return read;
  return damaged;
}

Status BaseStore::Checkpoint(const std::string& path) {
  if (closed_) return ClosedStore();
  rocksdb::Checkpoint* made = nullptr;
  if (rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made); !status.ok()) {
    return FromRocks(status, "copy the sets");
  }
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  return FromRocks(checkpoint->CreateCheckpoint(path), "copy the sets to " + path);
}

Status BaseStore::Close() {
  const MutexLock lock(write_mutex_);
  if (closed_.exchange(true)) return ClosedStore();
  return FromRocks(db_->Close(), "close the sets");
}

}  // namespace seendb::sets
