#include "items/store.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "items/row_codec.h"

namespace seendb::items {
namespace {

constexpr uint64_t kDayMs = uint64_t{24} * 3600 * 1000;

uint64_t HalfOfMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / 2;
}

}  // namespace

Store::Store(std::unique_ptr<ItemDatabase> database, const Schema& schema,
             const ItemStoreOptions& options)
    : bytes_(options.bytes.value_or(HalfOfMemory())),
      floor_ms_(options.floor_days * kDayMs),
      now_ms_(options.now_ms),
      database_(std::move(database)),
      memory_(schema) {}

Status Store::Load() {
  const auto begin = std::chrono::steady_clock::now();
  Result<Loaded> loaded = LoadItems(*database_, bytes_, &memory_);
  if (!loaded.ok()) return loaded.status();
  loaded_ = std::move(*loaded);
  const auto took = std::chrono::steady_clock::now() - begin;
  load_ms_ =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  return {};
}

uint64_t Store::NowMs() const {
  if (now_ms_) return static_cast<uint64_t>(now_ms_());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

Status Store::PutSchema(const std::vector<ItemField>& fields) {
  const MutexLock lock(write_mutex_);
  if (closed_) return Status::Closed("the store of items is closed");
  Result<Schema> made = memory_.layout().schema.With(fields);
  if (!made.ok()) return made.status();
  if (Status status = database_->PutSchema(made->ToJson()); !status.ok()) return status;
  memory_.PutSchema(*made);
  return {};
}

std::vector<ItemField> Store::Fields() const {
  const Epochs::Guard guard(memory_.epochs());
  std::vector<ItemField> fields;
  for (const auto& one : memory_.layout().schema.fields()) fields.push_back(one.field);
  return fields;
}

std::optional<ItemFieldType> Store::TypeOf(std::string_view name) const {
  const Epochs::Guard guard(memory_.epochs());
  const Schema& schema = memory_.layout().schema;
  const auto position = schema.Find(name);
  if (!position) return {};
  return schema.fields()[*position].field.type;
}

Result<std::vector<ItemSource>> Store::Sources() const {
  if (closed_) return Status::Closed("the store of items is closed");
  return database_->ReadSources();
}

Result<std::vector<std::string>> Store::Verify() const {
  if (closed_) return Status::Closed("the store of items is closed");
  std::vector<std::string> damaged;
  const Status read = database_->Read({}, [&](std::string_view id, std::string_view row) {
    State state;
    if (!ParseRow(row, &state)) damaged.emplace_back(id);
  });
  if (!read.ok()) return read;
  memory_.ForEach([&](const Found& found) {
    if (!memory_.Check(found)) damaged.push_back(Record(found.record).Id().ToString());
  });
  return damaged;
}

Status Store::Checkpoint(const std::string& path) {
  if (closed_) return Status::Closed("the store of items is closed");
  return database_->Checkpoint(path);
}

ItemStoreStats Store::Stats() const {
  const Epochs::Guard guard(memory_.epochs());
  ItemStoreStats stats;
  stats.items = memory_.existing();
  stats.remembered = memory_.records() - stats.items;
  stats.record_bytes = memory_.record_bytes();
  stats.memory_bytes = memory_.reserved_bytes();
  stats.dictionary_texts = memory_.dictionary().size();
  stats.damaged = loaded_.damaged;
  stats.damaged_ids = loaded_.damaged_ids;
  stats.load_ms = load_ms_;
  return stats;
}

Status Store::Close() {
  const MutexLock lock(write_mutex_);
  if (closed_.exchange(true)) return Status::Closed("the store of items is closed");
  return database_->Close();
}

}  // namespace seendb::items

namespace seendb {

Result<std::unique_ptr<ItemStore>> ItemStore::Open(const std::string& path,
                                                   const ItemStoreOptions& options) {
  auto database = items::ItemDatabase::Open(path);
  if (!database.ok()) return database.status();
  auto json = (*database)->ReadSchema();
  if (!json.ok()) return json.status();
  items::Schema schema;
  if (json->has_value()) {
    Result<items::Schema> read = items::Schema::FromJson(**json);
    if (!read.ok()) return read.status();
    schema = std::move(*read);
  }
  auto store = std::make_unique<items::Store>(std::move(*database), schema, options);
  if (Status status = store->Load(); !status.ok()) return status;
  return std::unique_ptr<ItemStore>(std::move(store));
}

Status ItemStore::Copy(const std::string& path, const std::string& to) {
  std::error_code none;
  if (!std::filesystem::exists(path + "/CURRENT", none)) {
    return Status::NotFound("there are no items in " + path);
  }
  auto database = items::ItemDatabase::Open(path);
  if (!database.ok()) return database.status();
  const Status copied = (*database)->Checkpoint(to);
  const Status closed = (*database)->Close();
  return copied.ok() ? closed : copied;
}

}  // namespace seendb
