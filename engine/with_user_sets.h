// with_user_sets.h: the part of the engine that keeps sets of users: checks what is asked, and asks
// the user's shard.

#pragma once

#include <functional>
#include <string_view>

#include "base/clock_guard.h"
#include "catalog.h"
#include "dumping_engine.h"
#include "seendb/engine.h"
#include "shards.h"

namespace seendb {

/// See the head of this file.
class WithUserSets : public DumpingEngine {
 public:
  using DumpingEngine::DumpingEngine;

  Result<UserSetInfo> PutUserSet(const UserSet& set) final;
  Result<bool> DeleteUserSet(IdRef user, std::string_view name, CallTime at_ms) final;
  Status ListUserSets(IdRef user, UserSetList* list) final;
  Status ReadUserSet(IdRef user, std::string_view name, std::string_view after, size_t limit,
                     UserSetPage* page) final;

 protected:
  /// The parts that it works with: a derived class gives them, and outlives every call.
  struct Parts {
    const Shards* shards = nullptr;
    const Catalog* catalog = nullptr;
    const ClockGuard* clock = nullptr;
    std::function<Status()> check_open;
    std::function<Status()> check_writable;
  };
  Parts user_sets_;
};

}  // namespace seendb
