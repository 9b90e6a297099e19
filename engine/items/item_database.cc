#include "items/item_database.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <rocksdb/utilities/checkpoint.h>

#include "items/item_rows.h"
#include "items/source_codec.h"
#include "store/status.h"

namespace seendb::items {
namespace {

constexpr size_t kReadahead = size_t{2} << 20;

rocksdb::Slice SliceOf(std::string_view text) { return {text.data(), text.size()}; }

rocksdb::DBOptions ItemDatabaseOptions() {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = 2;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = 4;
  options.max_log_file_size = size_t{16} << 20;
  options.bytes_per_sync = 1 << 20;
  return options;
}

}  // namespace

Result<std::unique_ptr<ItemDatabase>> ItemDatabase::Open(const std::string& path) {
  std::unique_ptr<ItemDatabase> made(new ItemDatabase);
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = ItemFamilies(made->damaged_);
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened =
      rocksdb::DB::Open(ItemDatabaseOptions(), path, families, &made->families_, &db);
  if (!opened.ok()) {
    // RocksDB has no code of its own for this: it names its file LOCK.
    const bool locked = opened.IsIOError() && opened.ToString().find("LOCK") != std::string::npos;
    if (locked) return Status::Busy("the items in " + path + " are open already");
    return FromRocks(opened, "open the items in " + path);
  }
  made->db_.reset(db);
  if (Status status = made->CheckFormat(); !status.ok()) return status;
  return made;
}

ItemDatabase::~ItemDatabase() {
  if (!db_) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
}

Status ItemDatabase::CheckFormat() {
  std::string format;
  const rocksdb::Status read = db_->Get({}, families_[0], kFormatKey, &format);
  if (read.IsNotFound()) {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return FromRocks(db_->Put(synced, families_[0], kFormatKey, kFormat), "write the format");
  }
  if (!read.ok()) return FromRocks(read, "read the format of the items");
  if (format == kFormat) return {};
  return Status::Incompatible("the items have format " + format + ", this software has " + kFormat);
}

Result<std::optional<std::string>> ItemDatabase::ReadSchema() const {
  std::string json;
  const rocksdb::Status read = db_->Get({}, families_[0], kSchemaKey, &json);
  if (read.IsNotFound()) return std::optional<std::string>();
  if (!read.ok()) return FromRocks(read, "read the schema of the items");
  return std::optional(std::move(json));
}

Status ItemDatabase::PutSchema(const std::string& json) {
  rocksdb::WriteOptions synced;
  synced.sync = true;
  return FromRocks(db_->Put(synced, families_[0], kSchemaKey, json), "write the schema");
}

void ItemDatabase::Merge(std::string_view id, std::string_view row,
                         rocksdb::WriteBatch* batch) const {
  batch->Merge(families_[1], SliceOf(id), SliceOf(row));
}

void ItemDatabase::Put(std::string_view id, std::string_view row,
                       rocksdb::WriteBatch* batch) const {
  batch->Put(families_[1], SliceOf(id), SliceOf(row));
}

void ItemDatabase::Delete(std::string_view id, rocksdb::WriteBatch* batch) const {
  batch->Delete(families_[1], SliceOf(id));
}

void ItemDatabase::PutSource(const ItemSource& source, rocksdb::WriteBatch* batch) const {
  batch->Put(families_[0], SourceKey(source), EncodeSource(source));
}

Result<std::vector<ItemSource>> ItemDatabase::ReadSources() const {
  std::vector<ItemSource> sources;
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator({}, families_[0]));
  for (rows->Seek(kSourcePrefix); rows->Valid() && rows->key().starts_with(kSourcePrefix);
       rows->Next()) {
    ItemSource source;
    if (!ParseSource(rows->key().ToStringView(), rows->value().ToStringView(), &source)) {
      return Status::Corruption("the items' note of how far a topic was read is damaged");
    }
    sources.push_back(std::move(source));
  }
  if (!rows->status().ok()) return FromRocks(rows->status(), "read how far topics were read");
  std::sort(sources.begin(), sources.end(), [](const ItemSource& a, const ItemSource& b) {
    return std::tie(a.topic, a.partition) < std::tie(b.topic, b.partition);
  });
  return sources;
}

Status ItemDatabase::Write(rocksdb::WriteBatch* batch) {
  return FromRocks(db_->Write({}, batch), "write items");
}

std::vector<KeyRange> ItemDatabase::Split(size_t parts) const {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<std::string> borders;
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (file.column_family_name == kItemsFamily) borders.push_back(file.smallestkey);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<KeyRange> ranges(1);
  const size_t step = borders.size() / std::max<size_t>(parts, 1) + 1;
  for (size_t i = step; i < borders.size(); i += step) {
    ranges.back().to = borders[i];
    ranges.push_back({borders[i], ""});
  }
  return ranges;
}

Status ItemDatabase::Read(
    const KeyRange& range,
    const std::function<void(std::string_view, std::string_view)>& visit) const {
  rocksdb::ReadOptions options;
  options.readahead_size = kReadahead;
  options.fill_cache = false;
  const rocksdb::Slice to = range.to;
  if (!range.to.empty()) options.iterate_upper_bound = &to;
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, families_[1]));
  for (rows->Seek(range.from); rows->Valid(); rows->Next()) {
    visit(rows->key().ToStringView(), rows->value().ToStringView());
  }
  return FromRocks(rows->status(), "read items");
}

Status ItemDatabase::Checkpoint(const std::string& path) {
  rocksdb::Checkpoint* made = nullptr;
  if (rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made); !status.ok()) {
    return FromRocks(status, "copy the items");
  }
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  return FromRocks(checkpoint->CreateCheckpoint(path), "copy the items to " + path);
}

Status ItemDatabase::Close() {
  const rocksdb::Status synced = db_->SyncWAL();
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
  families_.clear();
  const rocksdb::Status closed = db_->Close();
  db_.reset();
  return FromRocks(synced.ok() ? closed : synced, "close the items");
}

}  // namespace seendb::items
