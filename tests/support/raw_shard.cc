#include "support/raw_shard.h"

#include <gtest/gtest.h>

#include "store/database_options.h"
#include "store/files.h"

namespace seendb {

RawShard::RawShard(const std::string& database, uint32_t shard, rocksdb::Env* env) {
  const std::string path = ShardPath(database, shard);
  Result<LdbSetup> setup = LdbSetupFor(path, env);
  if (!setup.ok()) {
    ADD_FAILURE() << setup.status().ToString();
    return;
  }
  rocksdb::Options options = setup->options;
  options.avoid_flush_during_shutdown = true;
  const rocksdb::Status opened = rocksdb::DB::Open(options, path, setup->families, &handles_, &db_);
  EXPECT_TRUE(opened.ok()) << opened.ToString();
}

RawShard::~RawShard() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }
  EXPECT_TRUE(db_->Close().ok());
  delete db_;
}

rocksdb::ColumnFamilyHandle* RawShard::family(const std::string& name) {
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == name) return handle;
  }
  ADD_FAILURE() << "no family " << name;
  return db_->DefaultColumnFamily();
}

std::vector<std::string> RawShard::families() const {
  std::vector<std::string> names;
  for (const rocksdb::ColumnFamilyHandle* handle : handles_) names.push_back(handle->GetName());
  return names;
}

void RawShard::Put(const std::string& name, const std::string& key, const std::string& value) {
  const rocksdb::Status s = db_->Put({}, family(name), key, value);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

void RawShard::Merge(const std::string& name, const std::string& key, const std::string& operand) {
  const rocksdb::Status s = db_->Merge({}, family(name), key, operand);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

void RawShard::Flush(const std::string& name) {
  const rocksdb::Status s = db_->Flush({}, family(name));
  EXPECT_TRUE(s.ok()) << s.ToString();
}

std::map<std::string, std::string> RawShard::All(const std::string& name) {
  std::map<std::string, std::string> all;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, family(name)));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    all[it->key().ToString()] = it->value().ToString();
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  return all;
}

std::vector<std::string> RawShard::Files(const std::string& name) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<std::string> paths;
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (file.column_family_name == name) paths.push_back(file.db_path + file.name);
  }
  return paths;
}

}  // namespace seendb
