// Trim: deletions, expired items and unset fields that nobody has to remember any more.

#include <algorithm>

#include "items/row_codec.h"
#include "items/store.h"

namespace seendb::items {
namespace {

constexpr size_t kTrimBatch = 1'000;

enum class Fate : uint8_t { kStays, kLosesUnset, kGoes };

Fate FateOf(const Record& record, uint64_t now_ms, uint64_t floor_ms) {
  if (record.time_ms() + floor_ms > now_ms) return Fate::kStays;
  const uint64_t expires_ms = record.expires_ms();
  if (!record.exists() || (expires_ms != 0 && expires_ms + floor_ms <= now_ms)) return Fate::kGoes;
  return record.has_versions() ? Fate::kLosesUnset : Fate::kStays;
}

}  // namespace

Status Store::Trim() {
  const uint64_t now_ms = NowMs();
  if (closed_) return Status::Closed("the store of items is closed");
  std::vector<std::string> due;
  memory_.ForEach([&](const Found& found) {
    const Record record(found.record);
    if (FateOf(record, now_ms, floor_ms_) != Fate::kStays) due.push_back(record.Id().ToString());
  });
  for (size_t begin = 0; begin < due.size(); begin += kTrimBatch) {
    const auto first = due.begin() + static_cast<ptrdiff_t>(begin);
    const auto last = first + static_cast<ptrdiff_t>(std::min(kTrimBatch, due.size() - begin));
    if (Status status = TrimSome({first, last}, now_ms); !status.ok()) return status;
  }
  memory_.epochs().Collect();
  return {};
}

Status Store::TrimSome(const std::vector<std::string>& ids, uint64_t now_ms) {
  const MutexLock lock(write_mutex_);
  if (closed_) return Status::Closed("the store of items is closed");
  struct Trimmed {
    std::string id, row;  // no row: it goes
  };
  std::vector<Trimmed> trimmed;
  rocksdb::WriteBatch batch;
  for (const std::string& id : ids) {
    const Found found = memory_.Find(IdRef(id));
    if (found.record == nullptr) continue;
    const Fate fate = FateOf(Record(found.record), now_ms, floor_ms_);
    if (fate == Fate::kStays) continue;
    Trimmed one{.id = id, .row = {}};
    if (fate == Fate::kGoes) {
      database_->Delete(id, &batch);
    } else {
      State state = memory_.StateOf(found);
      if (std::erase_if(state.cells, [](const Cell& cell) { return cell.unset; }) == 0) continue;
      EncodeRow(state, &one.row);
      database_->Put(id, one.row, &batch);
    }
    trimmed.push_back(std::move(one));
  }
  if (Status status = database_->Write(&batch); !status.ok()) return status;
  for (const Trimmed& one : trimmed) {
    if (one.row.empty()) {
      memory_.Erase(memory_.Find(IdRef(one.id)));
      continue;
    }
    State state;
    ParseRow(one.row, &state);
    memory_.Publish(IdRef(one.id), state);
  }
  return {};
}

}  // namespace seendb::items
