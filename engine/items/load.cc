// The opening: all processors read the rows, each range by range.

#include <algorithm>
#include <thread>

#include "items/item_rows.h"
#include "items/store.h"

namespace seendb::items {
namespace {

constexpr size_t kRangesPerThread = 4;
constexpr uint64_t kCheckEvery = 1024;  // rows

/// The work that the threads of an opening share.
class Loader {
 public:
  Loader(const ItemDatabase& database, uint64_t bytes, MemoryItems* memory)
      : database_(database), bytes_(bytes), memory_(memory) {}

  Result<Loaded> Run() {
    const size_t processors = std::max(std::thread::hardware_concurrency(), 1U);
    ranges_ = database_.Split(processors * kRangesPerThread);
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::min(processors, ranges_.size()); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    Work();
    for (std::thread& thread : threads) thread.join();
    const MutexLock lock(mutex_);
    if (full_) {
      return Status::Busy("the items take more than the " + std::to_string(bytes_) +
                          " bytes that the store may use");
    }
    if (!failed_.ok()) return failed_;
    return loaded_;
  }

 private:
  void Work() {
    for (size_t at = next_++; at < ranges_.size() && !full_; at = next_++) {
      uint64_t rows = 0;
      const Status status =
          database_.Read(ranges_[at], [&](std::string_view id, std::string_view row) {
            if (full_) return;
            if (!Take(id, row)) NoteDamaged(id);
            if (++rows % kCheckEvery == 0 && memory_->used_bytes() > bytes_) full_ = true;
          });
      if (memory_->used_bytes() > bytes_) full_ = true;
      if (status.ok()) continue;
      const MutexLock lock(mutex_);
      if (failed_.ok()) failed_ = status;
    }
  }

  bool Take(std::string_view id, std::string_view row) {
    State state;
    if (!ReadItemRow(memory_->layout().schema, id, row, &state)) return false;
    memory_->Publish(IdRef(id), state);
    return true;
  }

  void NoteDamaged(std::string_view id) {
    const MutexLock lock(mutex_);
    ++loaded_.damaged;
    if (loaded_.damaged_ids.size() < kMaxDamagedIds) loaded_.damaged_ids.emplace_back(id);
  }

  const ItemDatabase& database_;
  const uint64_t bytes_;
  MemoryItems* const memory_;
  std::vector<KeyRange> ranges_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> full_{false};
  Mutex mutex_{LockRank::kLeaf};
  Loaded loaded_ GUARDED_BY(mutex_);
  Status failed_ GUARDED_BY(mutex_);
};

}  // namespace

Result<Loaded> LoadItems(const ItemDatabase& database, uint64_t bytes, MemoryItems* memory) {
  return Loader(database, bytes, memory).Run();
}

}  // namespace seendb::items
