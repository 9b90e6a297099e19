// The model of items on screens.

#include <algorithm>

#include "simulation/model.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kDayMs = 86'400'000;

}  // namespace

void Model::Expose(const std::string& collection, const std::vector<Sent>& sent,
                   const std::string& surface, bool acknowledged) {
  ++call_;
  std::set<std::string> touched;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (!Takes(collection, sent[i])) continue;
    sent_[sent[i].user].insert(sent[i].item);
    CallOf(sent[i].user, acknowledged);
    facts_[collection][sent[i].user].exposed.push_back(
        {sent[i].at_ms, call_, i, sent[i].item, acknowledged, acknowledged, surface});
    touched.insert(sent[i].user);
  }
  for (const std::string& user : touched) {
    std::vector<Served>& exposed = facts_[collection][user].exposed;
    std::sort(exposed.begin(), exposed.end(),
              [](const Served& a, const Served& b) { return a.Order() > b.Order(); });
    PushOut(PolicyOf(collection).exposures.recent, &exposed);
  }
}

int64_t Model::ExposuresKeptFrom(const Policy& policy, int64_t at_ms) const {
  return at_ms - int64_t{policy.exposures.days} * kDayMs;
}

// An entry that ever was too old, even by a clock that was ahead, may be gone. Then it may not have
// pushed older ones out either.
void Model::ExpectExposed(const std::string& collection, const std::string& user, int64_t begin_ms,
                          const std::string& surface, Expected* expected) const {
  const Facts* facts = Find(collection, user);
  if (facts == nullptr) return;
  const Policy& policy = PolicyOf(collection);
  const int64_t oldest_ms = std::max(begin_ms, ExposuresKeptFrom(policy, now_ms));
  const int64_t surely_from_ms = ExposuresKeptFrom(policy, newest_now_ms);
  Rank(facts->exposed, surely_from_ms, [&](size_t i, size_t worst, size_t best) {
    const Served& one = facts->exposed[i];
    if (one.at_ms < oldest_ms || (!surface.empty() && surface != one.surface)) return;
    const Lift* lift = history_.LiftOf(collection, user, one.item);
    const bool may_be_lifted =
        lift != nullptr && (!lift->ended || !lift->sure) && one.at_ms <= lift->at_ms;
    if (may_be_lifted && lift->sure) return;
    if (best < policy.exposures.recent) expected->exposed_maybe.insert(one.item);
    if (may_be_lifted || one.at_ms < surely_from_ms) return;
    if (one.sure && one.kept && worst < policy.exposures.recent) {
      expected->exposed_sure.insert(one.item);
    }
  });
}

}  // namespace seendb::simulation
