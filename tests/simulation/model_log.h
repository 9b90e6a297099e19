// tests/simulation/model_log.h: what a partition of a cluster's log comes to: its records, in
// order, told to the model as calls that were made when they arrived. Every replica that has
// applied the same records must answer as this does.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulation/model.h"

namespace seendb::simulation {

/// A record of the log, as far as it means something.
struct LogEntry {
  enum class Kind { kPlays, kImpressions, kErase, kDelete, kClear, kRecording, kNothing };
  Kind kind = Kind::kNothing;
  int64_t arrival_ms = 0;
  std::string collection = "default";
  std::string user = {};                 ///< of a command
  std::vector<ScriptEvent> events = {};  ///< of plays and impressions
  std::vector<std::string> items = {};   ///< that are deleted from history
  bool flag = false;                     ///< paused; of a clear: the filters too
  /// Whether its collection had been made where it was written; nothing: its arrival tells.
  std::optional<bool> after_making = {};
};

/// See the head of this file.
class LogModel {
 public:
  explicit LogModel(std::function<uint32_t(const std::string&)> shard_of, uint32_t shards)
      : model_(shards, std::move(shard_of)) {}

  /// What arrived not after it was made does not count for it.
  void Make(const std::string& collection, const Policy& policy, int64_t at_ms);
  /// The next record.
  void Take(const LogEntry& entry);
  Model& model() { return model_; }

 private:
  bool Counts(const LogEntry& entry) const {
    return entry.after_making.value_or(made_.at(entry.collection) < entry.arrival_ms);
  }
  void TakeErase(const LogEntry& entry);
  void NoteNewest(const std::string& user, int64_t at_ms);
  void TakeClear(const LogEntry& entry);
  void TakeRecording(const LogEntry& entry);

  Model model_;
  std::map<std::string, int64_t> made_;     // by collection
  std::map<std::string, int64_t> newest_;   // by user: time of an event that counted
  std::map<std::string, int64_t> toggled_;  // by user: when recording changed
};

}  // namespace seendb::simulation
