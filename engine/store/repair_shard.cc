#include "store/repair_shard.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/user_codec.h"
#include "store/copy_file.h"
#include "store/families.h"
#include "store/files.h"
#include "store/history_rows.h"
#include "store/log_file.h"
#include "store/meta_keys.h"
#include "store/scan.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr int kEpochShift = 40;
constexpr char kUsersForgotten[] =
    ": erasures, clears, pauses, active days may be forgotten; what was erased stays so";

SharedResources Shared(rocksdb::Env* env) {
  SharedResources shared;
  shared.env = env;
  shared.counters = std::make_shared<MergeCounters>();
  return shared;
}

class Rebuilder final : public rocksdb::WriteBatch::Handler {
 public:
  Rebuilder(const RebuildInput& input, RebuildOutcome* outcome) : input_(input), out_(outcome) {}
  ~Rebuilder() override { CloseDatabase().PermitUncheckedError(); }
  Rebuilder(const Rebuilder&) = delete;
  Rebuilder& operator=(const Rebuilder&) = delete;

  Status Run() {
    const std::optional<Inventory> noted = ReadInventory(input_.env, input_.from);
    if (noted) noted_ = *noted;
    Status status = OpenDatabase();
    for (const auto step : {&Rebuilder::MakeNotedFamilies, &Rebuilder::ReadTables,
                            &Rebuilder::ReadLogs, &Rebuilder::EnsurePolicies,
                            &Rebuilder::ForgetErased, &Rebuilder::WriteMeta, &Rebuilder::Finish}) {
      if (status.ok()) status = (this->*step)();
    }
    return status;
  }

  // ---- Records of the logs ----

  rocksdb::Status PutCF(uint32_t number, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    return Replay(number, [&](const std::string& name) { return Take(name, key, value); });
  }
  rocksdb::Status MergeCF(uint32_t number, const rocksdb::Slice& key,
                          const rocksdb::Slice& value) override {
    return Replay(number, [&](const std::string& name) { return Take(name, key, value); });
  }
  rocksdb::Status DeleteCF(uint32_t number, const rocksdb::Slice& key) override {
    return Replay(number, [&](const std::string& name) {
      const FamilyName::Kind kind = ParseFamilyName(name).kind;
      if (kind == FamilyName::kSeen) replayed_erasures_.insert(key.ToString());
      return FromRocks(batch_.Delete(Handle(name), key), "repair");
    });
  }
  rocksdb::Status SingleDeleteCF(uint32_t number, const rocksdb::Slice& key) override {
    return DeleteCF(number, key);
  }
  rocksdb::Status MarkNoop(bool) override { return {}; }
  void LogData(const rocksdb::Slice&) override {}

 private:
  template <typename Work>
  rocksdb::Status Replay(uint32_t number, const Work& work) {
    const auto name = names_.find(number);
    if (name == names_.end()) {
      // What was dropped has a number below those that were there later.
      if (names_.empty() || number > names_.rbegin()->first || noted_.families.empty()) {
        ++unknown_records_;
      }
      return {};
    }
    Status status = work(name->second);
    if (status.ok() && batch_.GetDataSize() > kBatchBytes) status = Flush();
    if (status.ok()) return {};
    failed_ = status;
    return rocksdb::Status::Aborted();
  }

  Status OpenDatabase() {
    rocksdb::Options options(OptionsOfDatabase(input_.env),
                             OptionsOfFamily(input_.env, rocksdb::kDefaultColumnFamilyName));
    options.create_if_missing = true;
    options.error_if_exists = true;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options, input_.into, &db);
    if (!opened.ok()) return FromRocks(opened, "make " + input_.into);
    db_.reset(db);
    names_[0] = rocksdb::kDefaultColumnFamilyName;
    return {};
  }
  rocksdb::Status CloseDatabase() {
    if (!db_) return {};
    for (const auto& [name, handle] : handles_) {
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
    handles_.clear();
    const rocksdb::Status closed = db_->Close();
    db_.reset();
    return closed;
  }

  rocksdb::ColumnFamilyHandle* Handle(const std::string& name) {
    if (name == rocksdb::kDefaultColumnFamilyName) return db_->DefaultColumnFamily();
    return handles_.at(name);
  }
  Status MakeFamily(const std::string& name) {
    if (name == rocksdb::kDefaultColumnFamilyName || handles_.contains(name)) return {};
    const bool unknown = ParseFamilyName(name).kind == FamilyName::kUnknown;
    if (unknown) return Status::Incompatible("unknown column family " + name);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const rocksdb::Status made =
        db_->CreateColumnFamily(OptionsOfFamily(input_.env, name), name, &handle);
    if (!made.ok()) return FromRocks(made, "make the family " + name);
    handles_[name] = handle;
    return {};
  }
  Status MakeNotedFamilies() {
    Status status = MakeFamily(kUsersFamilyName);
    for (const auto& [number, name] : noted_.families) {
      names_[number] = name;
      if (status.ok()) status = MakeFamily(name);
    }
    return status;
  }

  // ---- Tables ----

  const FileDamage* DamageOf(const std::string& file) const {
    const auto at = std::find_if(input_.findings.damages.begin(), input_.findings.damages.end(),
                                 [&](const FileDamage& one) { return one.file == file; });
    return at == input_.findings.damages.end() ? nullptr : &*at;
  }

  struct Table {
    std::string name, family, smallest, largest;
  };
  // Those that RocksDB's list names, where there is one; else those that are there.
  std::vector<Table> Tables() const {
    std::vector<Table> tables;
    if (input_.findings.opens) {
      for (const rocksdb::LiveFileMetaData& one : input_.findings.tables) {
        tables.push_back(
            {one.name.substr(1), one.column_family_name, one.smallestkey, one.largestkey});
      }
    } else {
      std::vector<std::string> names;
      input_.env->GetChildren(input_.from, &names).PermitUncheckedError();
      for (std::string& name : names) {
        if (name.ends_with(".sst")) tables.push_back({std::move(name), {}, {}, {}});
      }
    }
    std::sort(tables.begin(), tables.end(),
              [](const Table& a, const Table& b) { return a.name < b.name; });
    return tables;
  }

  Status ReadTables() {
    for (const Table& table : Tables()) {
      const Status status = ReadTable(table);
      if (!status.ok()) return status;
    }
    return Flush();
  }

  Status ReadTable(const Table& table) {
    const std::string path = input_.from + "/" + table.name;
    std::string family = table.family;
    if (family.empty()) {
      const TableOwner told = OwnerOfTable(input_.env, path);
      family = told.family;
      const bool dropped = !noted_.families.empty() && !family.empty() &&
                           !noted_.families.contains(told.number) &&
                           told.number < noted_.families.rbegin()->first;
      if (dropped) return {};
      if (!family.empty()) names_[told.number] = family;
    }
    if (family.empty()) {  // nothing of it reads: it may be any family's
      out_->tables[table.name].bytes_left = DamageOf(table.name) ? 1 : 0;
      LoseLog(table.name + " can't be read at all");
      return {};
    }
    Status status = MakeFamily(family);
    if (!status.ok()) return status;
    const auto row = [&](std::string_view key, std::string_view value) {
      if (!status.ok()) return;
      status = Take(family, {key.data(), key.size()}, {value.data(), value.size()});
      if (status.ok() && batch_.GetDataSize() > kBatchBytes) status = Flush();
    };
    SalvagedTable read = SalvageTable(
        rocksdb::Options(OptionsOfDatabase(input_.env), OptionsOfFamily(input_.env, family)), path,
        table.smallest, table.largest, row);
    out_->keys += read.keys;
    if (!read.lost.empty()) Lose(family, table.name, read.lost);
    if (!read.whole() || DamageOf(table.name) != nullptr)
      out_->tables[table.name] = std::move(read);
    return status;
  }

  // ---- Rows ----

  // Every value is merged to what is there; what is no merge is decided here.
  Status Take(const std::string& name, const rocksdb::Slice& key, const rocksdb::Slice& value) {
    const FamilyName::Kind kind = ParseFamilyName(name).kind;
    if (const std::string newer = NewerReason(kind, value.ToStringView()); !newer.empty()) {
      return Status::Incompatible(name + ": " + newer + "; repair with that");
    }
    switch (kind) {
      case FamilyName::kDefault:
        return TakeMeta(key.ToStringView(), value);
      case FamilyName::kRing: {
        uint64_t sequence = 0;
        if (ParseSequenceKey(key.ToStringView(), &sequence)) SawSequence(sequence);
        return FromRocks(batch_.Put(Handle(name), key, value), "repair");
      }
      case FamilyName::kUsers: {
        UserRecord record;
        if (record.Parse(value.ToStringView())) SawSequence(record.LastSequence());
        break;
      }
      case FamilyName::kImpressions: {
        ImpressionList list;
        if (!list.Parse(value.ToStringView())) break;
        for (const ImpressionEntry& entry : list.entries) SawSequence(entry.stamp);
        break;
      }
      case FamilyName::kTimeline:
        return FromRocks(batch_.Put(Handle(name), key, value), "repair");
      case FamilyName::kSeen:
      case FamilyName::kHistory:
      case FamilyName::kUnknown:
        break;
    }
    return FromRocks(batch_.Merge(Handle(name), key, value), "repair");
  }

  Status TakeMeta(std::string_view key, const rocksdb::Slice& value) {
    if (key == kIdentityKey) return {};
    if (key == kRingKey) {
      epoch_ = std::max(epoch_, ParseRingState(value.ToStringView()).value_or(0));
      return {};
    }
    return FromRocks(batch_.Put(db_->DefaultColumnFamily(), {key.data(), key.size()}, value),
                     "repair");
  }

  void SawSequence(uint64_t sequence) { epoch_ = std::max(epoch_, sequence >> kEpochShift); }

  Status Flush() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    const rocksdb::Status written = db_->Write(options, &batch_);
    batch_.Clear();
    return FromRocks(written, "write to " + input_.into);
  }

  // ---- Logs ----

  Status ReadLogs() {
    for (const LogState& log : input_.findings.logs) {
      LogExtent extent;
      const Status read = ReadLogFile(
          input_.env, input_.from + "/" + LogName(log.number),
          [this](std::string_view record) {
            if (!failed_.ok()) return;
            const rocksdb::WriteBatch batch{std::string(record)};
            ++out_->records;
            if (!batch.Iterate(this).ok() && failed_.ok()) ++unknown_records_;
          },
          &extent);
      if (!failed_.ok()) return failed_;
      if (!read.ok()) LoseLog(LogName(log.number) + " can't be read");
    }
    if (unknown_records_ > 0) {
      LoseLog("records of families that nothing names any more: " +
              std::to_string(unknown_records_));
    }
    for (const FileDamage& damage : input_.findings.damages) {
      if (damage.file.ends_with(".log")) LoseLog(damage.file + " is " + damage.kind);
    }
    const std::optional<uint64_t> synced = ReadSyncedSequence(input_.env, input_.from);
    uint64_t last = 0;
    for (const LogState& log : input_.findings.logs) last = std::max(last, log.last_sequence);
    // All may be in tables, and a new log begun.
    const bool new_log = !noted_.logs.empty() && !input_.findings.logs.empty() &&
                         noted_.logs.back() == input_.findings.logs.back().number &&
                         noted_.log_bytes.contains(noted_.logs.back());
    if (!input_.findings.opens && synced && last < *synced && !new_log) {
      LoseLog("the logs end before what was synced");
    }
    if (!input_.env->FileExists(input_.from).ok()) LoseLog("the whole shard is missing");
    return Flush();
  }

  // ---- What is lost ----

  void LoseLog(const std::string& reason) { log_loss_.Absorb({input_.now_ms, reason, {}}); }
  void Lose(const std::string& family, const std::string& table,
            const std::vector<UserRange>& ranges) {
    const FamilyName name = ParseFamilyName(family);
    const std::string reason = table + " was damaged";
    Losses lost{input_.now_ms, reason, ranges};
    switch (name.kind) {
      case FamilyName::kSeen:
        losses_[LostKey(name.collection, name.bucket)].Absorb(lost);
        break;
      case FamilyName::kImpressions:
        losses_[LostKey(name.collection, kImpressionsLabel)].Absorb(lost);
        break;
      case FamilyName::kHistory:
      case FamilyName::kTimeline:  // keys of both begin with a size: nobody's in particular
        lost.users.clear();
        losses_[LostHistoryKey(name.collection, name.bucket)].Absorb(lost);
        break;
      case FamilyName::kRing:
        LoseLog(reason + ", with staged plays");
        break;
      case FamilyName::kUsers:
        forget_whole_ = true;
        out_->notes.push_back(reason + kUsersForgotten);
        break;
      case FamilyName::kDefault:
        forget_whole_ = true;
        if (input_.repaired_before) LoseLog(reason + ", with what an earlier repair noted as lost");
        break;
      case FamilyName::kUnknown:
        break;
    }
  }

  // ---- What is written of its own ----

  // A policy that the shard itself tells no more is taken from FILES, or another shard.
  Status EnsurePolicies() {
    std::map<std::string, std::string> known = input_.policies;
    for (const auto& [name, json] : noted_.policies) known[name] = json;
    for (const auto& [name, json] : known) {
      std::string stored;
      const std::string key = kCollectionPrefix + name;
      if (db_->Get({}, db_->DefaultColumnFamily(), key, &stored).ok()) continue;
      const rocksdb::Status put = batch_.Put(db_->DefaultColumnFamily(), key, json);
      if (!put.ok()) return FromRocks(put, "repair");
    }
    Status status = Flush();
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
    for (it->Seek(kCollectionPrefix); it->Valid() && it->key().starts_with(kCollectionPrefix);
         it->Next()) {
      const Result<PolicyPatch> patch = PolicyPatchFromJson(it->value().ToStringView());
      if (!patch.ok()) return Status::Corruption("policy: " + patch.status().ToString());
      policies_[it->key().ToString().substr(sizeof(kCollectionPrefix) - 1)] =
          ApplyPatch({}, *patch);
    }
    for (const auto& [name, handle] : handles_) {
      const FamilyName family = ParseFamilyName(name);
      if (family.collection.empty() || policies_.contains(family.collection)) continue;
      return Status::Corruption("nothing tells the policy of " + family.collection +
                                " any more; restore a checkpoint");
    }
    return status;
  }

  // The order of an erasure and what a table holds is not known any more. A bucket that had ended
  // by then holds nothing of the user; one that began later holds nothing that was erased.
  Status ForgetErased() {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, Handle(kUsersFamilyName)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      UserRecord record;
      const std::string user = it->key().ToString();
      if (!record.Parse(it->value().ToStringView()) || record.erased_seq == 0) continue;
      for (const auto& [name, handle] : handles_) {
        const Status status = ForgetIn(ParseFamilyName(name), handle, user, record);
        if (!status.ok()) return status;
      }
    }
    return Flush();
  }
  Status ForgetIn(const FamilyName& family, rocksdb::ColumnFamilyHandle* handle,
                  const std::string& user, const UserRecord& record) {
    const bool history =
        family.kind == FamilyName::kHistory || family.kind == FamilyName::kTimeline;
    if (family.kind == FamilyName::kImpressions) return ForgetServed(handle, user, record);
    if (!history && family.kind != FamilyName::kSeen) return {};
    if (replayed_erasures_.contains(user)) return {};
    const Policy& policy = policies_.at(family.collection);
    const Result<int64_t> index = BucketIndexOfLabel(policy, family.bucket);
    if (!index.ok()) return index.status();
    if (BucketBeginMs(policy, *index) > record.erased_at_ms + policy.max_future_ms) return {};
    std::string value;
    if (!history && !db_->Get({}, handle, user, &value).ok()) return {};
    const auto before = batch_.Count();
    const rocksdb::Status gone =
        history ? DeleteHistoryOf(user, db_.get(), handle, &batch_) : batch_.Delete(handle, user);
    if (batch_.Count() > before && BucketBeginMs(policy, *index + 1) > record.erased_at_ms) {
      losses_[history ? LostHistoryKey(family.collection, family.bucket)
                      : LostKey(family.collection, family.bucket)]
          .Absorb({input_.now_ms, "a user was erased in its time", {{user, user + '\0'}}});
    }
    return FromRocks(gone, "repair");
  }
  Status ForgetServed(rocksdb::ColumnFamilyHandle* handle, const std::string& user,
                      const UserRecord& record) {
    std::string value;
    ImpressionList list;
    if (replayed_erasures_.contains(user) || !db_->Get({}, handle, user, &value).ok()) return {};
    rocksdb::Status status = batch_.Delete(handle, user);
    if (!status.ok() || !list.Parse(value)) return FromRocks(status, "repair");
    std::erase_if(list.entries,
                  [&](const ImpressionEntry& entry) { return entry.stamp <= record.erased_seq; });
    list.Encode(&value);
    if (!list.entries.empty()) status = batch_.Merge(handle, user, value);
    return FromRocks(status, "repair");
  }

  Status WriteMeta() {
    rocksdb::ColumnFamilyHandle* const meta = db_->DefaultColumnFamily();
    if (!log_loss_.reason.empty()) {
      for (const auto& [name, policy] : policies_) losses_[LostKey(name)].Absorb(log_loss_);
    }
    for (auto& [key, losses] : losses_) {
      out_->losses.push_back(key.substr(sizeof(kLostPrefix) - 1) + ": " + losses.reason);
      std::string stored;
      if (db_->Get({}, meta, key, &stored).ok()) {
        if (const auto before = Losses::FromJson(stored)) losses.Absorb(*before);
      }
      const rocksdb::Status put = batch_.Put(meta, key, losses.ToJson());
      if (!put.ok()) return FromRocks(put, "repair");
    }
    rocksdb::Status put;
    for (const auto& [name, policy] : policies_) {
      if (forget_whole_ && put.ok()) put = batch_.Delete(meta, UnwatchedKey(name));
    }
    const ShardIdentity identity{kFormatVersion, input_.identity.id, input_.identity.shard,
                                 input_.identity.shards};
    if (put.ok()) put = batch_.Put(meta, kIdentityKey, identity.ToJson());
    if (put.ok()) put = batch_.Put(meta, kRingKey, RingState(epoch_));
    return put.ok() ? Flush() : FromRocks(put, "repair");
  }

  Status Finish() {
    std::vector<rocksdb::ColumnFamilyHandle*> all{db_->DefaultColumnFamily()};
    for (const auto& [name, handle] : handles_) all.push_back(handle);
    const rocksdb::Status flushed = db_->Flush({}, all);
    if (!flushed.ok()) return FromRocks(flushed, "write " + input_.into);
    const rocksdb::Status closed = CloseDatabase();
    if (!closed.ok()) return FromRocks(closed, "close " + input_.into);
    return SyncFolder(input_.env, input_.into);
  }

  const RebuildInput& input_;
  RebuildOutcome* const out_;
  Inventory noted_;
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> handles_;
  std::map<uint32_t, std::string> names_;  // of families by the old shard's numbers
  rocksdb::WriteBatch batch_;
  std::map<std::string, Policy> policies_;
  std::set<std::string> replayed_erasures_;
  std::map<std::string, Losses> losses_;  // by the marker's key
  Losses log_loss_;
  bool forget_whole_ = false;  // what clears and pauses kept from history: it is not whole any more
  uint64_t epoch_ = 0;
  uint64_t unknown_records_ = 0;
  Status failed_;
};

}  // namespace

rocksdb::ColumnFamilyOptions OptionsOfFamily(rocksdb::Env* env, const std::string& name) {
  const SharedResources shared = Shared(env);
  auto seen = std::make_shared<SeenRules>();
  seen->counters = shared.counters;
  auto impressions = std::make_shared<ImpressionRules>();
  impressions->counters = shared.counters;
  impressions->limit = UINT32_MAX;
  return FamilyOptions(shared, ParseFamilyName(name).kind, seen, impressions);
}

rocksdb::DBOptions OptionsOfDatabase(rocksdb::Env* env) { return DatabaseOptions(Shared(env)); }

Status RebuildShard(const RebuildInput& input, RebuildOutcome* outcome) {
  return Rebuilder(input, outcome).Run();
}

}  // namespace seendb
