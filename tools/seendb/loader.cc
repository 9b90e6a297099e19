#include "loader.h"

#include <algorithm>

#include "patient_send.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// Rows of a batch that are kept as they came.
constexpr size_t kKeptBytesMost = 32 << 20;
/// Of so many plays each refusal is described.
constexpr size_t kAllDescribed = 100;

}  // namespace

Loader::Loader(PlayReader& reader, PlaySink& sink, LoadOptions options, ResumeState state)
    : reader_(reader), sink_(sink), options_(std::move(options)), state_(std::move(state)) {
  if (state_.rows < options_.skip_rows) {
    state_.rows = options_.skip_rows;
    state_.hash.clear();  // it is of fewer rows
  }
}

Status Loader::Flush(const OnBatch& on_batch) {
  if (batch_.size() != 0) {
    const Patience patience{options_.retry_s, pause_, stop_};
    auto sent = SendPatiently(sink_, batch_, patience);
    if (!sent.ok()) {
      disk_failed_ = sent.status().code() == StatusCode::kIOError;
      return {sent.status().code(), "rows after " + FormatCount(state_.rows) +
                                        " are not loaded: " + std::string(sent.status().message())};
    }
    state_.accepted += sent->accepted;
    state_.refused += sent->refused;
    state_.outside_window += sent->outside_window;
    for (const auto& [index, why] : sent->refusals) {
      if (refusals_.size() == kRowErrorsMax || index >= batch_.size()) break;
      refusals_.emplace_back(batch_.RowOf(index), why);
    }
    if (sent->refused > 0 && options_.rejects != nullptr) {
      if (Status written = WriteRejects(*sent); !written.ok()) return written;
    }
    batch_.Clear();
    kept_.clear();
    kept_bytes_ = 0;
  }
  if (options_.rejects != nullptr) {
    if (Status written = options_.rejects->Flush(); !written.ok()) return written;
  }
  state_.rows = reader_.row_number();
  state_.position = reader_.position();
  state_.hash = reader_.hash();
  if (on_batch) on_batch(state_.rows);
  if (options_.resume_path.empty()) return {};
  return WriteResumeState(options_.resume_path, state_);
}

/// The sink describes the first refusals alone: where it has more, the batch is sent once more, in
/// pieces, which changes nothing.
Status Loader::WriteRejects(const SendResult& sent) {
  std::vector<std::pair<size_t, std::string>> refusals = sent.refusals;
  const bool all = refusals.size() == sent.refused;
  if (!all) refusals.clear();
  for (size_t begin = 0; !all && begin < batch_.size(); begin += kAllDescribed) {
    PlayBatch piece;
    const size_t end = std::min(batch_.size(), begin + kAllDescribed);
    for (size_t i = begin; i < end; ++i) piece.Add(batch_.At(i), batch_.RowOf(i));
    auto again = SendPatiently(sink_, piece, {options_.retry_s, pause_, stop_});
    if (!again.ok()) return again.status();
    for (const auto& [index, why] : again->refusals) refusals.emplace_back(begin + index, why);
  }
  uint64_t last = 0;  // of a row with several items the first is named
  for (const auto& [index, why] : refusals) {
    const uint64_t row = index < batch_.size() ? batch_.RowOf(index) : last;
    if (row == last) continue;
    last = row;
    const auto kept = std::lower_bound(kept_.begin(), kept_.end(), row,
                                       [](const KeptRow& one, uint64_t n) { return one.row < n; });
    if (kept == kept_.end() || kept->row != row) continue;
    options_.rejects->Add(row, kept->line, why, kept->text);
  }
  return {};
}

/// Each item of a row is a play of its own.
void Loader::Add(PlayRow row) {
  odd_ids_.Look(row.user, reader_.row_number());
  std::string_view items = row.item;
  while (const auto item = TakeItem(&items, reader_.item_separator())) {
    row.item = *item;
    odd_ids_.Look(row.item, reader_.row_number());
    batch_.Add(row, reader_.row_number());
  }
}

/// Passes over what was loaded before; it must be what it was.
Status Loader::GoOn() {
  if (state_.rows == 0) return {};
  if (state_.hash.empty()) {
    if (reader_.Skip(state_.rows)) return {};
    if (!reader_.status().ok()) return reader_.status();
    return Status::InvalidArgument("the log has fewer rows than are to be passed over");
  }
  const bool there = reader_.GoOnAt(state_.rows, state_.position);
  if (!reader_.status().ok()) return reader_.status();
  if (there && reader_.hash() == state_.hash) return {};
  return Status::InvalidArgument(
      state_.file + " is not the log whose load " + options_.resume_path +
      " goes on with: its first " + FormatCount(state_.rows) +
      " rows are others (new rows on top, or another file of that name?). Load it with another "
      "state file, or without --resume: plays that are recorded already do no harm. If the log was "
      "rotated, load the old file too");
}

/// Puts one row into the batch or into the books.
Status Loader::Take(RowKind kind, const PlayRow& row) {
  if (kind == RowKind::kPlay) {
    PlayRow shifted = row;
    if (row.at_ms) *shifted.at_ms += options_.shift_ms;
    if (options_.rejects != nullptr) {
      kept_.push_back({reader_.row_number(), reader_.row_line(), std::string(reader_.row_text())});
      kept_bytes_ += kept_.back().text.size();
    }
    if (row.at_ms) newest_ms_ = std::max(newest_ms_.value_or(*shifted.at_ms), *shifted.at_ms);
    Add(shifted);
    return {};
  }
  if (options_.rejects != nullptr) {
    options_.rejects->Add(reader_.row_number(), reader_.row_line(), reader_.error(),
                          reader_.row_text());
  }
  if (options_.strict) {
    return Status::InvalidArgument("row " + FormatCount(reader_.row_number()) + ": " +
                                   reader_.error());
  }
  ++state_.bad;
  if (bad_rows_.size() < kRowErrorsMax) {
    bad_rows_.emplace_back(reader_.row_number(), reader_.error());
  }
  return {};
}

Status Loader::Run(const OnBatch& on_batch) {
  if (Status there = GoOn(); !there.ok()) return there;
  PlayRow row;
  for (;;) {
    if (stop_()) {
      stopped_ = true;
      return Flush(on_batch);
    }
    const RowKind kind = reader_.Next(&row);
    if (kind == RowKind::kEnd) return Flush(on_batch);
    if (kind == RowKind::kFailed) {
      Status flushed = Flush(on_batch);
      return flushed.ok() ? reader_.status() : flushed;
    }
    if (!options_.resume_path.empty() && !reader_.row_ended()) {
      last_row_waits_ = true;
      reader_.UncountRow();
      return Flush(on_batch);
    }
    Status taken = Take(kind, row);
    if (!taken.ok()) {
      // What came before the bad row is loaded; a resumed load begins with the bad row again.
      reader_.UncountRow();
      Status flushed = Flush(on_batch);
      return flushed.ok() ? taken : flushed;
    }
    if (batch_.size() >= options_.batch_plays || kept_bytes_ > kKeptBytesMost) {
      Status flushed = Flush(on_batch);
      if (!flushed.ok()) return flushed;
    }
  }
}

}  // namespace seendb::tool
