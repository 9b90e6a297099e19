// engine/catalog.h: the collections and their policies, as the file COLLECTIONS, the shards and the
// calls under way know them.
//
// A change is announced in the file ("changing"), goes to the attached shards, synced, and then
// into the file: what holds after a crash in between is told by the shards (collection_truth.h). A
// shard that is absent meanwhile hears of the change from the file when it comes back. Where the
// file announces nothing, no shard knows more than it, and shards may be opened one by one.
//
// Threads: any; changes are made one at a time.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock_guard.h"
#include "base/name_table.h"
#include "base/sync.h"
#include "seendb/options.h"
#include "seendb/policy.h"
#include "shards.h"
#include "store/collections_file.h"
#include "store/problem_list.h"

namespace seendb {

/// See the head of this file.
class Catalog {
 public:
  struct Context {
    const Options* options = nullptr;
    const ClockGuard* clock = nullptr;
    rocksdb::Env* env = nullptr;
    Shards* shards = nullptr;
    ProblemList* problems = nullptr;
    NameTable* names = nullptr;
  };
  explicit Catalog(const Context& context) : context_(context) {}

  std::shared_ptr<const CollectionMap> All() const;
  /// kNotFound ("/collection"); kUnavailable while a shard that is being opened may know of it.
  Result<CollectionPtr> Find(std::string_view name) const;

  /// First: reads the file of `root`, and publishes what it says.
  Status Load(const std::string& root);
  /// Whether the file was there, sound, and announced no change. Then the shards may be opened one
  /// by one, with Admit.
  bool tells_all() const { return tells_all_; }
  /// Finds what holds and brings all shards in line. Where the database is `fresh` it makes the
  /// collection default. Before the journals are replayed.
  Status Begin(bool fresh);
  /// Finishes deletions that something has interrupted, and then writes the file where it is
  /// behind. After the journals are replayed.
  Status Finish();
  /// Finishes deletions in one shard, before it is published. `*all`: the collections that calls
  /// will see then.
  Status FinishIn(uint32_t number, const std::shared_ptr<Shard>& shard,
                  std::shared_ptr<const CollectionMap>* all);
  /// Brings the shards in line and finishes deletions again, after a shard was opened anew: a
  /// change that reported a failure may be on its disk.
  Status Settle();

  /// kIncompatible where a shard that is not there yet knows a later collection, or a later policy
  /// of one, than the database.
  /// `own`: it is this database's own shard, which may know of a change that was interrupted.
  Status CheckKnows(const CollectionClaims& claims, bool own);
  /// Brings a shard that was opened in line with the others, before its journals are replayed.
  /// Nothing else changes.
  Status Admit(uint32_t number, const std::shared_ptr<Shard>& shard);
  /// Publishes it once its journals are replayed. What changed since Admit, it learns now; what it
  /// alone knew of collections, the others learn. On failure it is not published.
  Status Join(uint32_t number, const std::shared_ptr<Shard>& shard);

  /// Engine::PutCollection and Engine::DeleteCollection.
  Status Put(std::string_view name, const PolicyPatch& patch, std::optional<uint64_t> making);
  Status Delete(std::string_view name);

  /// Runs `work(what the file holds, whether it announces a change)` while no collection changes;
  /// one such call at a time. Before that, what a failed change left in one shard alone goes into
  /// the file and the other shards, as far as they can be written.
  Status WithoutChanges(const std::function<Status(const CollectionRecords&, bool)>& work);

 private:
  class StoppedWrites;
  void Publish(std::shared_ptr<const CollectionMap> collections);
  void PublishWith(const CollectionPtr& collection);
  CollectionPtr NewCollection(const std::string& name, const CollectionRecord& record);
  /// What calls see of the records.
  std::shared_ptr<const CollectionMap> MapOf(const CollectionRecords& records);
  /// The attached shards and this one.
  ShardSet With(uint32_t number, const std::shared_ptr<Shard>& shard) const;
  /// What the file and the shards say.
  CollectionRecords WhatHolds(const ShardSet& shards) const REQUIRES(change_mutex_);
  /// The same with one more. The others are asked only where it knows something later.
  CollectionRecords WhatHoldsWith(uint32_t number, const std::shared_ptr<Shard>& shard) const
      REQUIRES(change_mutex_);
  /// Brings one shard in line with the records.
  Status TellShard(Shard& shard, const CollectionRecords& records, const CollectionMap& map);
  /// Brings the shards in line with what they and the file say, which is published.
  Status BringInLine(const ShardSet& shards) REQUIRES(change_mutex_);
  /// Finishes deletions, and finds whether all shards have told what they know. Before each change.
  Status FinishAll(const ShardSet& shards) REQUIRES(change_mutex_);
  /// Whether nothing lies in the place of a shard.
  bool IsGone(uint32_t number) const REQUIRES(change_mutex_);
  Status FinishDeletions(Shard& shard, const CollectionMap& all) REQUIRES(change_mutex_);
  /// Whether the policy is valid, and how many column families the collections would need.
  Status CheckFamilies(std::string_view name, const Policy& policy) const;
  Status CheckAllWritable() const;
  Status Store(const CollectionPtr& wanted) REQUIRES(change_mutex_);
  /// Gives an empty collection other fixed fields. Returns `fixed` if it holds anything.
  Status BeginAnew(const CollectionPtr& wanted, const Status& fixed) REQUIRES(change_mutex_);
  Status DeleteNow(std::string_view name) REQUIRES(change_mutex_);
  Status DeleteInShards(const std::string& name, uint64_t making);
  /// Notes what holds now of a name, and writes the file.
  Status Note(const std::string& name, const CollectionRecord& record) REQUIRES(change_mutex_);
  /// Makes the file say `records_`, and whether some shard may know more.
  Status WriteFile(bool changing) REQUIRES(change_mutex_);

  const Context context_;
  mutable ReadWriteMutex mutex_{LockRank::kLeaf};
  std::shared_ptr<const CollectionMap> collections_ GUARDED_BY(mutex_) =
      std::make_shared<CollectionMap>();
  Mutex change_mutex_{LockRank::kPolicies};
  std::string root_ GUARDED_BY(change_mutex_);
  CollectionRecords records_ GUARDED_BY(change_mutex_);
  bool written_ GUARDED_BY(change_mutex_) = false;   // the file holds `records_`
  bool changing_ GUARDED_BY(change_mutex_) = false;  // it announces a change
  bool untold_ GUARDED_BY(change_mutex_) = false;    // a shard may know of an earlier change
  bool tells_all_ = false;                           // set by Load
};

}  // namespace seendb
