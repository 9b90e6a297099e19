// server/api/fill_sampler.h: remembers a few of the users served lately, so that /metrics can say
// how full filters are and which false-positive rate that means.

#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ops/metrics.h"
#include "seendb/engine.h"

namespace seendb::api {

/// A ring of sampled users. Threads: any.
class FillSampler {
 public:
  /// Keeps one of every 256 users a thread mentions. Cost: a counter, mostly.
  void Mention(std::string_view collection, IdRef user);
  /// Inspects the users kept and averages them by collection.
  std::vector<ops::FillSample> Look(Engine* engine) const;

 private:
  struct Sampled {
    std::string collection, user;
  };
  mutable std::mutex mutex_;
  std::array<Sampled, 16> kept_;
  size_t next_ = 0;
};

}  // namespace seendb::api
