#include "recovery/rebuild.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/return_if_failed.h"
#include "format/bytes.h"
#include "recovery/erased.h"
#include "recovery/losses.h"
#include "recovery/rebuilt_shard.h"
#include "store/files.h"
#include "store/log_file.h"
#include "store/status.h"
#include "tables/meta_keys.h"
#include "tables/table_set.h"

namespace seendb {
namespace {

constexpr size_t kNamesBytes = 500;

class Rebuilder final : public rocksdb::WriteBatch::Handler {
 public:
  Rebuilder(const RebuildInput& input, RebuildOutcome* outcome)
      : input_(input),
        out_(outcome),
        shard_(input.env, input.into),
        losses_(input.now_ms, input.repaired_before) {}

  Status Run() {
    const std::optional<Inventory> noted = ReadInventory(input_.env, input_.from);
    if (noted) noted_ = *noted;
    Status status = shard_.Open();
    for (const auto step : {&Rebuilder::MakeNotedFamilies, &Rebuilder::ReadTables,
                            &Rebuilder::ReplayLogs, &Rebuilder::EnsurePolicies,
                            &Rebuilder::EnsureMakings, &Rebuilder::Forget, &Rebuilder::WriteMeta}) {
      if (status.ok()) status = (this->*step)();
    }
    return status.ok() ? shard_.Finish() : status;
  }

  // ---- Records of the logs ----

  rocksdb::Status PutCF(uint32_t number, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    return Replay(number, [&](const std::string& name) {
      if (name == kUsersFamilyName) erasures_.Note(key.ToStringView(), value.ToStringView());
      return shard_.Take(name, key, value, sequence_);
    });
  }
  rocksdb::Status MergeCF(uint32_t number, const rocksdb::Slice& key,
                          const rocksdb::Slice& value) override {
    return PutCF(number, key, value);
  }
  rocksdb::Status DeleteCF(uint32_t number, const rocksdb::Slice& key) override {
    return Replay(number,
                  [&](const std::string& name) { return shard_.Delete(name, key, sequence_); });
  }
  rocksdb::Status SingleDeleteCF(uint32_t number, const rocksdb::Slice& key) override {
    return DeleteCF(number, key);
  }
  rocksdb::Status MarkNoop(bool) override { return {}; }
  void LogData(const rocksdb::Slice&) override {}

 private:
  template <typename Work>
  rocksdb::Status Replay(uint32_t number, const Work& work) {
    ++sequence_;
    const auto name = names_.find(number);
    if (name == names_.end()) {
      // What was dropped has a number below those that were there later.
      if (number > names_.rbegin()->first || noted_.families.empty()) {
        ++unknown_records_;
      }
      return {};
    }
    Status status = work(name->second);
    if (status.ok()) status = shard_.FlushSome();
    if (status.ok()) return {};
    failed_ = status;
    return rocksdb::Status::Aborted();
  }

  Status MakeNotedFamilies() {
    Status status = shard_.MakeFamily(kUsersFamilyName);
    for (const auto& [number, name] : noted_.families) {
      names_[number] = name;
      if (status.ok()) status = shard_.MakeFamily(name);
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
    // By number: behind 999999 they have more digits.
    std::sort(tables.begin(), tables.end(), [](const Table& a, const Table& b) {
      return std::pair(a.name.size(), a.name) < std::pair(b.name.size(), b.name);
    });
    return tables;
  }

  Status ReadTables() {
    for (const Table& table : Tables()) {
      RETURN_IF_FAILED(ReadTable(table));
    }
    return shard_.Flush();
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
      losses_.LoseLog(table.name + " can't be read at all");
      return {};
    }
    Status status = shard_.MakeFamily(family);
    if (!status.ok()) return status;
    const rocksdb::Options options(OptionsOfDatabase(input_.env), ReadingOptions(family));
    std::optional<RowSequences> sequences;  // of what is no merge
    if (family == rocksdb::kDefaultColumnFamilyName) sequences.emplace(options, path);
    const auto row = [&](std::string_view key, std::string_view value) {
      if (!status.ok()) return;
      const bool versioned = sequences && RebuildOf(key) != MetaRebuild::kDropped;
      status = shard_.Take(family, {key.data(), key.size()}, {value.data(), value.size()},
                           versioned ? sequences->Of(key, value) : 0);
      if (status.ok()) status = shard_.FlushSome();
    };
    SalvagedTable read = SalvageTable(options, path, table.smallest, table.largest, row);
    out_->keys += read.keys;
    if (!read.lost.empty()) losses_.LoseRows(family, table.name, read.lost);
    if (!read.whole() || DamageOf(table.name) != nullptr)
      out_->tables[table.name] = std::move(read);
    return status;
  }

  // ---- Logs ----

  Status ReplayLogs() {
    for (const LogState& log : input_.findings.logs) {
      LogExtent extent;
      const Status read = ReadLogFile(
          input_.env, input_.from + "/" + LogName(log.number),
          [this](std::string_view record) {
            if (!failed_.ok()) return;
            const rocksdb::WriteBatch batch{std::string(record)};
            ++out_->records;
            sequence_ = Reader(record).U64() - 1;  // of its first row
            if (!batch.Iterate(this).ok() && failed_.ok()) ++unknown_records_;
          },
          &extent);
      if (!failed_.ok()) return failed_;
      if (!read.ok()) losses_.LoseLog(LogName(log.number) + " can't be read");
    }
    if (unknown_records_ > 0) {
      losses_.LoseLog("records of families that nothing names any more: " +
                      std::to_string(unknown_records_));
    }
    for (const FileDamage& damage : input_.findings.damages) {
      if (damage.file.ends_with(".log")) losses_.LoseLog(damage.file + " is " + damage.kind);
    }
    const std::optional<uint64_t> synced = ReadSyncedSequence(input_.env, input_.from);
    uint64_t last = 0;
    for (const LogState& log : input_.findings.logs) last = std::max(last, log.last_sequence);
    // All may be in tables, and a new log begun.
    const bool new_log = !noted_.logs.empty() && !input_.findings.logs.empty() &&
                         noted_.logs.back() == input_.findings.logs.back().number &&
                         noted_.log_bytes.contains(noted_.logs.back());
    if (!input_.findings.opens && synced && last < *synced && !new_log) {
      losses_.LoseLog("the logs end before what was synced");
    }
    if (!input_.env->FileExists(input_.from).ok()) losses_.LoseLog("the whole shard is missing");
    const Status taken = shard_.WriteTaken(input_.now_ms);
    return taken.ok() ? shard_.Flush() : taken;
  }

  // ---- What is written of its own ----

  // A policy that the shard itself tells no more is taken from FILES, or another shard.
  Status EnsurePolicies() {
    std::map<std::string, std::string> known = input_.policies;
    for (const auto& [name, json] : noted_.policies) known[name] = json;
    for (const auto& [name, json] : known) {
      std::string stored;
      const std::string key = kCollectionPrefix + name;
      if (shard_.db()->Get({}, shard_.meta(), key, &stored).ok()) continue;
      RETURN_IF_FAILED(shard_.PutMeta(key, json));
    }
    Status status = shard_.Flush();
    const std::unique_ptr<rocksdb::Iterator> it(shard_.db()->NewIterator({}));
    for (it->Seek(kCollectionPrefix); it->Valid() && it->key().starts_with(kCollectionPrefix);
         it->Next()) {
      const Result<PolicyPatch> patch = PolicyPatchFromJson(it->value().ToStringView());
      if (!patch.ok()) return Status::Corruption("policy: " + patch.status().ToString());
      policies_[it->key().ToString().substr(sizeof(kCollectionPrefix) - 1)] =
          ApplyPatch({}, *patch);
    }
    for (const auto& [name, handle] : shard_.families()) {
      const FamilyName family = ParseFamilyName(name);
      if (family.collection.empty() || policies_.contains(family.collection)) continue;
      return Status::Corruption("nothing tells the policy of " + family.collection +
                                " any more; restore a checkpoint");
    }
    return status;
  }

  // What is left is of the present collection, where nothing says so any more: an opening would
  // delete what is of a former one.
  Status EnsureMakings() {
    for (const auto& [name, number] : input_.makings) {
      std::string stored;
      Making making;
      if (shard_.db()->Get({}, shard_.meta(), MadeKey(name), &stored).ok()) {
        making = Making::FromJson(stored).value_or(Making());
      }
      if (making.deleting || making.number >= number) continue;
      making.number = number;
      RETURN_IF_FAILED(shard_.PutMeta(MadeKey(name), making.ToJson()));
    }
    return {};
  }

  Status Forget() { return ForgetErased(policies_, erasures_, &shard_, &losses_); }

  Status WriteMeta() {
    Status put = losses_.Write(policies_, &shard_, &out_->losses);
    out_->notes = losses_.notes();
    if (!shard_.taken().sources().empty()) out_->notes.push_back(SourcesForgotten());
    for (const std::string& source : shard_.taken().sources()) {
      if (put.ok()) put = shard_.PutMeta(kTopicPrefix + source, ForgottenTopicState());
    }
    const ShardIdentity identity{kFormatVersion, input_.identity.id, input_.identity.shard,
                                 input_.identity.shards, input_.identity.hash};
    if (put.ok()) put = shard_.PutMeta(kIdentityKey, identity.ToJson());
    if (put.ok()) put = shard_.PutMeta(kRingKey, RingState(shard_.epoch()));
    return put.ok() ? shard_.Flush() : put;
  }

  std::string SourcesForgotten() const {
    std::string names;
    for (const std::string& source : shard_.taken().sources()) {
      if (names.size() > kNamesBytes) {
        names += ", ...";
        break;
      }
      names += (names.empty() ? "" : ", ") + source;
    }
    return "default: how far logs were ingested is forgotten, they are to be read again from where "
           "they "
           "begin (topic/partition): " +
           names;
  }

  const RebuildInput& input_;
  RebuildOutcome* const out_;
  RebuiltShard shard_;
  RepairLosses losses_;
  Inventory noted_;
  // Of families, by the old shard's numbers.
  std::map<uint32_t, std::string> names_{{0, rocksdb::kDefaultColumnFamilyName}};
  std::map<std::string, Policy> policies_;
  ReplayedErasures erasures_;
  uint64_t sequence_ = 0;  // RocksDB's, of the row of a log that is being read
  uint64_t unknown_records_ = 0;
  Status failed_;
};

}  // namespace

Status RebuildShard(const RebuildInput& input, RebuildOutcome* outcome) {
  return Rebuilder(input, outcome).Run();
}

std::map<std::string, std::string> PoliciesOfOthers(rocksdb::Env* env, const std::string& root,
                                                    const DatabaseFindings& found, uint32_t shard) {
  std::map<std::string, std::string> policies;
  for (const auto& [number, findings] : found.shards) {
    if (number == shard || !findings.opens) continue;
    rocksdb::Options options(OptionsOfDatabase(env), {});
    options.paranoid_checks = false;
    rocksdb::DB* opened = nullptr;
    const std::string folder = root + "/" + ShardFile(number);
    if (!rocksdb::DB::OpenForReadOnly(options, folder, &opened).ok()) continue;
    const std::unique_ptr<rocksdb::DB> db(opened);
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
    for (it->Seek(kCollectionPrefix); it->Valid() && it->key().starts_with(kCollectionPrefix);
         it->Next()) {
      policies.emplace(it->key().ToString().substr(sizeof(kCollectionPrefix) - 1),
                       it->value().ToString());  // the lowest shard's word holds
    }
  }
  return policies;
}

RebuildOutcome TryTables(const RebuildInput& input) {
  RebuildOutcome outcome;
  for (const FileDamage& damage : input.findings.damages) {
    if (IsLog(damage)) {
      outcome.losses.push_back("the log: " + damage.file + " is " + damage.kind +
                               kForgottenWithLog);
    }
    if (!IsTable(damage)) continue;
    const std::string path = input.from + "/" + damage.file;
    const std::string family =
        damage.family.empty() ? OwnerOfTable(input.env, path).family : damage.family;
    const rocksdb::Options options(OptionsOfDatabase(input.env), ReadingOptions(family));
    SalvagedTable table =
        SalvageTable(options, path, {}, {}, [](std::string_view, std::string_view) {});
    if (!table.lost.empty()) {
      outcome.losses.push_back((family.empty() ? "a family that nothing names" : family) + ": " +
                               damage.file + " was damaged");
    }
    outcome.tables[damage.file] = std::move(table);
  }
  return outcome;
}

}  // namespace seendb
