// server/replica/events_body.h: the events of a record of the log, whatever their fact.
//
// Threads: one at a time.

#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/log_record.h"
#include "seendb/events.h"
#include "wire/events_json.h"
#include "wire/exposures_json.h"

namespace seendb::replica {

/// Whether the value of records of this kind has events.
bool HoldsEvents(cluster::LogKind kind);

/// See the head of this file.
class EventsBody {
 public:
  /// Reads the value of a record of the kind. What is told of it are views of `value`, and of this.
  Status Read(cluster::LogKind kind, std::string_view value);

  Fact fact() const { return fact_; }
  std::string_view collection() const { return collection_.value_or("default"); }
  std::span<const Play> events() const { return plays_.plays; }
  /// The place where each was shown; empty: none was named.
  std::span<const std::string_view> surfaces() const { return surfaces_; }

 private:
  template <typename Shown>
  void Take(const std::vector<Shown>& shown, std::optional<std::string_view> collection);

  Fact fact_ = Fact::kPlayed;
  wire::JsonDocument document_;
  wire::EventGroupsReader groups_;
  wire::PlaysCall plays_;
  wire::ImpressionsCall served_;
  wire::ExposuresCall exposed_;
  std::optional<std::string_view> collection_;
  std::vector<std::string_view> surfaces_;
};

}  // namespace seendb::replica
