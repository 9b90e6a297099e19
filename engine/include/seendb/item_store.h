// seendb/item_store.h: keeps what the items are, beside the engine that keeps who has seen them: up
// to 1,024 named fields per item, in memory for reads, in a RocksDB of its own for keeps. Library:
// seendb::items. The engine does not need it.
//
//   auto store = seendb::ItemStore::Open("/var/lib/items", {}).value();
//   auto status = store->PutSchema({{"author", seendb::ItemFieldType::kText}});
//   seendb::ItemUpdate update;
//   update.id = seendb::IdRef("v1");
//   update.version = 7;
//   update.set = {{"author", std::string("a3")}};
//   auto report = store->Apply({&update, 1});
//   std::vector<seendb::Item> found = store->Get(ids, {}).value();
//
// Updates are idempotent and free of order: each field keeps the version that wrote it, and the
// higher version wins. engine/doc/item-format.md has the rules.
//
// Threads: any call on any thread. Reads take no lock and never wait for writers; calls that write
// go one after the other.
// Durability: what was acknowledged survives a killed process. A power loss may cost what the
// operating system had not written yet; Close syncs.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb {

/// Most fields of a schema at a time, and of all that ever were: numbers are never used again.
inline constexpr size_t kMaxItemFields = 1024;
/// Largest record of an item, in bytes.
inline constexpr size_t kMaxItemBytes = 65'536;
/// Most entries of a list.
inline constexpr size_t kMaxItemListEntries = 1'000;
/// Versions are from 1 to this.
inline constexpr uint64_t kMaxItemVersion = (uint64_t{1} << 63) - 1;

/// The type of a field's values. Numbers are part of the format.
enum class ItemFieldType : uint8_t {
  kBool = 1,
  kI64 = 2,
  kF32 = 3,
  kText = 4,  ///< UTF-8
  kI64List = 5,
  kTextList = 6,
};

/// A value; its alternatives are the types, in their order.
using ItemValue =
    std::variant<bool, int64_t, float, std::string, std::vector<int64_t>, std::vector<std::string>>;

/// A field of the schema.
struct ItemField {
  std::string name;  ///< 1-255 bytes of UTF-8
  ItemFieldType type = ItemFieldType::kText;
  bool column = false;  ///< stands in a dense column as well; not for lists

  /// All three the same.
  friend bool operator==(const ItemField&, const ItemField&) = default;
};

/// Whether a new store would take these as its schema; the failures of ItemStore::PutSchema.
Status ValidateItemSchema(const std::vector<ItemField>& fields);

/// A field and its value.
struct ItemFieldValue {
  std::string name;
  ItemValue value;

  /// Both the same.
  friend bool operator==(const ItemFieldValue&, const ItemFieldValue&) = default;
};

/// One change of an item. Borrows the id.
struct ItemUpdate {
  IdRef id;
  uint64_t version = 0;             ///< 1 to kMaxItemVersion
  bool replace = false;             ///< fields with lower versions go
  bool remove = false;              ///< the item goes; sets and unsets nothing
  std::vector<ItemFieldValue> set;  ///< each field once in `set` and `unset` together
  std::vector<std::string> unset;
  /// When the item becomes unknown, in ms since 1970; 0: never any more. Versioned as a field.
  std::optional<int64_t> expires_at_ms;
};

/// How far a partition of a topic was read into a store.
struct ItemSource {
  std::string topic;          ///< 1-249 bytes
  int32_t partition = 0;      ///< from 0 on
  int64_t next_offset = 0;    ///< of the first message that was not read; from 0 on
  int64_t last_time_ms = -1;  ///< the log's time of the newest message that was read; -1: unknown

  /// All four the same.
  friend bool operator==(const ItemSource&, const ItemSource&) = default;
};

/// An update that could not be applied, the others being applied.
struct ItemRefusal {
  size_t position;  ///< in the updates of the call
  Status status;    ///< kInvalidArgument: the item would be too large; kBusy: the store is full
};

/// The outcome of a call's updates.
struct ItemReport {
  uint64_t applied = 0;  ///< updates, those included that changed nothing
  uint64_t stale = 0;    ///< fields that kept a higher version
  std::vector<ItemRefusal> refused;
};

/// An item as it is now.
struct Item {
  std::string id;                      ///< canonical text
  uint64_t version = 0;                ///< the highest that was applied
  std::vector<ItemFieldValue> fields;  ///< in the order asked for, or else in the schema's
};

/// A value inside the store, valid until the call that gave it returns.
struct ItemValueView {
  ItemFieldType type = ItemFieldType::kBool;
  int64_t number = 0;      ///< kBool (0, 1) and kI64
  float real = 0;          ///< kF32
  std::string_view bytes;  ///< kText; of a list in the store's own form

  /// The value itself, of every type.
  ItemValue Copy() const;
  /// Calls `visit` with each text of a kTextList.
  void ForEachText(const std::function<void(std::string_view)>& visit) const;
};

/// One item inside the store, valid until the call that gave it returns.
class ItemView {
 public:
  /// Ends with the visit.
  virtual ~ItemView() = default;
  /// The highest version that was applied.
  virtual uint64_t version() const = 0;
  /// The value of the field with this position among those asked for; nothing where the item has
  /// none. Cost: a count of bits and one load.
  virtual std::optional<ItemValueView> Field(size_t position) const = 0;
};

/// How a store is opened.
struct ItemStoreOptions {
  /// Most bytes of memory for records, texts, columns and the map. Half the machine's memory where
  /// it is not set.
  std::optional<uint64_t> bytes;
  /// For how long deletions, expirations and unset fields are remembered. A repeat of something
  /// older could come back after that.
  uint32_t floor_days = 30;
  /// Milliseconds since 1970; the system's clock where it is empty.
  std::function<int64_t()> now_ms = {};
};

/// How full a store is.
struct ItemStoreStats {
  uint64_t items = 0;         ///< that a read would find, those included that have expired
  uint64_t remembered = 0;    ///< deleted ones
  uint64_t record_bytes = 0;  ///< of all records
  uint64_t memory_bytes = 0;  ///< of records with their arenas, texts, columns and the map
  uint64_t dictionary_texts = 0;
  uint64_t damaged = 0;                  ///< rows that the opening could not read
  std::vector<std::string> damaged_ids;  ///< the first 100 of them
  uint64_t load_ms = 0;                  ///< which the opening took
};

/// See the head of this file. Owns its folder: one process at a time.
class ItemStore {
 public:
  /// Opens the store in `path`, or makes one without a schema; reads all items into memory with all
  /// processors. kBusy: another process has it, or `bytes` do not suffice. kIncompatible: newer
  /// software made it. kCorruption, kIOError: RocksDB can't open it.
  static Result<std::unique_ptr<ItemStore>> Open(const std::string& path,
                                                 const ItemStoreOptions& options);
  /// Copies the store in `path` as Checkpoint does, and reads no item for it. kBusy: somebody has
  /// it open. kNotFound: nothing is there.
  static Status Copy(const std::string& path, const std::string& to);
  /// Closes it.
  virtual ~ItemStore() = default;

  /// Makes these the fields: new names are added, fields whose names are missing are removed with
  /// their values, those that stay may change `column` but not the type. kInvalidArgument, naming
  /// the field by its position ("/3/name"): nothing was changed. Cost: where columns were added, a
  /// walk over all items.
  virtual Status PutSchema(const std::vector<ItemField>& fields) = 0;
  /// The fields in the order in which they were put; empty before the first PutSchema.
  virtual std::vector<ItemField> Fields() const = 0;
  /// The type of the field of this name; nothing where there is none.
  virtual std::optional<ItemFieldType> TypeOf(std::string_view name) const = 0;

  /// Applies updates in their order. Written to disk before reads see them. kInvalidArgument,
  /// naming the update and its field ("/2/set/author"): nothing was changed. kNotFound: no schema.
  /// kIOError: nothing was changed in memory; repeat it.
  virtual Result<ItemReport> Apply(std::span<const ItemUpdate> updates) = 0;
  /// Apply, which notes in the same write how far topics were read: a killed process has both or
  /// neither. A note replaces the former one of its partition. `updates` may be empty, and then no
  /// schema is needed. If an update is refused (ItemReport), the others are applied and nothing is
  /// noted: the caller sets it aside, and then calls with the notes alone. kInvalidArgument also
  /// names a wrong note ("/sources/1/topic").
  virtual Result<ItemReport> ApplyFrom(std::span<const ItemUpdate> updates,
                                       std::span<const ItemSource> sources) = 0;
  /// The notes, by topic and partition. A store that was repaired has none: what it lost may be in
  /// the topics still. kCorruption: one can't be read.
  virtual Result<std::vector<ItemSource>> Sources() const = 0;

  /// The items among `ids` (1,000 at most) that are known, in their order, with these fields; all
  /// fields where there are none. kInvalidArgument: a wrong id, or a field that the schema does not
  /// have ("/fields/2").
  virtual Result<std::vector<Item>> Get(std::span<const IdRef> ids,
                                        std::span<const std::string> fields) const = 0;
  /// The same without copies: calls `visit` with the position of each known id. `visit` must not
  /// call the store. Any number of ids.
  virtual Status Visit(std::span<const IdRef> ids, std::span<const std::string> fields,
                       const std::function<void(size_t, const ItemView&)>& visit) const = 0;

  /// Forgets deletions, expired items and unset fields that are older than `floor_days`; for a
  /// caller's daily task. Cost: a walk over all items.
  virtual Status Trim() = 0;
  /// Reads every row and record and checks both; gives the ids of those that are damaged.
  virtual Result<std::vector<std::string>> Verify() const = 0;
  /// Writes a copy of the store that can be opened, into a folder that does not exist yet.
  virtual Status Checkpoint(const std::string& path) = 0;
  /// How full it is. Cost: none to speak of.
  virtual ItemStoreStats Stats() const = 0;
  /// Syncs everything to disk and closes it; later calls give kClosed. No call may run meanwhile.
  virtual Status Close() = 0;
};

}  // namespace seendb
