#include "simulation/checks_verify.h"

#include <set>
#include <string>
#include <vector>

#include "simulation/calendar.h"

namespace seendb::simulation {
namespace {

class Verification {
 public:
  Verification(const Model& model, const Question& question, const FilterResponse& answer,
               const Expected& expected, Tally* tally)
      : model_(model),
        question_(question),
        answer_(answer),
        expected_(expected),
        tally_(tally),
        policy_(model.PolicyOf(question.collection)),
        oldest_(model.OldestRead(question.collection)) {}

  // What is refuted.
  void CheckRefuted() const {
    if (answer_.refuted > answer_.unseen.size()) Fail("more refuted than unseen");
    if (answer_.refuted > 0 && !MayRefute()) Fail("refuted, and history can't tell");
    if (!question_.filter.explain) return;
    uint32_t refuted = 0;
    std::set<std::string> known;
    for (uint32_t at = 0; at < answer_.examined; ++at) {
      if (answer_.reasons[at].kind != ReasonKind::kRefuted) continue;
      if (!known.insert(question_.filter.items[at]).second) continue;
      ++refuted;
      CheckRefutation(question_.filter.items[at], answer_.reasons[at].bucket_index);
    }
    if (refuted != answer_.refuted) Fail("as many are not refuted as the reasons say");
  }

  // What is left.
  void CheckSeen() const {
    if (!MayRefute() || !model_.history().IsWhole(question_.collection, question_.user)) return;
    std::vector<bool> unseen(answer_.examined, false);
    for (const uint32_t at : answer_.unseen) unseen[at] = true;
    std::set<std::string> known;
    for (uint32_t at = 0; at < answer_.examined; ++at) {
      const std::string& item = question_.filter.items[at];
      if (MayBeSeen(item) || !known.insert(item).second) continue;
      ++tally_->vouched;
      if (!unseen[at]) Fail(item + " is not in history, which is whole, and is called seen");
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw Violation("verified filter " + question_.collection + " " + question_.user + ": " + what);
  }

  bool MayRefute() const {
    return question_.filter.verify && !answer_.degraded &&
           (question_.filter.facts & kFactPlays) != 0 &&
           policy_.representation == Representation::kBloom && policy_.history.enabled &&
           !policy_.served_is_seen;
  }

  void CheckRefutation(const std::string& item, int64_t bucket) const {
    const int64_t kept_ms = model_.now_ms - int64_t{policy_.history.days} * 86'400'000;
    if (bucket < oldest_) Fail(item + " is refuted in a bucket before the window");
    if (bucket < BucketAt(policy_, kept_ms)) Fail(item + " is refuted where no history is kept");
    if (expected_.lifted.contains(item)) Fail(item + " was deleted and is said to be refuted");
    const auto played = expected_.played_sure.find(item);
    // Whatever a ceiling took from the filter, history has it.
    if (played != expected_.played_sure.end() && played->second.contains(bucket)) {
      Fail(item + " is refuted in " + NameOf(policy_, bucket) + ", where it was played");
    }
  }

  bool MayBeSeen(const std::string& item) const {
    return expected_.excluded.contains(item) || expected_.served_maybe.contains(item) ||
           expected_.played_maybe.contains(item) ||
           model_.history().MayKnow(question_.collection, question_.user, item, oldest_);
  }

  const Model& model_;
  const Question& question_;
  const FilterResponse& answer_;
  const Expected& expected_;
  Tally* const tally_;
  const Policy& policy_;
  const int64_t oldest_;
};

}  // namespace

void CheckVerified(const Model& model, const Question& question, const FilterResponse& answer,
                   const Expected& expected, bool excused, Tally* tally) {
  if (question.filter.verify) ++tally->verified;
  tally->refuted += answer.refuted;
  const Verification verification(model, question, answer, expected, tally);
  verification.CheckRefuted();
  // History that can't be read, or changes meanwhile, refutes nothing.
  if (!excused && !question.beside && !question.filter.late) verification.CheckSeen();
}

}  // namespace seendb::simulation
