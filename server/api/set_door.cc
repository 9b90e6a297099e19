#include "api/set_door.h"

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::api {
namespace {

Status NoSet(std::string_view name, std::string field) {
  return Status::NotFound("no set \"" + std::string(name) + "\"", std::move(field));
}

}  // namespace

void SetDoor::Configure(std::string folder, SetStoreOptions options) {
  folder_ = std::move(folder);
  options_ = std::move(options);
  configured_ = true;
}

Status SetDoor::Open() {
  std::error_code error;
  if (configured_ && std::filesystem::exists(folder_ + ".repair", error)) {
    return Status::Corruption("a repair of the sets was begun and not finished: run seendb repair");
  }
  if (!configured_ || !std::filesystem::exists(folder_, error)) return {};
  Result<SetStore*> made = Make();
  if (!made.ok()) return made.status();
  for (const SetInfo& set : (*made)->List()) {
    if (!set.damaged) continue;
    ops::Log(ops::LogLevel::kWarn, "set_damaged", {{"set", set.name}, {"readable", set.count}});
  }
  return {};
}

Status SetDoor::Close() { return owned_ == nullptr ? Status() : owned_->Close(); }

Status SetDoor::Check() const {
  if (configured_) return {};
  return Status::Incompatible(
      "nodes of a cluster have no sets yet: its log has no record for them");
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
  return store == nullptr ? NoSet(name, "") : store->Delete(name);
}

Result<std::vector<SetInfo>> SetDoor::List() const {
  if (Status status = Check(); !status.ok()) return status;
  const SetStore* const store = store_.load(std::memory_order_acquire);
  return store == nullptr ? std::vector<SetInfo>() : store->List();
}

Result<SetPage> SetDoor::Read(std::string_view name, std::string_view after, size_t limit) const {
  if (Status status = Check(); !status.ok()) return status;
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return NoSet(name, "");
  return store->Read(name, after, limit);
}

Status SetDoor::Find(std::span<ExcludedSet> sets, Held* held) const {
  if (sets.empty()) return {};
  if (Status status = Check(); !status.ok()) {
    return Status(status.code(), std::string(status.message()), "/exclude_sets");
  }
  const SetStore* const store = store_.load(std::memory_order_acquire);
  for (size_t i = 0; i < sets.size(); ++i) {
    std::shared_ptr<const ItemSet> found = store == nullptr ? nullptr : store->Find(sets[i].name);
    if (found == nullptr) return NoSet(sets[i].name, "/exclude_sets/" + std::to_string(i));
    sets[i].items = found.get();
    held->push_back(std::move(found));
  }
  return {};
}

std::optional<ops::SetsState> SetDoor::State() const {
  const SetStore* const store = store_.load(std::memory_order_acquire);
  if (store == nullptr) return {};
  ops::SetsState state{.limit_bytes = options_.bytes};
  for (const SetInfo& set : store->List()) {
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
