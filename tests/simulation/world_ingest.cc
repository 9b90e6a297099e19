// What an opening tells of logs, and the look at all of them.

#include <algorithm>
#include <utility>
#include <vector>

#include "simulation/checks_ingest.h"
#include "simulation/world.h"

namespace seendb::simulation {
namespace {

// A failure that is armed fails once.
constexpr int kReads = 3;

}  // namespace

void World::SettleSources() {
  stored_.assign(model_.shards(), {});
  if (!model_.sources().Any()) return;
  Result<std::vector<StoredOffsets>> read = ReadOffsets(engine_.get(), model_.shards());
  for (int i = 1; i < kReads && !read.ok(); ++i) {
    read = ReadOffsets(engine_.get(), model_.shards());
  }
  if (!read.ok()) throw Violation("scan: " + read.status().ToString());
  stored_ = *std::move(read);
  for (const std::string& topic : std::exchange(doubted_topics_, {})) {
    for (uint32_t shard = 0; shard < model_.shards(); ++shard) {
      const auto at = stored_[shard].lower_bound({topic, 0});
      const bool stored = at != stored_[shard].end() && at->first.first == topic;
      if (!stored) model_.ForgetTopic(shard, topic);
    }
  }
}

World::Observed World::ObserveSteps(uint32_t shard, const OpenCall& call,
                                    const std::vector<OpenCall>& calls) const {
  Observed whole = Observed::kUnknown;
  for (const auto& [source, next_offset] : call.steps) {
    const auto at = stored_[shard].find(source);
    const bool present = at != stored_[shard].end() && at->second >= next_offset;
    // A call that is made again steps to where the first may have got.
    const bool others = std::any_of(
        calls.begin(), calls.end(),
        [&, &source = source, next = next_offset](const OpenCall& other) {
          const auto step = other.steps.find(source);
          return other.number != call.number && step != other.steps.end() && step->second >= next;
        });
    if (present && others) continue;
    const Observed one = present ? Observed::kPresent : Observed::kAbsent;
    if (whole != Observed::kUnknown && whole != one) {
      throw Violation("half of a call is there: the offset of " + source.first);
    }
    whole = one;
  }
  return whole;
}

void World::SweepSources(Engine* engine) {
  if (doubted_topics_.empty()) CheckSources(model_, engine);
}

}  // namespace seendb::simulation
