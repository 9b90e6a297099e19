#include "loader.h"

#include <algorithm>

#include "patient_send.h"
#include "units.h"

namespace seendb::tool {

Loader::Loader(PlayReader& reader, PlaySink& sink, LoadOptions options, ResumeState state)
    : reader_(reader), sink_(sink), options_(std::move(options)), state_(std::move(state)) {
  state_.rows = std::max(state_.rows, options_.skip_rows);
}

Status Loader::Flush(const OnBatch& on_batch) {
  if (batch_.size() != 0) {
    const Patience patience{options_.retry_s, pause_, stop_};
    auto sent = SendPatiently(sink_, batch_, patience);
    if (!sent.ok()) {
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
    batch_.Clear();
  }
  state_.rows = reader_.row_number();
  if (on_batch) on_batch(state_.rows);
  if (options_.resume_path.empty()) return {};
  return WriteResumeState(options_.resume_path, state_);
}

/// Puts one row into the batch or into the books.
Status Loader::Take(RowKind kind, const PlayRow& row) {
  if (kind == RowKind::kPlay) {
    PlayRow shifted = row;
    if (row.at_ms) *shifted.at_ms += options_.shift_ms;
    if (row.at_ms) newest_ms_ = std::max(newest_ms_.value_or(*shifted.at_ms), *shifted.at_ms);
    batch_.Add(shifted, reader_.row_number());
    return {};
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
  if (state_.rows != 0 && !reader_.Skip(state_.rows)) {
    if (!reader_.status().ok()) return reader_.status();
    return Status::InvalidArgument("the log has fewer rows than are to be passed over");
  }
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
    Status taken = Take(kind, row);
    if (!taken.ok()) {
      // What came before the bad row is loaded; a resumed load begins with the bad row again.
      reader_.UncountRow();
      Status flushed = Flush(on_batch);
      return flushed.ok() ? taken : flushed;
    }
    if (batch_.size() == options_.batch_plays) {
      Status flushed = Flush(on_batch);
      if (!flushed.ok()) return flushed;
    }
  }
}

}  // namespace seendb::tool
