// server/api/catalog.h: the collections as the handlers need them on every request: a snapshot
// read without a lock, renewed whenever a policy changes.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/sync.h"
#include "ops/metrics.h"
#include "seendb/engine.h"

namespace seendb::api {

/// A collection, its policy and its counters (borrowed from Metrics).
struct CatalogEntry {
  Policy policy;
  ops::CollectionCounters* counters = nullptr;
};

/// See the head of this file. Threads: any.
class Catalog {
 public:
  using Entries = std::map<std::string, CatalogEntry, std::less<>>;

  explicit Catalog(ops::Metrics* metrics);
  /// Reads the collections anew. `all`: there are no others; false while shards are being opened,
  /// which may know of some.
  void Renew(Engine* engine, bool all = true);
  /// The collection of that name, or nothing. Cost: an atomic load and a look-up.
  std::shared_ptr<const CatalogEntry> Find(std::string_view name) const;
  /// kNotFound of `field`, with the name that may have been meant; kUnavailable where there may be
  /// others.
  Status Unknown(std::string_view name, std::string_view field) const;
  /// Whether all of these collections are there, and none keeps history; of no names: whether none
  /// at all does.
  bool KeepNoHistory(std::span<const std::string_view> names) const;
  /// True when some collection syncs each batch, or looks up first plays of the day, so that
  /// recording may wait for the disk.
  bool RecordingMayWait() const noexcept { return may_wait_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<const Entries> Current() const;

  ops::Metrics* const metrics_;
  const uint64_t id_;  // tells catalogs apart in thread-local caches
  std::atomic<uint64_t> version_{0};
  std::atomic<bool> may_wait_{false}, all_{false};
  mutable Mutex mutex_{LockRank::kCatalog};
  std::shared_ptr<const Entries> entries_ GUARDED_BY(mutex_);
};

}  // namespace seendb::api
