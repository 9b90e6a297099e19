#include "store/placeholder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <rocksdb/file_system.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include "store/status.h"

namespace seendb {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A table's footer is at its end and says where in the file the rest is.
constexpr size_t kFooterBytes = 53;

// A small table of one key behind all others (ids are UTF-8), its block spoilt: found by every
// look-up, readable by none. It must be no longer than any table of a bucket, so it has no more in
// it than it must.
Result<std::string> MakeSpoiltTable() {
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options;
  options.env = memory.get();
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;  // later ones check where the footer lies
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, "/spoilt", &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (status.ok()) status = db->Put({}, "\xff", "x");
  if (status.ok()) status = db->Flush({});
  std::vector<rocksdb::LiveFileMetaData> files;
  if (status.ok()) db->GetLiveFilesMetaData(&files);
  std::string bytes;
  if (files.size() == 1) {
    status = rocksdb::ReadFileToString(memory.get(), "/spoilt" + files[0].name, &bytes);
  }
  if (!status.ok()) return FromRocks(status, "make a placeholder");
  if (bytes.size() <= 20 + kFooterBytes) return Status::IOError("make a placeholder: no table");
  bytes[10] = static_cast<char>(~bytes[10]);
  return bytes;
}

// `spoilt` drawn out to `size` bytes.
class PlaceholderFile final : public rocksdb::FSRandomAccessFile {
 public:
  PlaceholderFile(std::shared_ptr<const std::string> spoilt, uint64_t size)
      : spoilt_(std::move(spoilt)), size_(std::max<uint64_t>(size, spoilt_->size())) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    const size_t count = offset >= size_ ? 0 : std::min<uint64_t>(n, size_ - offset);
    std::memset(scratch, 0, count);
    const uint64_t head = spoilt_->size() - kFooterBytes;
    if (offset < head) {
      std::memcpy(scratch, spoilt_->data() + offset, std::min<uint64_t>(count, head - offset));
    }
    const uint64_t footer = size_ - kFooterBytes;
    for (uint64_t at = std::max(offset, footer); at < offset + count; ++at) {
      scratch[at - offset] = (*spoilt_)[head + (at - footer)];
    }
    *result = Slice(scratch, count);
    return IOStatus::OK();
  }

 private:
  const std::shared_ptr<const std::string> spoilt_;
  const uint64_t size_;
};

class PlaceholderFiles final : public rocksdb::FileSystemWrapper {
 public:
  PlaceholderFiles(const std::shared_ptr<rocksdb::FileSystem>& base,
                   std::map<std::string, uint64_t> sizes, std::string spoilt)
      : FileSystemWrapper(base),
        sizes_(std::move(sizes)),
        spoilt_(std::make_shared<const std::string>(std::move(spoilt))) {}
  const char* Name() const override { return "SeenDBPlaceholderFiles"; }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    const auto at = sizes_.find(path);
    if (at == sizes_.end()) return target()->NewRandomAccessFile(path, options, file, dbg);
    *file = std::make_unique<PlaceholderFile>(spoilt_, at->second);
    return IOStatus::OK();
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    const auto at = sizes_.find(path);
    if (at == sizes_.end()) return target()->GetFileSize(path, options, size, dbg);
    *size = at->second;
    return IOStatus::OK();
  }

 private:
  const std::map<std::string, uint64_t> sizes_;
  const std::shared_ptr<const std::string> spoilt_;
};

}  // namespace

Result<std::vector<DamagedTable>> FindDamagedTables(
    const rocksdb::DBOptions& db_options, const std::string& shard_path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
  rocksdb::DBOptions lenient = db_options;
  lenient.paranoid_checks = false;  // tables are opened when they are read
  lenient.listeners.clear();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(lenient, shard_path, families, &handles, &opened);
  if (!status.ok()) return FromRocks(status, "look for damaged tables");
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  std::vector<DamagedTable> damaged;
  rocksdb::Options options;
  options.env = db_options.env;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const std::string path = file.db_path + file.name;
    uint64_t bytes = 0;
    rocksdb::Status sound = db_options.env->GetFileSize(path, &bytes);
    if (sound.ok() && bytes != file.size) {
      sound = rocksdb::Status::Corruption("it has " + std::to_string(bytes) + " bytes of " +
                                          std::to_string(file.size));
    }
    if (sound.ok()) sound = rocksdb::SstFileReader(options).Open(path);
    if (sound.ok()) continue;
    damaged.push_back({file.column_family_name, path, file.size, file.smallestkey, file.largestkey,
                       sound.ToString()});
  }
  return damaged;
}

Result<std::unique_ptr<rocksdb::Env>> NewPlaceholderEnv(rocksdb::Env* base,
                                                        const std::vector<DamagedTable>& tables) {
  Result<std::string> spoilt = MakeSpoiltTable();
  if (!spoilt.ok()) return spoilt.status();
  std::map<std::string, uint64_t> sizes;
  for (const DamagedTable& table : tables) sizes[table.path] = table.bytes;
  return rocksdb::NewCompositeEnv(std::make_shared<PlaceholderFiles>(
      base->GetFileSystem(), std::move(sizes), std::move(spoilt).value()));
}

}  // namespace seendb
