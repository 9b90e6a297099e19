#include "api/set_door.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::api {
namespace {

/// A set of a store that is not open yet.
class NotReadYet final : public ItemSet {
 public:
  void Find(std::span<const IdRef> items, uint8_t* hits) const override {
    std::fill(hits, hits + items.size(), uint8_t{0});
  }
  bool damaged() const override { return true; }
};

void LogDamaged(const SetStore& store) {
  for (const SetInfo& set : store.List()) {
    if (!set.damaged) continue;
    ops::Log(ops::LogLevel::kWarn, "set_damaged", {{"set", set.name}, {"readable", set.count}});
  }
}

Status NoSet(std::string_view name) {
  return Status::NotFound("no set \"" + std::string(name) + "\"");
}

}  // namespace

void SetDoor::Configure(std::string folder, SetStoreOptions options) {
  folder_ = std::move(folder);
  options_ = std::move(options);
  configured_ = true;
  std::error_code error;
  opening_ = std::filesystem::exists(folder_, error);
}

void SetDoor::Serve(SetStore* store) {
  store_.store(store, std::memory_order_release);
  opening_ = false;
  LogDamaged(*store);
}

Status SetDoor::Open() {
  std::error_code error;
  if (configured_ && std::filesystem::exists(folder_ + ".repair", error)) {
    return Status::Corruption("a repair of the sets was begun and not finished: run seendb repair");
  }
  if (!configured_ || !std::filesystem::exists(folder_, error)) return {};
  Result<SetStore*> made = Make();
  if (!made.ok()) return made.status();
  opening_ = false;
  LogDamaged(**made);
  return {};
}

Status SetDoor::Close() {
  SetStore* const store = store_.load(std::memory_order_acquire);
  return store == nullptr ? Status() : store->Close();
}

Status SetDoor::Check() const {
  if (configured_) return {};
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store != nullptr) return {};
  return Status::Incompatible("nodes of a cluster have no sets of all users before they are ready");
}

Result<SetStore*> SetDoor::Make() {
  const MutexLock lock(making_);
  if (SetStore* const store = store_.load(std::memory_order_acquire)) return store;
  Result<std::unique_ptr<SetStore>> made = SetStore::Open(folder_, options_);
  if (!made.ok()) return made.status();
  owned_ = std::move(made).value();
  store_.store(owned_.get(), std::memory_order_release);
  return owned_.get();
}

Result<SetInfo> SetDoor::Put(std::string_view name, std::span<const IdRef> items) {
  if (Status status = Check(); !status.ok()) return status;
  const Result<SetStore*> store = Make();
  if (!store.ok()) return store.status();
  return (*store)->Put(name, items);
}

Status SetDoor::Delete(std::string_view name) {
  if (Status status = Check(); !status.ok()) return status;
  SetStore* const store = store_.load(std::memory_order_acquire);
  return store == nullptr ? NoSet(name) : store->Delete(name);
}

Result<std::vector<SetInfo>> SetDoor::List() const {
  if (Status status = Check(); !status.ok()) return status;
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return std::vector<SetInfo>();
  if (Status ready = store->Ready(); !ready.ok()) return ready;
  std::vector<SetInfo> sets = store->List();
  if (Status ready = store->Ready(); !ready.ok()) return ready;  // it may have been read anew
  return sets;
}

Result<SetPage> SetDoor::Read(std::string_view name, std::string_view after, size_t limit) const {
  if (Status status = Check(); !status.ok()) return status;
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return NoSet(name);
  return store->Read(name, after, limit);
}

Status SetDoor::Find(std::span<ExcludedSet> sets, Held* held) const {
  if (sets.empty()) return {};
  const bool opening = opening_;  // before store_, which is set first
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr && opening) {
    held->push_back(std::make_shared<const NotReadYet>());
    for (ExcludedSet& set : sets) set.items = held->back().get();
  }
  for (size_t i = 0; store != nullptr && i < sets.size(); ++i) {
    std::shared_ptr<const ItemSet> found = store->Find(sets[i].name);
    if (found == nullptr) continue;  // the engine looks among the user's own
    sets[i].items = found.get();
    held->push_back(std::move(found));
  }
  return {};
}

std::optional<ops::SetsState> SetDoor::State() const {
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return {};
  const std::vector<SetInfo> sets = store->List();
  ops::SetsState state{.limit_bytes = options_.bytes, .behind = !store->Ready().ok()};
  if (sets.empty() && !configured_ && !state.behind) return {};
  for (const SetInfo& set : sets) {
    ++state.sets;
    state.ids += set.count;
    state.memory_bytes += set.bytes;
    state.damaged += set.damaged ? 1 : 0;
  }
  return state;
}

Result<bool> SetDoor::Checkpoint(const std::string& folder) const {
  SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return false;
  if (Status made = store->Checkpoint(folder); !made.ok()) return made;
  return true;
}

}  // namespace seendb::api
