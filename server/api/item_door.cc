#include "api/item_door.h"

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::api {
namespace {

Status NoSchema() {
  return Status::Incompatible(
      "there is no schema of items yet: put one (putItemSchema, or seendb items schema --put)");
}

}  // namespace

void ItemDoor::Configure(std::string folder, ItemStoreOptions options) {
  folder_ = std::move(folder);
  options_ = std::move(options);
  configured_ = true;
}

Status ItemDoor::Open() {
  std::error_code error;
  if (configured_ && std::filesystem::exists(folder_ + ".repair", error)) {
    return Status::Corruption(
        "a repair of the items was begun and not finished: run seendb repair");
  }
  if (!configured_ || !std::filesystem::exists(folder_, error)) return {};
  Result<std::unique_ptr<ItemStore>> opened = ItemStore::Open(folder_, options_);
  if (!opened.ok()) {
    const Status failed = opened.status();
    if (failed.code() != StatusCode::kBusy) return failed;
    return Status::Busy(std::string(failed.message()) + " (the setting items.bytes)");
  }
  owned_ = std::move(opened).value();
  ReadTypes(*owned_);
  store_.store(owned_.get(), std::memory_order_release);
  const ItemStoreStats stats = owned_->Stats();
  const auto level = stats.damaged > 0 ? ops::LogLevel::kWarn : ops::LogLevel::kInfo;
  ops::Log(level, "items_opened",
           {{"items", stats.items},
            {"memory_bytes", stats.memory_bytes},
            {"took_ms", stats.load_ms},
            {"damaged", stats.damaged},
            {"damaged_ids", stats.damaged_ids}});
  return {};
}

Status ItemDoor::Close() { return owned_ == nullptr ? Status() : owned_->Close(); }

void ItemDoor::ReadTypes(const ItemStore& store) {
  auto types = std::make_shared<wire::ItemTypes>();
  for (ItemField& field : store.Fields()) types->emplace(std::move(field.name), field.type);
  const auto is_list = [&types](std::string_view name) {
    const auto field = types->find(name);
    return field != types->end() && field->second == ItemFieldType::kTextList;
  };
  const bool has_groups = is_list(kGroupsField) || is_list(kSameField);
  const MutexLock lock(types_mutex_);
  types_ = std::move(types);
  has_groups_.store(has_groups, std::memory_order_release);
}

Result<ItemDoor::Opened> ItemDoor::Use() const {
  if (!configured_) return Status::Incompatible("the setting items.bytes is 0: there are no items");
  Opened opened;
  opened.store = store_.load(std::memory_order_acquire);
  if (opened.store == nullptr) return NoSchema();
  const MutexLock lock(types_mutex_);
  opened.types = types_;
  return opened;
}

Status ItemDoor::PutSchema(const std::vector<ItemField>& fields) {
  const MutexLock lock(putting_);
  if (!configured_) return Use().status();
  ItemStore* store = store_.load(std::memory_order_acquire);
  if (store == nullptr) {
    if (Status valid = ValidateItemSchema(fields); !valid.ok()) return valid;
    Result<std::unique_ptr<ItemStore>> made = ItemStore::Open(folder_, options_);
    if (!made.ok()) return made.status();
    // After a failure the folder has a store without a schema, which the next call opens.
    if (Status put = (*made)->PutSchema(fields); !put.ok()) return put;
    owned_ = std::move(made).value();
    store = owned_.get();
  } else if (Status put = store->PutSchema(fields); !put.ok()) {
    return put;
  }
  ReadTypes(*store);
  store_.store(store, std::memory_order_release);
  return {};
}

Result<ItemReport> ItemDoor::Count(Result<ItemReport> report) {
  if (!report.ok()) return report;
  accepted_.fetch_add(report->applied, std::memory_order_relaxed);
  refused_.fetch_add(report->refused.size(), std::memory_order_relaxed);
  stale_.fetch_add(report->stale, std::memory_order_relaxed);
  return report;
}

Result<ItemReport> ItemDoor::Apply(ItemStore* store, std::span<const ItemUpdate> updates) {
  return Count(store->Apply(updates));
}

Result<ItemReport> ItemDoor::ApplyFrom(std::span<const ItemUpdate> updates,
                                       std::span<const ItemSource> sources) {
  const Result<Opened> opened = Use();
  if (!opened.ok()) return opened.status();
  return Count(opened->store->ApplyFrom(updates, sources));
}

Result<std::vector<ItemSource>> ItemDoor::Sources() const {
  const Result<Opened> opened = Use();
  if (!opened.ok()) return std::vector<ItemSource>();
  return opened->store->Sources();
}

std::optional<ops::ItemsState> ItemDoor::State() const {
  const Result<Opened> opened = Use();
  if (!opened.ok()) return {};
  return ops::ItemsState{.store = opened->store->Stats(),
                         .fields = opened->types->size(),
                         .bytes_limit = options_.bytes.value_or(0),
                         .accepted = accepted_.load(std::memory_order_relaxed),
                         .refused = refused_.load(std::memory_order_relaxed),
                         .stale = stale_.load(std::memory_order_relaxed)};
}

void ItemDoor::Trim() {
  const Result<Opened> opened = Use();
  if (!opened.ok()) return;
  if (const Status trimmed = opened->store->Trim(); !trimmed.ok()) {
    ops::Log(ops::LogLevel::kWarn, "items_not_trimmed", {{"error", trimmed.ToString()}});
  }
}

Result<bool> ItemDoor::Checkpoint(const std::string& folder) const {
  const Result<Opened> opened = Use();
  if (!opened.ok()) return false;
  if (Status made = opened->store->Checkpoint(folder); !made.ok()) return made;
  return true;
}

}  // namespace seendb::api
