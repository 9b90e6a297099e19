// seendb/loader.h: moves a log into a sink, batch by batch, and keeps the books.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "odd_ids.h"
#include "play_batch.h"
#include "play_reader.h"
#include "reject_file.h"
#include "resume_state.h"
#include "row_share.h"

namespace seendb::tool {

/// How a log is loaded.
struct LoadOptions {
  size_t batch_plays = 5'000;
  std::string resume_path = {};   ///< where progress is kept; empty: nowhere
  uint64_t skip_rows = 0;         ///< rows at the log's beginning that are passed over
  bool strict = false;            ///< stop at the first bad row
  int64_t shift_ms = 0;           ///< added to every time
  int64_t retry_s = 60;           ///< longest wait for a busy or lost server
  RejectFile* rejects = nullptr;  ///< borrowed; of a reader that keeps its rows; null: none
};

/// Loads one log. Threads: one.
class Loader {
 public:
  /// Called after each batch with the rows dealt with so far.
  using OnBatch = std::function<void(uint64_t rows)>;
  /// Pauses between tries; the real one sleeps.
  using Pause = std::function<void(int64_t ms)>;

  /// `state` says where to begin, in the log `reader` reads from its start.
  Loader(PlayReader& reader, PlaySink& sink, LoadOptions options, ResumeState state);
  /// Replaces the pause between tries.
  void SetPause(Pause pause) { pause_ = std::move(pause); }
  /// Asked before each row and after each pause: true ends Run, once what was read is sent.
  void SetStop(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// Reads to the end. Acknowledged batches stay, whatever fails afterwards: the sink's error
  /// once it was tried for long enough, the reader's, kInvalidArgument for a bad row with
  /// `strict`, kIOError where the state can't be written.
  Status Run(const OnBatch& on_batch);

  /// Run ended because it was told to stop.
  bool stopped() const { return stopped_; }
  /// Run ended because the disk of the database failed, or is full.
  bool disk_failed() const { return disk_failed_; }
  /// The log's last row has no line end, and waits until it has: progress is kept, and it may grow.
  bool last_row_waits() const { return last_row_waits_; }
  /// Ids that look like a mistake.
  const OddIds& odd_ids() const { return odd_ids_; }
  /// Rows dealt with, and what became of them, earlier parts of a resumed load included.
  const ResumeState& state() const { return state_; }
  /// The latest time of a play of this run, shifted; nothing where none has a time.
  std::optional<int64_t> newest_ms() const { return newest_ms_; }
  /// The first rows that were no plays.
  const std::vector<RowError>& bad_rows() const { return bad_rows_; }
  /// The first plays that were not taken.
  const std::vector<RowError>& refusals() const { return refusals_; }

 private:
  Status Flush(const OnBatch& on_batch);
  Status Take(RowKind kind, const PlayRow& row);
  Status WriteRejects(const SendResult& sent);
  void Add(PlayRow row);
  Status GoOn();

  PlayReader& reader_;
  PlaySink& sink_;
  LoadOptions options_;
  ResumeState state_;
  PlayBatch batch_;
  /// A row of the batch as it came, where rejects are written.
  struct KeptRow {
    uint64_t row = 0, line = 0;
    std::string text;
  };
  std::vector<KeptRow> kept_;
  size_t kept_bytes_ = 0;
  Pause pause_;  // none: it sleeps
  std::function<bool()> stop_ = [] { return false; };
  bool stopped_ = false;
  bool disk_failed_ = false;
  bool last_row_waits_ = false;
  OddIds odd_ids_;
  std::optional<int64_t> newest_ms_;
  std::vector<RowError> bad_rows_;
  std::vector<RowError> refusals_;
};

}  // namespace seendb::tool
