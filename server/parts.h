// server/parts.h: the process as a list of parts, each a row of what is to be done with it when:
// they begin in the order of the list and end in the reverse.
//
//   prepare   before anything listens: settings are looked at and files read
//   shape     says what the database is to be like; on the thread that opens it
//   open      the engine is there, its shards are being opened; on that thread
//   finish    its shards are open; on that thread
//   start     everything is open; on the control thread
//   depart    the process is told to end: others are to look for another server; clients are
//             answered still
//   leave     no new work; what is under way goes on
//   stop      nothing of the part runs any more
//
// Process has the list (process.h).

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/metrics.h"
#include "seendb/engine.h"

namespace seendb {

/// One row. A function that is unset does nothing.
struct Part {
  std::string_view name;  ///< for the log
  /// The exit code of the process where it can't go on; the part has logged why.
  std::function<std::optional<int>()> prepare = {};
  std::function<Status(Options*)> shape = {};
  std::function<Status(Engine*)> open = {};
  std::function<Status(Engine*)> finish = {};
  std::function<void(Engine*)> start = {};
  std::function<void()> depart = {};
  std::function<void()> leave = {};
  /// False: it still runs after so many ms.
  std::function<bool(int64_t grace_ms)> stop = {};
  /// Adds what is wrong, for people; waits for nothing. Threads: any.
  std::function<void(std::vector<std::string>*)> problems = {};
  /// Fills in the part's figures. Threads: any.
  std::function<void(ops::MetricsSnapshot*)> metrics = {};
};

/// The list. Threads: one at a time, but for Problems and FillMetrics.
class Parts {
 public:
  explicit Parts(std::vector<Part> parts = {}) : parts_(std::move(parts)) {}

  /// Each of these goes through the list and ends at the first failure.
  std::optional<int> Prepare();
  Status Shape(Options* options);
  Status Open(Engine* engine);
  Status Finish(Engine* engine);
  void Start(Engine* engine);
  /// In the reverse order.
  void Depart();
  void Leave();
  /// In the reverse order; ends at the first part that still runs, of which it gives the name: what
  /// comes before it in the list may be in use. Nothing: all have stopped.
  std::optional<std::string_view> Stop(int64_t grace_ms);

  std::vector<std::string> Problems() const;
  void FillMetrics(ops::MetricsSnapshot* to) const;

 private:
  std::vector<Part> parts_;
};

}  // namespace seendb
