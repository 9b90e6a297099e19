// A log as nodes write it: of several partitions, by two producers whose clocks differ, with
// records that come twice and records that nobody can read; and what each record means. By a seed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/log_record.h"
#include "replica/applier.h"
#include "simulation/dice.h"
#include "simulation/model_log.h"

namespace seendb::replica {

/// A record as it lies in the log, and what it means.
struct ScriptedRecord {
  std::string key, value, header;
  simulation::LogEntry entry;
  bool stops = false;       ///< nobody may apply it, nor what is behind it
  int64_t meta_offset = 0;  ///< how far X.meta has to be read for it, as it says itself
  int64_t written_ms = 0;   ///< when it got into the log

  LogRecord At(uint32_t partition, int64_t offset) const {
    return {.partition = partition,
            .offset = offset,
            .time_ms = entry.arrival_ms,
            .key = key,
            .value = value,
            .header = header};
  }
};

/// See the head of this file.
class LogScript {
 public:
  static constexpr uint32_t kPartitions = 3;
  static constexpr size_t kUsers = 4, kItems = 10;  // users: of each partition
  static constexpr char kLate[] = "late";           // a collection that is made while it goes on

  static constexpr int64_t kLateMadeBy = 1;  // the offset of the record that makes it

  /// `late_from_ms`: when that is made, by the clock of whoever made it.
  LogScript(uint64_t seed, const std::function<uint32_t(const std::string&)>& partition_of,
            int64_t begin_ms, int64_t late_from_ms)
      : dice_(seed), now_ms_(begin_ms), late_from_ms_(late_from_ms), users_(kPartitions) {
    for (int i = 0; std::any_of(users_.begin(), users_.end(),
                                [](const auto& of) { return of.size() < kUsers; });
         ++i) {
      const std::string user = "u" + std::to_string(i);
      auto& of = users_[partition_of(user)];
      if (of.size() < kUsers) of.push_back(user);
    }
    logs_.resize(kPartitions);
  }

  /// Appends a record to any partition.
  void Append() {
    now_ms_ += dice_.Between(1, 900);
    const auto partition = static_cast<uint32_t>(dice_.Below(kPartitions));
    auto& log = logs_[partition];
    if (ended_.contains(partition)) return;
    // What its producer sent twice.
    if (!log.empty() && dice_.Chance(10)) {
      const ScriptedRecord& last =
          log[log.size() - 1 - dice_.Below(std::min<size_t>(4, log.size()))];
      const bool events = last.entry.kind == Kind::kPlays || last.entry.kind == Kind::kImpressions;
      if (events || &last == &log.back()) {
        log.push_back(ScriptedRecord(last));
        log.back().written_ms = now_ms_;
        return;
      }
    }
    log.push_back(Make(partition));
  }
  /// The partition ends with a record of a later version or kind, and one behind it.
  void AppendStop(uint32_t partition) {
    ScriptedRecord record;
    record.entry.arrival_ms = record.written_ms = now_ms_;
    record.header = cluster::EncodeLogHeader({cluster::LogKind::kTick, now_ms_, dice_.Next()});
    if (dice_.Chance(50)) {
      record.header[0] = cluster::kLogVersion + 1;
    } else {
      record.header[1] = static_cast<char>(static_cast<int>(cluster::kLastLogKind) + 1);
    }
    record.stops = true;
    logs_[partition].push_back(std::move(record));
    ScriptedRecord behind = Make(partition);
    logs_[partition].push_back(std::move(behind));
    ended_.insert(partition);
  }

  const std::vector<ScriptedRecord>& of(uint32_t partition) const { return logs_[partition]; }
  const std::vector<std::string>& users(uint32_t partition) const { return users_[partition]; }
  static std::vector<std::string> Items() {
    std::vector<std::string> items;
    for (size_t i = 0; i < kItems; ++i) items.push_back("i" + std::to_string(i));
    return items;
  }
  int64_t now_ms() const { return now_ms_; }

 private:
  using Kind = simulation::LogEntry::Kind;
  using LogKind = cluster::LogKind;

  /// Of either producer; the second one's clock is behind.
  int64_t ArrivalMs() { return now_ms_ - (dice_.Chance(40) ? 700 : 0); }
  std::string Item() { return "i" + std::to_string(dice_.Below(kItems)); }

  ScriptedRecord Make(uint32_t partition) {
    ScriptedRecord record;
    record.written_ms = now_ms_;
    simulation::LogEntry& entry = record.entry;
    entry.arrival_ms = ArrivalMs();
    entry.user = record.key = dice_.Of(users_[partition]);
    LogKind kind = LogKind::kTick;
    const uint64_t throw_of = dice_.Below(100);
    if (throw_of < 45) {
      kind = LogKind::kPlays;
      record.value = Plays(partition, &entry);
    } else if (throw_of < 55) {
      kind = LogKind::kImpressions;
      record.value = Impressions(&entry);
    } else if (throw_of < 63) {
      kind = LogKind::kErase;
      entry.kind = Kind::kErase;
    } else if (throw_of < 72) {
      kind = LogKind::kHistoryDelete;
      entry.kind = Kind::kDelete;
      entry.items = {Item(), Item()};
      record.value = R"({"items":[")" + entry.items[0] + "\",\"" + entry.items[1] + "\"]}";
      if (entry.items[0] == entry.items[1]) entry.items.pop_back();
    } else if (throw_of < 78) {
      kind = LogKind::kHistoryClear;
      entry.kind = Kind::kClear;
      entry.flag = dice_.Chance(50);
      record.value = std::string(R"({"collections":["default"],"filter":)") +
                     (entry.flag ? "true}" : "false}");
    } else if (throw_of < 86) {
      kind = LogKind::kRecording;
      entry.kind = Kind::kRecording;
      entry.flag = dice_.Chance(50);
      record.value = entry.flag ? R"({"paused":true})" : R"({"paused":false})";
    } else if (throw_of < 91) {
      kind = LogKind::kPlays;  // nobody can read it: it counts for nothing
      record.value = R"({"events":[{"user":)";
    }
    cluster::LogHeader header{kind, entry.arrival_ms, dice_.Next()};
    if (dice_.Chance(60)) {  // of version 2: whatever the writer's clock said
      header.meta_offset = dice_.Chance(50) ? kLateMadeBy + 1 : kLateMadeBy;
      entry.after_making = entry.collection != kLate || *header.meta_offset > kLateMadeBy;
    }
    record.meta_offset = header.meta_offset.value_or(0);
    record.header = cluster::EncodeLogHeader(header);
    return record;
  }
  std::string Plays(uint32_t partition, simulation::LogEntry* entry) {
    entry->kind = Kind::kPlays;
    if (entry->arrival_ms > late_from_ms_ - 40'000 && dice_.Chance(40)) entry->collection = kLate;
    std::string value = R"({"collection":")" + entry->collection + R"(","events":[)";
    for (uint64_t i = 0, count = 1 + dice_.Below(4); i < count; ++i) {
      simulation::ScriptEvent event{dice_.Of(users_[partition]), Item()};
      // Of the past, or so far ahead that it is refused whenever it is applied.
      if (dice_.Chance(20)) event.at_ms = entry->arrival_ms - dice_.Between(1, 5'000);
      if (dice_.Chance(10)) event.at_ms = entry->arrival_ms + dice_.Between(600'000, 1'800'000);
      value += i == 0 ? R"({"user":")" : R"(,{"user":")";
      value += event.user + R"(","item":")" + event.item + '"';
      if (event.at_ms) value += R"(,"at":)" + std::to_string(*event.at_ms);
      value += '}';
      entry->events.push_back(std::move(event));
    }
    return value + "]}";
  }
  std::string Impressions(simulation::LogEntry* entry) {
    entry->kind = Kind::kImpressions;
    std::string value = R"({"user":")" + entry->user + R"(","items":[)";
    for (uint64_t i = 0, count = 1 + dice_.Below(3); i < count; ++i) {
      const std::string item = Item();
      value += (i == 0 ? "\"" : ",\"") + item + '"';
      entry->events.push_back({entry->user, item});
    }
    return value + "]}";
  }

  simulation::Dice dice_;
  int64_t now_ms_;
  const int64_t late_from_ms_;
  std::vector<std::vector<std::string>> users_;  // by partition
  std::set<uint32_t> ended_;
  std::vector<std::vector<ScriptedRecord>> logs_;  // by partition
};

}  // namespace seendb::replica
