// Shards that come and go while the others work.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/return_if_failed.h"
#include "engine_impl.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/shard_folders.h"

namespace seendb {
namespace {

// How long calls that are in a shard are waited for when it is detached.
constexpr std::chrono::seconds kLeaveWait{30};

bool IsThere(rocksdb::Env* env, const std::string& path) {
  const Result<PathKind> there = KindOfPath(env, path);
  return !there.ok() || *there != PathKind::kNothing;
}

Status CheckPlaceFree(rocksdb::Env* env, const std::string& place) {
  const Result<PathKind> there = KindOfPath(env, place);
  if (!there.ok()) return there.status();
  if (*there == PathKind::kNothing) return {};
  return Status::Incompatible(place + " is there already", "/shard");
}

// The canonical path of a folder that is to be attached, in a place that is free, or of another one
// that is to be replaced.
Result<std::string> CheckFolder(rocksdb::Env* env, const std::string& database, uint32_t number,
                                const std::string& folder, bool replaces) {
  const auto refused = [&](const std::string& why) {
    return Status::InvalidArgument(folder + " " + why, "/folder");
  };
  const Result<PathKind> found = KindOfPath(env, folder);
  if (!found.ok()) return found.status();
  if (*found != PathKind::kFolder) return refused("is no folder");
  Result<std::string> canonical = CanonicalPath(env, folder);
  if (!canonical.ok()) return canonical;
  const std::string place = ShardPath(database, number);
  if (*canonical == place) {
    return replaces ? refused("is the shard that is to be replaced") : canonical;
  }
  if ((*canonical + "/").starts_with(database + "/") && *canonical != place + kKeptSuffix &&
      FolderOf(*canonical) != database + "/" + kTransitName) {
    return refused("lies inside the database");
  }
  Status free = replaces ? Status() : CheckPlaceFree(env, place);
  return free.ok() ? canonical : free;
}

// No later call finds the shard; what takes long in it ends soon.
Status Unpublish(Catalog& catalog, Shards& shards, uint32_t number) {
  return catalog.WithoutChanges([&](const CollectionRecords&, bool) -> Status {
    auto without = std::make_shared<ShardSet>(*shards.All());
    const std::shared_ptr<Shard> shard = std::exchange((*without)[number], nullptr);
    shards.Publish(std::move(without));
    shard->GiveUp();  // of long seals and compactions
    return {};
  });
}

}  // namespace

std::vector<uint32_t> EngineImpl::AttachedShards() const {
  std::vector<uint32_t> attached;
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (uint32_t number = 0; number < all->size(); ++number) {
    if ((*all)[number] != nullptr) attached.push_back(number);
  }
  return attached;
}

// ---- Attaching ----

// It gets its name once it is whole.
Result<std::string> EngineImpl::MakeEmptyShard(const Identity& identity, uint32_t number,
                                               const std::string& former_lost) const {
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  Status status = CheckPlaceFree(env, place);
  const std::string folder = place + kMakingSuffix;
  if (status.ok() && env->FileExists(folder).ok()) status = RemoveFolder(env, folder);
  if (status.ok()) status = OpenApart(identity, number, folder, /*create=*/true, former_lost);
  return status.ok() ? Result<std::string>(folder) : status;
}

// Opens a shard for writing in a folder that is not its place, and closes it again. It is synced
// with its epoch.
Status EngineImpl::OpenApart(const Identity& identity, uint32_t number, const std::string& folder,
                             bool create, const std::string& former_lost) const {
  ShardStoreOptions options = OptionsOf(identity, number);
  options.path = folder;
  options.create = create;
  const auto opened = ShardStore::Open(options, shared_);
  if (!opened.ok() || former_lost.empty()) return opened.status();
  return (*opened)->NoteFormerLost(former_lost);
}

Result<Identity> EngineImpl::IdentityToAttach() const {
  Result<std::optional<Identity>> identity = ReadIdentity(shared_->env, path_);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(path_ + "/SEENDB is missing");
  return **identity;
}

// Whether the folder holds this shard of this database, and what it may tell of collections.
Status EngineImpl::CheckNewcomer(const Identity& identity, uint32_t number,
                                 const std::string& folder, const AttachOptions& options) {
  CollectionClaims claims;
  Status status = CheckShardCopy(identity, folder, number, false, &claims);
  const std::string place = ShardPath(path_, number);
  const bool own = folder == place || folder == place + kKeptSuffix;
  if (status.ok() && !options.newer_collections) status = catalog_.CheckKnows(claims, own);
  return status.ok() ? status : Status(status.code(), std::string(status.message()), "/folder");
}

// Opens the shard that is to lie at `from` in its place. On failure it is closed, and under its
// former name, or gets that back later.
Status EngineImpl::OpenInPlace(const Identity& identity, uint32_t number, const std::string& from) {
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  Status status = from == place ? Status() : RenameFolder(env, from, place);
  if (status.ok()) {
    const Result<std::shared_ptr<Shard>> opened = OpenShard(identity, number);
    status = opened.ok() ? catalog_.Admit(number, *opened) : opened.status();
    if (status.ok()) status = BringIn(number, *opened);
  }
  if (status.ok()) return {};
  left_->TakeBack(number, kLeaveWait).reset();
  if (from != place) {
    misplaced_[number] = from;
    const Status returned = Return(number);
    static_cast<void>(returned);  // tried again, and a problem until then
  }
  return status;
}

// The folder in the shard's place goes back to where it came from.
Status EngineImpl::Return(uint32_t number) {
  rocksdb::Env* const env = shared_->env;
  const auto at = misplaced_.find(number);
  if (at == misplaced_.end()) return {};
  const std::string place = ShardPath(path_, number);
  const Result<PathKind> there = KindOfPath(env, place);
  Status status = there.status();
  if (status.ok()) {
    status = *there == PathKind::kNothing ? SyncFolder(env, path_)
                                          : RenameFolder(env, place, at->second);
  }
  if (status.ok()) misplaced_.erase(at);
  return status;
}

Status EngineImpl::AttachShard(uint32_t number, const std::string& folder,
                               const AttachOptions& options) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  if (!folder.empty() && !options.former_lost.empty()) {
    return Status::InvalidArgument("a shard that has a folder has lost nothing with another",
                                   "/former_lost");
  }
  RETURN_IF_FAILED(Return(number));
  if (left_->IsLent(number) || away_.contains(number)) {
    return Status::Incompatible("shard " + std::to_string(number) +
                                    (left_->IsLent(number) ? " is attached" : " comes back"),
                                "/shard");
  }
  const Result<Identity> identity = IdentityToAttach();
  if (!identity.ok()) return identity.status();
  const Result<std::string> from =
      folder.empty() ? MakeEmptyShard(*identity, number, options.former_lost)
                     : CheckFolder(shared_->env, path_, number, folder, /*replaces=*/false);
  if (!from.ok()) return from.status();
  status = CheckNewcomer(*identity, number, *from, options);
  return status.ok() ? OpenInPlace(*identity, number, *from) : status;
}

// The place has one of the two, whatever ends the process: an opening puts the former one back
// where the place is empty. What can refuse the other is asked while the former one serves.
Status EngineImpl::ReplaceShard(uint32_t number, const std::string& folder,
                                const AttachOptions& options) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  if (!left_->IsLent(number)) return AbsentShard(number);
  rocksdb::Env* const env = shared_->env;
  const Result<Identity> identity = IdentityToAttach();
  if (!identity.ok()) return identity.status();
  const Result<std::string> from = CheckFolder(env, path_, number, folder, /*replaces=*/true);
  if (!from.ok()) return from.status();
  status = CheckNewcomer(*identity, number, *from, options);
  if (status.ok()) status = OpenApart(*identity, number, *from, /*create=*/false);
  const std::string place = ShardPath(path_, number), aside = place + kReplacedSuffix;
  if (status.ok() && IsThere(env, aside)) status = FinishReplacing(number);
  if (!status.ok()) return status;
  Result<std::unique_ptr<Shard>> left = TakeOut(number, options.former_may_lose);
  if (!left.ok()) return left.status();
  left->reset();
  status = RenameFolder(env, place, aside);
  if (status.ok()) status = OpenInPlace(*identity, number, *from);
  if (!status.ok()) {
    ComeBack(number, aside);
    return status;
  }
  DeleteLeftovers();
  return {};
}

// The former shard is not needed any more: what has its place is open, and survives power loss.
Status EngineImpl::FinishReplacing(uint32_t number) {
  const Result<std::shared_ptr<Shard>> shard = shards_.At(number);
  Status status = shard.ok() ? (*shard)->upkeep().Sync(nullptr) : shard.status();
  if (status.ok()) status = RetireReplaced(shared_->env, ShardPath(path_, number));
  return status;
}

// ---- Coming back ----

// The shard lies in its place or aside. It is opened once its name is synced: else a power cut
// could give the place to the other again, without what the shard acknowledges from now on.
Status EngineImpl::BringBack(uint32_t number, const std::string& aside) {
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  const Result<Identity> identity = IdentityToAttach();
  Status status = identity.ok() ? Return(number) : identity.status();
  if (status.ok() && IsThere(env, aside)) {
    status = RenameFolder(env, aside, place);
  } else if (status.ok()) {
    status = SyncFolder(env, path_);
  }
  return status.ok() ? OpenInPlace(*identity, number, place) : status;
}

void EngineImpl::ComeBack(uint32_t number, const std::string& aside) {
  away_[number] = aside;
  const Status tidied = Tidy();
  static_cast<void>(tidied);  // tried again, and a problem until then
}

void EngineImpl::DeleteLeftovers() {
  leftovers_ = true;
  const Status tidied = Tidy();
  static_cast<void>(tidied);  // tried again, and a problem until then
}

// What is left to do for shards that came or went. What fails is tried again.
Status EngineImpl::Tidy() {
  Status first;
  for (uint32_t number = 0; !misplaced_.empty() && number < shard_count_; ++number) {
    Status returned = Return(number);
    if (first.ok()) first = std::move(returned);
  }
  for (auto at = away_.begin(); at != away_.end();) {
    Status back = BringBack(at->first, at->second);
    at = back.ok() ? away_.erase(at) : std::next(at);
    if (first.ok()) first = std::move(back);
  }
  if (!leftovers_ || !away_.empty()) return first;
  const Result<std::vector<std::string>> former = PlacesWith(shared_->env, path_, kReplacedSuffix);
  Status status = former.status();
  for (uint32_t number = 0; status.ok() && number < shard_count_; ++number) {
    const std::string name = ShardPath("", number).substr(1);
    const bool replaced = std::count(former->begin(), former->end(), name) > 0;
    if (replaced && shards_.At(number).ok()) status = FinishReplacing(number);
  }
  if (status.ok()) status = RemoveLeftovers(shared_->env, path_);
  leftovers_ = !status.ok();
  return first.ok() ? status : first;
}

Status EngineImpl::TidyIfDue() {
  if (!attach_mutex_.TryLock()) return {};  // a shard comes or goes: it tidies
  const MutexLock one(attach_mutex_, MutexLock::Adopt());
  return Tidy();
}

// ---- Detaching ----

// Takes the shard from all calls and closes it. Unless it `may_lose`, its database has then all
// that it acknowledged; where that fails it serves again, and is healed.
Result<std::unique_ptr<Shard>> EngineImpl::TakeOut(uint32_t number, bool may_lose) {
  Status status;
  if (const auto shard = shards_.At(number); shard.ok()) {
    status = may_lose ? Status() : (*shard)->CheckSound();
    if (status.ok()) status = Unpublish(catalog_, shards_, number);
  }
  if (!status.ok()) return status;
  std::unique_ptr<Shard> left = left_->TakeBack(number, kLeaveWait);
  if (left == nullptr) {
    return Status::Busy("calls are still in shard " + std::to_string(number) +
                        ", which takes no more; detach it again");
  }
  status = left->Close(guard_.TimeToNote(true));
  if (status.ok() && !may_lose) status = left->CheckSound();
  if (status.ok() || may_lose) return left;
  return catalog_.WithoutChanges([&](const CollectionRecords&, bool) {
    shards_.Add(number, LeftShards::Lend(left_, number, std::move(left)));
    return status;
  });
}

// What comes back is closed already: it goes from where it lies.
Status EngineImpl::MoveAway(uint32_t number, const std::string& to) {
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  const auto at = away_.find(number);
  if (at == away_.end()) return RenameFolder(env, place, to);
  Status status = Return(number);
  const std::string from = IsThere(env, at->second) ? at->second : place;
  if (status.ok()) status = from == to ? SyncFolder(env, path_) : RenameFolder(env, from, to);
  return status;
}

Status EngineImpl::DetachShard(uint32_t number, Detached folder) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  const auto comes_back = away_.find(number);
  if (!left_->IsLent(number) && comes_back == away_.end()) return AbsentShard(number);
  rocksdb::Env* const env = shared_->env;
  const bool kept = folder == Detached::kKept;
  const std::string to = ShardPath(path_, number) + (kept ? kKeptSuffix : kRemovedSuffix);
  if (comes_back == away_.end() || comes_back->second != to) {
    const Result<PathKind> there = KindOfPath(env, to);
    if (!there.ok()) return there.status();
    const bool in_the_way = *there != PathKind::kNothing;
    if (in_the_way && kept) return Status::Incompatible(to + " is there already");
    if (in_the_way) status = RemoveFolder(env, to);
    if (!status.ok()) return status;
  }
  if (comes_back == away_.end()) {
    Result<std::unique_ptr<Shard>> left = TakeOut(number, /*may_lose=*/!kept);
    if (!left.ok()) return left.status();
    left->reset();
  }
  status = MoveAway(number, to);
  if (!status.ok()) {
    if (comes_back == away_.end()) ComeBack(number, to);
    return status;
  }
  if (comes_back != away_.end()) away_.erase(comes_back);
  if (kept) return {};
  DeleteLeftovers();
  return {};
}

}  // namespace seendb
