#include "catalog.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "collection_truth.h"
#include "store/files.h"
#include "store/real_disk.h"

namespace seendb {
namespace {

constexpr char kFileProblem[] = "COLLECTIONS: ";

// Families a shard may need for a collection: impressions, each bucket kept, one being dropped,
// one made ahead, and those that plays of the future reach; of history two a bucket.
uint64_t FamiliesOf(const Policy& policy) {
  constexpr int64_t kShortestMonthDays = 28;
  const int64_t days =
      policy.bucket.kind == BucketKind::kMonth ? kShortestMonthDays : policy.bucket.days;
  const auto reached = static_cast<uint64_t>(policy.max_future_ms / (days * 86'400'000) + 1);
  const uint64_t filters = policy.retention + 2 + reached;
  if (!policy.history.enabled) return filters;
  const uint64_t kept = policy.history.days / static_cast<uint64_t>(days) + 2;
  return filters + 2 * (kept + 2 + reached);
}

// Ends a deletion in one shard: it holds the former collection, and nobody else knows of it.
Status FinishDeletionIn(Shard& shard, const std::string& name) {
  shard.catalog().StopWrites(name);
  Status finished = shard.catalog().FinishDeletion(name);
  shard.catalog().ResumeWrites(name);
  return finished;
}

}  // namespace

// ---- What is published ----

std::shared_ptr<const CollectionMap> Catalog::All() const {
  const ReaderLock lock(mutex_);
  return collections_;
}

Result<CollectionPtr> Catalog::Find(std::string_view name) const {
  const std::shared_ptr<const CollectionMap> all = All();
  const auto at = all->find(name);
  if (at != all->end()) return at->second;
  RETURN_IF_FAILED(context_.shards->CheckOpened());
  return Status::NotFound("no collection \"" + std::string(name) + "\"", "/collection");
}

void Catalog::Publish(std::shared_ptr<const CollectionMap> collections) {
  const WriterLock lock(mutex_);
  collections_ = std::move(collections);
}

void Catalog::PublishWith(const CollectionPtr& collection) {
  auto map = std::make_shared<CollectionMap>(*All());
  (*map)[collection->name] = collection;
  Publish(std::move(map));
}

CollectionPtr Catalog::NewCollection(const std::string& name, const CollectionRecord& record) {
  assert(record.policy.has_value());
  return std::make_shared<const Collection>(
      Collection{name, context_.names->Intern(name, record.making), record.making, record.revision,
                 *record.policy});
}

std::shared_ptr<const CollectionMap> Catalog::MapOf(const CollectionRecords& records) {
  auto map = std::make_shared<CollectionMap>();
  for (const auto& [name, record] : records) {
    if (record.policy) (*map)[name] = NewCollection(name, record);
  }
  return map;
}

// ---- What holds ----

ShardSet Catalog::With(uint32_t number, const std::shared_ptr<Shard>& shard) const {
  ShardSet with = *context_.shards->All();
  with[number] = shard;
  return with;
}

CollectionRecords Catalog::WhatHolds(const ShardSet& shards) const {
  std::map<std::string, std::vector<CollectionClaim>, std::less<>> claims;
  for (const auto& [name, record] : records_) claims[name];
  for (const std::shared_ptr<Shard>& shard : shards) {
    const auto of_shard =
        shard == nullptr ? std::optional<CollectionClaims>() : shard->catalog().Claims();
    if (!of_shard) continue;  // what others know stays
    for (const auto& [name, claim] : *of_shard) claims[name].push_back(claim);
  }
  CollectionRecords holds;
  for (const auto& [name, said] : claims) {
    const auto filed = records_.find(name);
    holds[name] = SettleCollection(filed == records_.end() ? nullptr : &filed->second, said);
  }
  return holds;
}

CollectionRecords Catalog::WhatHoldsWith(uint32_t number,
                                         const std::shared_ptr<Shard>& shard) const {
  const std::optional<CollectionClaims> claims = shard->catalog().Claims();
  const bool later = claims && !CheckNoneLater(records_, *claims).ok();
  return later ? WhatHolds(With(number, shard)) : records_;
}

Status Catalog::Load(const std::string& root) {
  const MutexLock change(change_mutex_);
  root_ = root;
  Result<std::optional<CollectionRecords>> filed = ReadCollections(context_.env, root, &changing_);
  if (filed.status().code() == StatusCode::kCorruption) {
    context_.problems->Add(kFileProblem + std::string(filed.status().message()) +
                           "; the shards are believed");
  } else if (!filed.ok()) {
    return filed.status();
  } else if (filed->has_value()) {
    records_ = **std::move(filed);
    written_ = true;
    tells_all_ = !changing_;
    Publish(MapOf(records_));
  }
  return {};
}

Status Catalog::Begin(bool fresh) {
  const MutexLock change(change_mutex_);
  const Status in_line = BringInLine(*context_.shards->All());
  const auto known = records_.find("default");
  if (!in_line.ok() || !fresh || (known != records_.end() && known->second.policy)) return in_line;
  const CollectionRecord record{0, 1, ApplyPatch({}, context_.options->default_policy)};
  Status status = CheckFamilies("default", *record.policy);
  if (status.ok()) status = Store(NewCollection("default", record));
  return status.ok() ? Note("default", record) : status;
}

Status Catalog::Finish() {
  const MutexLock change(change_mutex_);
  return FinishAll(*context_.shards->All());
}

// A shard that is being opened anew settles by itself once it is healed: nobody waits for it.
Status Catalog::Settle() {
  const MutexLock change(change_mutex_);
  const Status in_line = BringInLine(*context_.shards->All());
  return in_line.ok() ? FinishAll(*context_.shards->All()) : in_line;
}

// A shard that holds a collection of before is to forget it first, and learns of the present one in
// FinishAll.
Status Catalog::TellShard(Shard& shard, const CollectionRecords& records,
                          const CollectionMap& map) {
  const std::optional<CollectionClaims> claims = shard.catalog().Claims();
  if (!claims) return {};
  Status first;
  for (const auto& [name, record] : records) {
    const auto said = claims->find(name);
    const CollectionClaim claim = said == claims->end() ? CollectionClaim() : said->second;
    Status done;
    if (claim.policy && (claim.deleting || claim.making < record.making)) {
      done = shard.catalog().BeginDeletion(name, record.making);
    } else if (record.policy) {
      done = shard.catalog().Adopt(*map.at(name));
    }
    if (first.ok() && !done.ok()) first = std::move(done);
  }
  return first;
}

// The first failure; the other shards go on. Where the file can't be written, what held before
// holds.
Status Catalog::BringInLine(const ShardSet& shards) {
  CollectionRecords holds = WhatHolds(shards);
  std::swap(records_, holds);
  const bool news = holds != records_;
  written_ = written_ && !news;
  const bool announced = changing_;
  Status first = news && !context_.options->read_only ? WriteFile(true) : Status();
  if (!first.ok()) {
    records_ = std::move(holds);
    const Status undone = WriteFile(announced);
    static_cast<void>(undone);  // the failure to report is the first
    return first;
  }
  const std::shared_ptr<const CollectionMap> map = MapOf(records_);
  for (const std::shared_ptr<Shard>& shard : shards) {
    if (shard == nullptr || context_.options->read_only) continue;
    Status told = TellShard(*shard, records_, *map);
    if (first.ok()) first = std::move(told);
  }
  Publish(map);
  return first;
}

Status Catalog::FinishIn(uint32_t number, const std::shared_ptr<Shard>& shard,
                         std::shared_ptr<const CollectionMap>* all) {
  const MutexLock change(change_mutex_);
  *all = MapOf(WhatHoldsWith(number, shard));
  return FinishDeletions(*shard, **all);
}

Status Catalog::FinishDeletions(Shard& shard, const CollectionMap& all) {
  if (context_.options->read_only) return {};
  const std::optional<CollectionClaims> claims = shard.catalog().Claims();
  if (!claims) return {};
  for (const auto& [name, claim] : *claims) {
    if (!claim.deleting) continue;
    Status done = FinishDeletionIn(shard, name);
    const auto present = all.find(name);
    if (done.ok() && present != all.end()) done = shard.catalog().Adopt(*present->second);
    if (!done.ok()) return done;
  }
  return {};
}

// A shard that lies in its place and is not opened (Options::owned) has told nothing either.
Status Catalog::FinishAll(const ShardSet& shards) {
  if (context_.options->read_only) return {};
  bool all_told = context_.shards->CheckOpened().ok();
  const std::shared_ptr<const CollectionMap> all = All();
  for (uint32_t number = 0; number < shards.size(); ++number) {
    Shard* const shard = shards[number].get();
    if (shard == nullptr) {
      all_told = all_told && (!changing_ || IsGone(number));
      continue;
    }
    RETURN_IF_FAILED(FinishDeletions(*shard, *all));
    all_told = all_told && shard->catalog().Claims();
  }
  untold_ = changing_ && !all_told;
  return WriteFile(untold_);
}

bool Catalog::IsGone(uint32_t number) const {
  const Result<PathKind> found = KindOfPath(context_.env, ShardPath(root_, number));
  return found.ok() && *found == PathKind::kNothing;
}

Status Catalog::CheckKnows(const CollectionClaims& claims, bool own) {
  const MutexLock change(change_mutex_);
  return own && changing_ ? Status() : CheckNoneLater(records_, claims);
}

Status Catalog::Admit(uint32_t number, const std::shared_ptr<Shard>& shard) {
  const MutexLock change(change_mutex_);
  if (context_.options->read_only) return {};
  const CollectionRecords holds = WhatHoldsWith(number, shard);
  return TellShard(*shard, holds, *MapOf(holds));
}

Status Catalog::Join(uint32_t number, const std::shared_ptr<Shard>& shard) {
  const MutexLock change(change_mutex_);
  const ShardSet with = With(number, shard);
  Status status = context_.options->read_only ? Status() : BringInLine(with);
  if (status.ok()) status = FinishAll(with);
  if (status.ok()) context_.shards->Add(number, shard);
  return status;
}

Status Catalog::Note(const std::string& name, const CollectionRecord& record) {
  records_[name] = record;
  written_ = false;
  return WriteFile(untold_);
}

Status Catalog::WriteFile(bool changing) {
  if (written_ && changing == changing_) return {};
  Status wrote = WriteCollections(context_.env, root_, records_, changing);
  written_ = wrote.ok();
  if (wrote.ok()) changing_ = changing;
  context_.problems->Clear(kFileProblem);
  if (!written_) context_.problems->Add(kFileProblem + wrote.ToString());
  if (changing_) SEENDB_PAUSE_POINT("collections: announced");
  return wrote;
}

Status Catalog::WithoutChanges(
    const std::function<Status(const CollectionRecords&, bool changing)>& work) {
  const MutexLock change(change_mutex_);
  if (changing_ && !context_.options->read_only) {
    const Status in_line = BringInLine(*context_.shards->All());
    static_cast<void>(in_line);  // a shard that fails follows once it is healed
  }
  return work(records_, changing_);
}

// ---- Changes ----

Status Catalog::CheckFamilies(std::string_view name, const Policy& policy) const {
  RETURN_IF_FAILED(ValidatePolicy(policy));
  const Options& options = *context_.options;
  uint64_t families = options.ring_slots + 2 + FamiliesOf(policy);
  const std::shared_ptr<const CollectionMap> current = All();
  if (!current->contains(name) && current->size() >= options.max_collections) {
    return Status::Incompatible("there are " + std::to_string(current->size()) +
                                    " collections; the setting engine.max_collections allows " +
                                    std::to_string(options.max_collections),
                                "/engine/max_collections");
  }
  for (const auto& [other, collection] : *current) {
    if (other != name) families += FamiliesOf(collection->policy);
  }
  if (families <= options.max_column_families) return {};
  return Status::Incompatible("the collections would need " + std::to_string(families) +
                                  " column families per shard; the setting "
                                  "engine.max_column_families allows " +
                                  std::to_string(options.max_column_families),
                              "/engine/max_column_families");
}

Status Catalog::CheckAllWritable() const {
  for (const std::shared_ptr<Shard>& shard : context_.shards->Attached()) {
    RETURN_IF_FAILED(shard->CheckWritable());
  }
  return {};
}

// All that can refuse is asked before anything is deleted.
Status Catalog::Put(std::string_view name, const PolicyPatch& patch,
                    std::optional<uint64_t> making) {
  RETURN_IF_FAILED(ValidateCollectionName(name));
  const MutexLock change(change_mutex_);
  // The shards know of changes that were not noted: one that failed half way may have made families
  // already.
  const CollectionRecord said = WhatHolds(*context_.shards->All())[std::string(name)];
  const bool succeeds = making && said.making < *making;  // another one takes its place
  Status status = said.policy && !succeeds && !Find(name).ok()
                      ? CheckFixedFields(*said.policy, patch)
                      : Status();
  if (status.ok()) status = CheckAllWritable();
  if (status.ok()) status = BringInLine(*context_.shards->All());
  if (status.ok()) status = FinishAll(*context_.shards->All());
  if (!status.ok()) return status;
  if (context_.names->full()) {
    return Status::Unavailable("too many collections were made; restart");
  }
  const auto known = records_.find(name);
  CollectionRecord record = known == records_.end() ? CollectionRecord() : known->second;
  if (making && record.making > *making) {
    return Status::Incompatible("a later collection has that name", "/collection");
  }
  const bool deletes = succeeds && record.policy;
  if (succeeds) record.policy.reset();
  const Status fixed = record.policy ? CheckFixedFields(*record.policy, patch) : Status();
  record.policy = ApplyPatch(record.policy.value_or(Policy()), patch);
  if (!fixed.ok()) ++record.making;
  record.making = making.value_or(record.making);
  status = CheckFamilies(name, *record.policy);
  if (status.ok()) status = CheckCalendar(context_.clock->NowMs());
  if (status.ok() && deletes) status = DeleteNow(name);
  if (!status.ok()) return status;
  record.revision = records_[std::string(name)].revision + 1;
  const CollectionPtr wanted = NewCollection(std::string(name), record);
  status = fixed.ok() ? Store(wanted) : BeginAnew(wanted, fixed);
  return status.ok() ? Note(wanted->name, record) : status;
}

// A shard whose history lacks more for the change does not trust it until plays go by the policy.
Status Catalog::Store(const CollectionPtr& wanted) {
  const int64_t now_ms = context_.clock->NowMs();
  RETURN_IF_FAILED(CheckCalendar(now_ms));
  const std::shared_ptr<const CollectionMap> current = All();
  const auto recorded = current->find(wanted->name);
  const Policy* const recorded_by =
      recorded == current->end() ? nullptr : &recorded->second->policy;
  const std::vector<std::shared_ptr<Shard>> shards = context_.shards->Attached();
  std::vector<HistoryIncomplete> incomplete;
  incomplete.reserve(shards.size());
  for (const std::shared_ptr<Shard>& shard : shards) {
    incomplete.push_back(shard->catalog().HistoryIncompleteUnder(*wanted, recorded_by, now_ms));
  }
  RETURN_IF_FAILED(WriteFile(true));
  for (size_t i = 0; i < shards.size(); ++i) {
    RETURN_IF_FAILED(shards[i]->catalog().Announce(*wanted, incomplete[i]));
  }
  PublishWith(wanted);
  for (size_t i = 0; i < shards.size(); ++i) {
    RETURN_IF_FAILED(shards[i]->catalog().Confirm(*wanted, incomplete[i]));
  }
  return {};
}

// ---- Collections that go, or begin anew ----

// Writes to a collection are refused in every attached shard as long as it lives.
class Catalog::StoppedWrites {
 public:
  StoppedWrites(const Shards& shards, std::string name)
      : shards_(shards.Attached()), name_(std::move(name)) {
    for (const std::shared_ptr<Shard>& shard : shards_) shard->catalog().StopWrites(name_);
  }
  ~StoppedWrites() {
    for (const std::shared_ptr<Shard>& shard : shards_) shard->catalog().ResumeWrites(name_);
  }
  StoppedWrites(const StoppedWrites&) = delete;
  StoppedWrites& operator=(const StoppedWrites&) = delete;
  bool HoldsAny(const Collection& collection) const {
    return std::any_of(shards_.begin(), shards_.end(), [&](const std::shared_ptr<Shard>& shard) {
      return shard->catalog().HoldsAny(collection);
    });
  }

 private:
  const std::vector<std::shared_ptr<Shard>> shards_;
  const std::string name_;
};

// What an absent shard holds is not known.
Status Catalog::BeginAnew(const CollectionPtr& wanted, const Status& fixed) {
  const Result<CollectionPtr> known = Find(wanted->name);
  Status status = known.ok() ? CheckNoneAbsent(*context_.shards->All()) : known.status();
  if (status.ok()) status = CheckCalendar(context_.clock->NowMs());
  if (!status.ok()) return status;
  const StoppedWrites stopped(*context_.shards, wanted->name);
  if (stopped.HoldsAny(**known)) return fixed;
  status = WriteFile(true);
  if (!status.ok()) return status;
  bool first = true;
  for (const std::shared_ptr<Shard>& shard : context_.shards->Attached()) {
    status = shard->catalog().BeginAnew(*wanted);
    if (!status.ok()) return status;  // the others follow once it is healed
    if (std::exchange(first, false)) PublishWith(wanted);
  }
  return Store(wanted);
}

// Each is told first, so that an opening knows of it whichever shards are there.
Status Catalog::DeleteInShards(const std::string& name, uint64_t making) {
  const std::vector<std::shared_ptr<Shard>> shards = context_.shards->Attached();
  for (const std::shared_ptr<Shard>& shard : shards) {
    RETURN_IF_FAILED(shard->catalog().BeginDeletion(name, making));
  }
  for (const std::shared_ptr<Shard>& shard : shards) {
    RETURN_IF_FAILED(shard->catalog().FinishDeletion(name));
  }
  return {};
}

Status Catalog::Delete(std::string_view name) {
  const MutexLock change(change_mutex_);
  return DeleteNow(name);
}

Status Catalog::DeleteNow(std::string_view name) {
  Result<CollectionPtr> known = Find(name);
  if (!known.ok()) return known.status();
  Status status = CheckAllWritable();
  if (status.ok() && name == "default") status = CheckNoneAbsent(*context_.shards->All());
  if (status.ok()) status = BringInLine(*context_.shards->All());
  if (status.ok()) status = FinishAll(*context_.shards->All());
  if (!status.ok()) return status;
  known = Find(name);
  if (!known.ok()) return known.status();
  const StoppedWrites stopped(*context_.shards, (*known)->name);
  if (name == "default" && stopped.HoldsAny(**known)) {
    return Status::Incompatible("the collection default is deleted only while it holds nothing",
                                "/collection");
  }
  status = WriteFile(true);
  if (!status.ok()) return status;
  auto map = std::make_shared<CollectionMap>(*All());
  map->erase((*known)->name);
  Publish(std::move(map));
  const CollectionRecord gone{(*known)->making + 1, (*known)->revision + 1, {}};
  status = DeleteInShards((*known)->name, gone.making);
  if (status.ok()) return Note((*known)->name, gone);
  // Where no shard knows of it, it is there as before, as far as anybody knows.
  if (WhatHolds(*context_.shards->All())[(*known)->name].making < gone.making) PublishWith(*known);
  return status;
}

}  // namespace seendb
