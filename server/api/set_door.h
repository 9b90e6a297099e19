// server/api/set_door.h: the store of sets as handlers see it: none until a set was put, then in
// the folder sets/ of the database. At a node of a cluster the node's part in it has the store.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "ops/sets_state.h"
#include "seendb/set_store.h"

namespace seendb::api {

/// See the head of this file. Threads: any, but for Configure, Open and Close.
class SetDoor {
 public:
  /// The sets of a request, which they are kept for.
  using Held = std::vector<std::shared_ptr<const ItemSet>>;

  /// Names the place of the store and how it is opened; call it before Open. Without it, and
  /// without Serve, there are no sets but those of users: kIncompatible.
  void Configure(std::string folder, SetStoreOptions options);
  /// Opens the store if it is there.
  Status Open();
  /// Says that Serve will be called: until then it is not known which sets there are.
  void Announce() { opening_ = true; }
  /// Takes a store that is open, which it borrows; once, in place of Configure. As Open, it logs
  /// which sets are damaged.
  void Serve(SetStore* store);
  /// Closes the store. No call may be under way.
  Status Close();

  /// SetStore::Put; the first one makes the store.
  Result<SetInfo> Put(std::string_view name, std::span<const IdRef> items);
  /// See SetStore.
  Status Delete(std::string_view name);
  Result<std::vector<SetInfo>> List() const;
  Result<SetPage> Read(std::string_view name, std::string_view after, size_t limit) const;
  /// Finds the sets that a request names, and keeps them in `*held`. A name that it has not may be
  /// a set of the user, which the engine has: the set stays null. Before the store is open, any
  /// name may be one of its sets: the set is damaged, and has no members. Cost: none where it names
  /// none.
  Status Find(std::span<ExcludedSet> sets, Held* held) const;
  /// Nothing where there is no store, or a node's has no set and lacks none.
  std::optional<ops::SetsState> State() const;
  /// Writes a copy of the store into `folder`, which must not be there; false: there is no store.
  Result<bool> Checkpoint(const std::string& folder) const;

 private:
  Status Check() const;
  /// The store, which the first call makes.
  Result<SetStore*> Make();

  std::string folder_;
  SetStoreOptions options_;
  bool configured_ = false;
  Mutex making_{LockRank::kServerCall};  // one at a time
  std::unique_ptr<SetStore> owned_;      // set once, before store_ is; null: it is borrowed
  std::atomic<SetStore*> store_{nullptr};
  std::atomic<bool> opening_{false};  // there is a store, and store_ is not set yet
};

}  // namespace seendb::api
