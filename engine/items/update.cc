// Apply: check all updates, join each with its item, write the operands, show the new records.

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "items/operand.h"
#include "items/row_codec.h"
#include "items/source_codec.h"
#include "items/store.h"

namespace seendb::items {
namespace {

/// The items that a call changes, as they will be.
class Changes {
 public:
  Changes(const MemoryItems& memory, uint64_t bytes)
      : memory_(memory),
        room_(static_cast<int64_t>(bytes) - static_cast<int64_t>(memory.used_bytes())) {}

  /// Joins an update with its item, unless the item would not fit. `found`: the item's place before
  /// the call. Adds what it kept from a higher version to `stale`. `*changed`: the database has to
  /// know.
  Status Join(const IdRef& id, const Found& found, uint64_t now_ms, State* update, uint64_t* stale,
              bool* changed) {
    const std::string text = id.ToString();
    const auto known = by_id_.find(text);
    State before;
    if (known != by_id_.end()) {
      ParseRow(items_[known->second].row, &before);
    } else {
      before = memory_.StateOf(found);
    }
    *stale += ApplyExpiry(before, now_ms, update);
    State after = before;
    *stale += after.Join(*update);
    const uint64_t time_ms = std::exchange(after.time_ms, before.time_ms);
    *changed = !(after == before);
    if (!*changed) return {};
    after.time_ms = time_ms;
    if (Status status = CheckRoom(id, before, after); !status.ok()) return status;
    if (known == by_id_.end()) {
      by_id_.emplace(text, items_.size());
      items_.push_back({text, {}});
    }
    std::string& row = items_[by_id_.find(text)->second].row;
    std::string made;  // `after` may borrow from the row that it replaces
    EncodeRow(after, &made);
    row = std::move(made);
    return {};
  }

  void Publish(MemoryItems* memory) const {
    for (const Changed& one : items_) {
      State state;
      ParseRow(one.row, &state);
      memory->Publish(IdRef(one.id), state);
    }
  }

 private:
  struct Changed {
    std::string id, row;
  };

  Status CheckRoom(const IdRef& id, const State& before, const State& after) {
    const size_t size = RecordSize(id, after);
    if (size > kMaxItemBytes) {
      return Status::InvalidArgument("item " + id.ToString() + " would take " +
                                     std::to_string(size) + " bytes; an item takes at most 65536");
    }
    const bool is_new = before == State();
    const auto now = static_cast<int64_t>(MemoryItems::BytesFor(size));
    const auto was =
        is_new ? int64_t{0} : static_cast<int64_t>(MemoryItems::BytesFor(RecordSize(id, before)));
    if (now > was && now - was > room_) {
      return Status::Busy("item " + id.ToString() + " does not fit: the store is full");
    }
    room_ -= now - was;
    return {};
  }

  const MemoryItems& memory_;
  int64_t room_;
  std::unordered_map<std::string, size_t> by_id_;
  std::deque<Changed> items_;
};

}  // namespace

Result<ItemReport> Store::Apply(std::span<const ItemUpdate> updates) {
  return ApplyFrom(updates, {});
}

Result<ItemReport> Store::ApplyFrom(std::span<const ItemUpdate> updates,
                                    std::span<const ItemSource> sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    Status status = CheckSource(sources[i]);
    if (!status.ok()) return status.WithFieldPrefix("/sources/" + std::to_string(i));
  }
  const MutexLock lock(write_mutex_);
  if (closed_) return Status::Closed("the store of items is closed");
  const Schema& schema = memory_.layout().schema;
  if (!schema.was_put() && (!updates.empty() || sources.empty()))
    return Status::NotFound("the items have no schema yet");
  const uint64_t now_ms = NowMs();
  std::deque<std::string> scratch;
  std::vector<State> operands;
  operands.reserve(updates.size());
  std::vector<IdRef> ids;
  ids.reserve(updates.size());
  for (size_t i = 0; i < updates.size(); ++i) {
    Result<State> operand = OperandOf(updates[i], schema, now_ms, &scratch);
    if (!operand.ok()) return operand.status().WithFieldPrefix("/" + std::to_string(i));
    operands.push_back(std::move(*operand));
    ids.push_back(updates[i].id);
  }
  memory_.epochs().Collect();
  // No record goes before Publish: only this function replaces records, and it holds the lock.
  std::vector<Found> found(ids.size());
  memory_.FindMany(ids, found.data());
  Changes changes(memory_, bytes_);
  ItemReport report;
  rocksdb::WriteBatch batch;
  std::string row;
  for (size_t i = 0; i < updates.size(); ++i) {
    bool changed = false;
    Status joined = changes.Join(ids[i], found[i], now_ms, &operands[i], &report.stale, &changed);
    if (!joined.ok()) {
      report.refused.push_back({i, joined.WithFieldPrefix("/" + std::to_string(i))});
      continue;
    }
    ++report.applied;
    if (!changed) continue;
    row.clear();
    EncodeRow(operands[i], &row);
    database_->Merge(updates[i].id.ToString(), row, &batch);
  }
  // The caller sets refused updates aside before the notes pass them.
  if (report.refused.empty()) {
    for (const ItemSource& source : sources) database_->PutSource(source, &batch);
  }
  if (batch.Count() == 0) return report;
  if (Status status = database_->Write(&batch); !status.ok()) return status;
  changes.Publish(&memory_);
  return report;
}

}  // namespace seendb::items
