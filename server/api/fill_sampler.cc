#include "api/fill_sampler.h"

#include <map>
#include <set>
#include <utility>

namespace seendb::api {
namespace {

constexpr unsigned kOneOf = 256;

/// Sums over the users of a collection.
struct Sums {
  double fill = 0, fpr = 0;
  size_t layers = 0, users = 0;
};

/// Adds one user's filters: the window's estimate is that of its buckets together.
void Add(const UserReport& report, const Policy& policy, int64_t now_ms, Sums* sums) {
  const int64_t oldest = BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.window) + 1;
  double none = 1;  // probability that no bucket of the window errs
  for (const BucketReport& bucket : report.buckets) {
    const Result<int64_t> index = BucketIndexOfLabel(policy, bucket.bucket);
    if (!bucket.readable || !index.ok() || *index < oldest) continue;
    none *= 1 - bucket.fpr;
    for (const LayerReport& layer : bucket.layers) {
      sums->fill += layer.fill;
      ++sums->layers;
    }
  }
  sums->fpr += 1 - none;
  ++sums->users;
}

}  // namespace

void FillSampler::Mention(std::string_view collection, IdRef user) {
  thread_local unsigned count = 0;
  if (count++ % kOneOf != 0) return;
  const MutexLock lock(mutex_);
  kept_[next_++ % kept_.size()] = {std::string(collection), user.ToString()};
}

void FillSampler::Sample(Engine* engine) {
  std::set<std::pair<std::string, std::string>> users;
  {
    const MutexLock lock(mutex_);
    for (const Sampled& sampled : kept_) {
      if (!sampled.user.empty()) users.emplace(sampled.collection, sampled.user);
    }
  }
  std::map<std::string, Sums> by_collection;
  const int64_t now_ms = engine->NowMs();
  for (const CollectionInfo& info : engine->Collections()) {
    for (const auto& [collection, user] : users) {
      if (collection != info.name) continue;
      const Result<UserReport> report = engine->Inspect(IdRef(user), collection);
      if (report.ok()) Add(*report, info.policy, now_ms, &by_collection[collection]);
    }
  }
  std::vector<ops::FillSample> samples;
  for (const auto& [collection, sums] : by_collection) {
    const double fill = sums.layers == 0 ? 0 : sums.fill / static_cast<double>(sums.layers);
    samples.push_back({collection, fill, sums.fpr / static_cast<double>(sums.users)});
  }
  const MutexLock lock(mutex_);
  samples_ = std::move(samples);
}

std::vector<ops::FillSample> FillSampler::Samples() const {
  const MutexLock lock(mutex_);
  return samples_;
}

}  // namespace seendb::api
