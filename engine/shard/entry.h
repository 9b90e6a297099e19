// shard/entry.h: how calls enter a shard that may be closed and opened anew meanwhile.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "shard/parts.h"

namespace seendb {

/// How long a request waits for a shard that is being opened anew.
inline constexpr std::chrono::milliseconds kReopenWait{250};

/// A request in the shard. While the shard is being opened anew it is waited for no longer than
/// kReopenWait. Whoever asks ok() says AssertHeldShared() of `use` after it.
class RequestEntry {
 public:
  explicit RequestEntry(ShardParts& parts)
      : parts_(parts), inside_(SharedLock::Shared::TryFor(parts.use, kReopenWait)) {}
  bool ok() const { return inside_.has_value(); }
  /// Where it is not ok.
  Status status() const {
    return Status::Unavailable("shard " + std::to_string(parts_.store->shard()) +
                               " is being opened anew");
  }

 private:
  ShardParts& parts_;
  const std::optional<SharedLock::Shared> inside_;
};

/// Runs `work()` inside, unless the shard is being opened anew; false then.
template <typename Work>
bool TryInside(ShardParts& parts, const Work& work) {
  if (parts.healing.running) return false;
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts.use);
  if (!inside) return false;
  parts.use.AssertHeldShared();
  work();
  return true;
}

}  // namespace seendb
