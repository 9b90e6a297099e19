#include "replica/policies.h"

#include <map>
#include <optional>
#include <utility>

#include "migration/observer.h"

namespace seendb::replica {
namespace {

constexpr int64_t kAgainMs = 1'000;

/// As the engine tells of it.
std::string Text(Policy policy) {
  policy.max_filter_bytes = EffectiveMaxFilterBytes(policy);
  return PolicyToJson(policy);
}

}  // namespace

void Policies::Follow(const std::shared_ptr<const cluster::Meta>& meta, uint64_t shards) {
  const bool due = again_ms_ != 0 && engine_->NowMs() >= again_ms_;
  if (meta == nullptr || (meta == followed_ && shards == shards_ && !due)) return;
  followed_ = meta;
  shards_ = shards;
  const Status status = BringInLine(*meta);
  again_ms_ = status.ok() ? 0 : engine_->NowMs() + kAgainMs;
  const MutexLock lock(mutex_);
  problem_ = std::string(status.message());
}

// Before, so that a killed process leaves no note of a past that is gone.
Status Policies::Delete(const std::string& name) {
  const Status forgotten = migration::Observer(migrations_).CollectionDeleted(name);
  return forgotten.ok() ? engine_->DeleteCollection(name) : forgotten;
}

// One that can't be brought in line keeps no other from it. The first failure.
Status Policies::BringInLine(const cluster::Meta& meta) {
  std::map<std::string, CollectionInfo> known;
  for (CollectionInfo& info : engine_->Collections()) {
    std::string name = info.name;
    known.emplace(std::move(name), std::move(info));
  }
  Status first;
  bool changed = false;
  const auto note = [&](const std::string& name, const Status& done) {
    changed = true;
    if (!first.ok() || done.ok()) return;
    first = Status(done.code(), "collection " + name + ": " + std::string(done.message()));
  };
  for (const auto& [name, info] : known) {
    if (!meta.collections().contains(name)) note(name, Delete(name));
  }
  for (const auto& [name, wanted] : meta.collections()) {
    const std::string text = Text(wanted.policy);
    const auto making = static_cast<uint64_t>(wanted.made_by);
    const auto here = known.find(name);
    if (here != known.end() && here->second.making == making && Text(here->second.policy) == text) {
      continue;
    }
    const Result<PolicyPatch> patch = PolicyPatchFromJson(PolicyToJson(wanted.policy));
    note(name, patch.ok() ? engine_->PutCollection(name, *patch, making) : patch.status());
  }
  if (changed) changed_();
  return first;
}

std::string Policies::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

}  // namespace seendb::replica
