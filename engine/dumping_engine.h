// engine/dumping_engine.h: the part of EngineImpl that gives filters away.

#pragma once

#include <atomic>
#include <optional>

#include "catalog.h"
#include "filter/item_hash.h"
#include "seendb/engine.h"
#include "shards.h"

namespace seendb {

/// See the head of this file.
class DumpingEngine : public Engine {
 public:
  Status DumpFilter(const FilterDumpRequest& request, FilterDump* dump) override;
  ItemHashKey ReadItemHashKey() const override;

 protected:
  /// The parts of the derived class that it works with; not looked at before a call.
  struct Borrowed {
    const Catalog* catalog;
    const Shards* shards;
    const std::optional<ItemHash>* hash;
    const std::atomic<bool>* closed;
  };
  explicit DumpingEngine(const Borrowed& borrowed) : borrowed_(borrowed) {}

 private:
  const Borrowed borrowed_;
};

}  // namespace seendb
