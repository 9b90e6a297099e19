// server/api/fill_sampler.h: remembers a few of the users served lately, so that /metrics can say
// how full filters are and which false-positive rate that means.

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "ops/metrics.h"
#include "seendb/engine.h"

namespace seendb::api {

/// A ring of sampled users, and what was found of them. Threads: any.
class FillSampler {
 public:
  /// Keeps one of every 256 users a thread mentions. Cost: a counter, mostly.
  void Mention(std::string_view collection, IdRef user);
  /// Inspects the users kept, and averages them by collection for Samples. It may wait for a disk,
  /// and for a shard that is being opened anew.
  void Sample(Engine* engine);
  /// What the last Sample found. Waits for nothing.
  std::vector<ops::FillSample> Samples() const;

 private:
  struct Sampled {
    std::string collection, user;
  };
  mutable Mutex mutex_{LockRank::kLeaf};
  std::array<Sampled, 16> kept_ GUARDED_BY(mutex_);
  size_t next_ GUARDED_BY(mutex_) = 0;
  std::vector<ops::FillSample> samples_ GUARDED_BY(mutex_);
};

}  // namespace seendb::api
