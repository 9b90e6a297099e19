#include "sets/store.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include "base/facts.h"
#include "base/folder_sync.h"
#include "format/bytes.h"
#include "sets/piece_codec.h"
#include "sets/set_rows.h"
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

rocksdb::ReadOptions WalkOptions() {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  return options;
}

rocksdb::WriteOptions Synced() {
  rocksdb::WriteOptions options;
  options.sync = true;
  return options;
}

Status NoSuchSet(std::string_view name) {
  return Status::NotFound("no set \"" + std::string(name) + "\"");
}

Status ClosedStore() { return Status::Closed("the store of sets is closed"); }

uint64_t NewNonce() {
  std::random_device chance;
  return uint64_t{chance()} << 32 | chance();
}

/// The canonical texts of ids, ascending, each once. They borrow from the ids and from `digits`.
std::vector<std::string_view> CanonicalTexts(std::span<const IdRef> items, std::string* digits) {
  const auto numbers =
      std::count_if(items.begin(), items.end(), [](const IdRef& id) { return id.is_number(); });
  digits->reserve(static_cast<size_t>(numbers) * kMaxDecimalDigits);  // it must not move
  std::vector<std::string_view> texts;
  texts.reserve(items.size());
  for (const IdRef& id : items) {
    const size_t begin = digits->size();
    if (id.is_number()) id.AppendTo(digits);
    texts.push_back(id.is_number() ? std::string_view(*digits).substr(begin) : id.text());
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

Status CheckSetItems(std::span<const IdRef> items) {
  if (items.size() > kMaxSetItems) {
    return Status::InvalidArgument("more than " + std::to_string(kMaxSetItems) + " ids", "/items");
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Status valid = items[i].Validate();
    if (!valid.ok()) return valid.WithFieldPrefix("/items/" + std::to_string(i));
  }
  return {};
}

uint64_t TextBytes(std::span<const std::string_view> ids) {
  uint64_t bytes = 0;
  for (const std::string_view id : ids) bytes += id.size();
  return bytes;
}

/// Puts together what was read of a set. Null: it is too large to be one.
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

}  // namespace

Store::Store(const SetStoreOptions& options)
    : bytes_(std::min(options.bytes, kMaxSetBytes)), now_ms_(options.now_ms) {}

Status Store::OpenDatabase(const std::string& path) {
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

Status Store::Load(const std::string& path) {
  if (Status status = OpenDatabase(path); !status.ok()) return status;
  if (Status status = SyncFolderOf(path); !status.ok()) return status;
  Sets read;
  Status status =
      ReadAll([&](const std::string& name, SetPtr set) { read[name] = std::move(set); });
  if (!status.ok()) return status;
  const MutexLock lock(sets_mutex_);
  sets_ = std::move(read);
  return {};
}

Status Store::CheckFormat() {
  std::string format;
  const rocksdb::Status read = db_->Get({}, kFormatKey, &format);
  if (read.IsNotFound()) {
    return FromRocks(db_->Put(Synced(), kFormatKey, kFormat), "write the format of the sets");
  }
  if (!read.ok()) return FromRocks(read, "read the format of the sets");
  if (format == kFormat) return {};
  return Status::Incompatible("the sets have format " + format + ", this software has " + kFormat);
}

Status Store::ReadAll(const std::function<void(const std::string&, SetPtr)>& take) const {
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
    if (const std::string newer = NewerText(value); !newer.empty()) {
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

int64_t Store::NowMs() const {
  if (now_ms_) return now_ms_();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Store::SetPtr Store::Get(std::string_view name) const {
  const MutexLock lock(sets_mutex_);
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : found->second;
}

Status Store::CheckRoom(std::string_view name, uint64_t bytes) const {
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

Status Store::DeletePieces(std::string_view name, rocksdb::WriteBatch* batch) const {
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(WalkOptions()));
  const std::string prefix = KeyPrefix(name);
  for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
    if (NameInKey(rows->key().ToStringView()) == name) batch->Delete(rows->key());
  }
  return FromRocks(rows->status(), "read the former set");
}

// The former pieces go with the same write: whoever opens the store finds one version.
Status Store::Write(std::string_view name, std::span<const std::string_view> ids,
                    const Version& version) {
  rocksdb::WriteBatch batch;
  if (Status status = DeletePieces(name, &batch); !status.ok()) return status;
  Piece piece{.name = name, .version = version};
  piece.pieces =
      static_cast<uint32_t>(std::max<size_t>(1, (ids.size() + kPieceItems - 1) / kPieceItems));
  for (; piece.number < piece.pieces; ++piece.number) {
    const std::span<const std::string_view> rest = ids.subspan(piece.number * kPieceItems);
    const std::span<const std::string_view> own = rest.first(std::min(rest.size(), kPieceItems));
    piece.ids.assign(own.begin(), own.end());
    batch.Put(KeyOf(piece), EncodePiece(piece));
  }
  return FromRocks(db_->Write(Synced(), &batch), "write the set");
}

Result<SetInfo> Store::Put(std::string_view name, std::span<const IdRef> items) {
  Status status = CheckSetName(name);
  if (status.ok()) status = CheckSetItems(items);
  if (!status.ok()) return status;
  std::string digits;
  const std::vector<std::string_view> ids = CanonicalTexts(items, &digits);
  const MutexLock lock(write_mutex_);
  if (closed_) return ClosedStore();
  status = CheckRoom(name, MemorySet::BytesOf(ids.size(), TextBytes(ids)));
  if (!status.ok()) return status;
  SetPtr former = Get(name);  // let go at the end, behind the lock of the sets
  Version version{NowMs(), NewNonce()};
  version.begun_ms = std::max<int64_t>(version.begun_ms, 1);
  if (former != nullptr) {
    version.begun_ms = std::max(version.begun_ms, former->version().begun_ms + 1);
  }
  SetPtr set = std::make_shared<const MemorySet>(ids, version, false);
  status = Write(name, ids, version);
  if (!status.ok()) return status;
  SetInfo info{std::string(name), set->count(), set->bytes(), version.begun_ms, false};
  const MutexLock publish(sets_mutex_);
  sets_[info.name] = std::move(set);
  return info;
}

Status Store::Delete(std::string_view name) {
  const MutexLock lock(write_mutex_);
  if (closed_) return ClosedStore();
  const SetPtr former = Get(name);
  if (former == nullptr) return NoSuchSet(name);
  rocksdb::WriteBatch batch;
  Status status = DeletePieces(name, &batch);
  if (status.ok()) status = FromRocks(db_->Write(Synced(), &batch), "delete the set");
  if (!status.ok()) return status;
  const MutexLock publish(sets_mutex_);
  sets_.erase(sets_.find(name));
  return {};
}

std::shared_ptr<const ItemSet> Store::Find(std::string_view name) const { return Get(name); }

std::vector<SetInfo> Store::List() const {
  const MutexLock lock(sets_mutex_);
  std::vector<SetInfo> all;
  all.reserve(sets_.size());
  for (const auto& [name, set] : sets_) {
    all.push_back({name, set->count(), set->bytes(), set->version().begun_ms, set->damaged()});
  }
  return all;
}

Result<SetPage> Store::Read(std::string_view name, std::string_view after, size_t limit) const {
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

Result<std::vector<std::string>> Store::Verify() const {
  if (closed_) return ClosedStore();
  std::vector<std::string> damaged;
  const Status read = ReadAll([&](const std::string& name, const SetPtr& set) {
    if (set->damaged()) damaged.push_back(name);
  });
  if (!read.ok()) return read;
  return damaged;
}

Status Store::Checkpoint(const std::string& path) {
  if (closed_) return ClosedStore();
  rocksdb::Checkpoint* made = nullptr;
  if (rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made); !status.ok()) {
    return FromRocks(status, "copy the sets");
  }
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  return FromRocks(checkpoint->CreateCheckpoint(path), "copy the sets to " + path);
}

Status Store::Close() {
  const MutexLock lock(write_mutex_);
  if (closed_.exchange(true)) return ClosedStore();
  return FromRocks(db_->Close(), "close the sets");
}

}  // namespace seendb::sets

namespace seendb {

Result<std::unique_ptr<SetStore>> SetStore::Open(const std::string& path,
                                                 const SetStoreOptions& options) {
  auto store = std::make_unique<sets::Store>(options);
  if (Status status = store->Load(path); !status.ok()) return status;
  return std::unique_ptr<SetStore>(std::move(store));
}

Status SetStore::Copy(const std::string& path, const std::string& to) {
  std::error_code none;
  if (!std::filesystem::exists(path + "/CURRENT", none)) {
    return Status::NotFound("there are no sets in " + path);
  }
  sets::Store store({});
  Status status = store.OpenDatabase(path);
  if (status.ok()) status = store.Checkpoint(to);
  return status;
}

}  // namespace seendb
