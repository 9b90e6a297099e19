#include "simulation/checks_clock.h"

#include <algorithm>
#include <optional>

#include "simulation/calendar.h"

namespace seendb::simulation {
namespace {

// The bucket of the window that has this name, if it may have been dropped.
std::optional<int64_t> DroppedOf(const Model& model, const std::string& collection,
                                 const std::string& name) {
  const Policy& policy = model.PolicyOf(collection);
  const int64_t oldest = model.OldestRead(collection);
  for (int64_t bucket = oldest; bucket < oldest + policy.window + kMostAhead; ++bucket) {
    if (NameOf(policy, bucket) != name) continue;
    return model.clock().DroppedUpTo(collection, bucket) > 0 ? std::optional(bucket) : std::nullopt;
  }
  return {};
}

}  // namespace

bool MayMissDropped(const Model& model, const std::string& collection) {
  return model.clock().DroppedUpTo(collection, model.OldestRead(collection)) > 0;
}

bool MissesDropped(const Model& model, const Question& question, const FilterResponse& answer) {
  return std::all_of(answer.missing.begin(), answer.missing.end(), [&](const std::string& name) {
    return DroppedOf(model, question.collection, name).has_value();
  });
}

bool SaysDropped(const Model& model, const Question& question, const FilterResponse& answer,
                 const std::string& item, int64_t bucket) {
  const uint64_t last = model.clock().DroppedUpTo(question.collection, bucket);
  if (last == 0 || model.SinceOf(question.collection, question.user, item, bucket) > last) {
    return false;
  }
  return std::any_of(answer.missing.begin(), answer.missing.end(), [&](const std::string& name) {
    const std::optional<int64_t> newest = DroppedOf(model, question.collection, name);
    return newest && *newest >= bucket;
  });
}

}  // namespace seendb::simulation
