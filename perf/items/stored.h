// perf/items/stored.h: a store in a folder of its own, filled once for all benchmarks of a run.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "items/shape.h"
#include "seendb/item_store.h"

namespace seendb::perf {

class FilledStore {
 public:
  static FilledStore& Get() {
    static FilledStore filled;
    return filled;
  }
  ~FilledStore() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  ItemStore& store() { return *store_; }
  const std::vector<ItemField>& fields() const { return fields_; }
  /// How much resident memory grew while it was filled.
  uint64_t resident_bytes() const { return resident_; }
  void Open() {
    store_.reset();
    store_ = ItemStore::Open(folder_ + "/items", {}).value();
  }

 private:
  FilledStore() {
    const char* where = std::getenv("SEENDB_PERF_DIR");
    folder_ =
        std::filesystem::path(where != nullptr ? where : std::filesystem::temp_directory_path()) /
        ("seendb-items-" + std::to_string(std::random_device()()));
    std::filesystem::create_directories(folder_);
    const uint64_t before = ResidentBytes();
    Open();
    if (!store_->PutSchema(fields_).ok()) std::abort();
    constexpr size_t kBatch = 1000;
    for (size_t begin = 0; begin < ItemCount(); begin += kBatch) {
      std::vector<std::string> ids;
      std::vector<ItemUpdate> updates;
      for (size_t i = begin; i < std::min(begin + kBatch, ItemCount()); ++i) ids.push_back(IdOf(i));
      for (size_t i = 0; i < ids.size(); ++i) {
        updates.push_back(UpdateFor(IdRef(ids[i]), ShapeOf(begin + i), 1, fields_));
      }
      if (!store_->Apply(updates).ok()) std::abort();
    }
    resident_ = ResidentBytes() - before;
  }

  const std::vector<ItemField> fields_ = ShapeFields();
  std::string folder_;
  std::unique_ptr<ItemStore> store_;
  uint64_t resident_ = 0;
};

}  // namespace seendb::perf
