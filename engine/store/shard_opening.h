// store/shard_opening.h: how one shard's database is opened: its files are checked before RocksDB
// sees them, its families come under operators that are bound to the policies found inside, what is
// lost is noted.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/shard_identity.h"
#include "store/shard_logs.h"
#include "store/shard_store.h"

namespace seendb {

/// See the head of this file. Used once; nobody else is in the store, which is closed.
class ShardOpening {
 public:
  explicit ShardOpening(ShardStore& store)
      : store_(store),
        database_(store.database_),
        tables_(store.tables_),
        options_(database_.options_),
        shared_(database_.shared_) {}
  /// On failure the store is to be closed, after this has gone.
  Status Run();

 private:
  /// A family as RocksDB opened it, not yet published.
  struct Opened {
    FamilyName name;
    TableRules rules;
    std::shared_ptr<Family> family;
  };

  // The steps, in order.
  Status CheckFiles();
  Status OpenDatabase();
  Status CheckSynced();
  Status CheckShardIdentity();
  Status RenewShardIdentity();
  Status CheckNewer();
  Status LoadPolicies();
  Status PublishOpened();
  Status BumpEpoch();
  Status KeepLogLoss();
  Status MakeRingFamilies();

  rocksdb::Status OpenRocks(const rocksdb::DBOptions& db_options,
                            const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                            std::vector<rocksdb::ColumnFamilyHandle*>* handles);
  Status OpenWithPlaceholders(rocksdb::DBOptions db_options, const rocksdb::Status& refused,
                              const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                              std::vector<rocksdb::ColumnFamilyHandle*>* handles);
  Status LoadHistoryIncomplete(CollectionFamilies* families) const;
  Status LoadDropped(CollectionFamilies* families);
  Status LoadMark(CollectionFamilies* families) const;
  Status LoadMakings(FamilySet* set);
  void LoadGrowth(std::string_view collection, Bucket* bucket) const;
  Status AdoptHistory(const Opened& opened, CollectionFamilies* families);
  void SetAside(const Opened& opened);
  Status CompleteHistory(CollectionFamilies* families);
  Status LoadLosses(FamilySet* set);
  Status LoadClockNote();
  Status DistrustEarlierDrops();

  ShardStore& store_;
  ShardDatabase& database_;
  ShardFamilies& tables_;
  const ShardStoreOptions& options_;
  const std::shared_ptr<SharedResources>& shared_;
  ShardLogs logs_;  // as they were before the database was opened
  std::vector<Opened> opened_;
  std::map<std::string, Policy> policies_;
  std::string log_loss_;                          // what of the log is missing
  std::optional<ShardIdentity> former_identity_;  // of an older format
};

}  // namespace seendb
