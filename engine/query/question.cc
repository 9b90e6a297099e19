#include "query/question.h"

#include <algorithm>
#include <string>

#include "base/durations.h"
#include "base/facts.h"

namespace seendb {
namespace {

Status Refused(size_t entry, std::string_view member, std::string why) {
  return Status::InvalidArgument(std::string(member) + " " + std::move(why),
                                 "/not/" + std::to_string(entry) + "/" + std::string(member));
}

uint32_t KeptOf(Fact fact, const Policy& policy) {
  return fact == Fact::kServed ? policy.impressions : policy.exposures.recent;
}

Status CheckEntry(size_t i, const NotEntry& entry, const Policy& policy) {
  if (static_cast<size_t>(entry.fact) >= kFactCount) {
    return Refused(i, "fact", R"(must be "played", "served" or "exposed")");
  }
  if (entry.window && (*entry.window < 1 || *entry.window > policy.retention)) {
    return Refused(i, "window",
                   "must be from 1 to the policy's retention, " + std::to_string(policy.retention));
  }
  if (entry.within_ms && *entry.within_ms < 1) return Refused(i, "within", "must not be 0");
  if (entry.fact == Fact::kPlayed) {
    if (!entry.surface.empty()) return Refused(i, "surface", "is not known of plays");
    if (entry.last) return Refused(i, "last", "is not known of plays");
    return {};
  }
  const Status surface = CheckSurface(entry.surface);
  if (!surface.ok()) {
    return Status::InvalidArgument(std::string(surface.message()),
                                   "/not/" + std::to_string(i) + "/surface");
  }
  const uint32_t kept = KeptOf(entry.fact, policy);
  if (entry.last && (*entry.last < 1 || *entry.last > kept)) {
    return Refused(i, "last", "must be from 1 to what the policy keeps, " + std::to_string(kept));
  }
  return {};
}

/// When a span begins, but not before the times that a bucket can have.
int64_t BeginOf(int64_t within_ms, int64_t now_ms) {
  return now_ms - std::min(within_ms, now_ms - kFirstTimeMs);
}

class Compiler {
 public:
  Compiler(const Policy& policy, int64_t now_ms)
      : policy_(policy), now_ms_(now_ms), current_(BucketIndexOf(policy, now_ms)) {
    facts_.oldest_bucket = facts_.touched_bucket = std::numeric_limits<int64_t>::max();
    facts_.played_from_ms = std::numeric_limits<int64_t>::max();
  }

  void Add(const NotEntry& entry) {
    if (entry.fact == Fact::kPlayed) return AddPlayed(entry);
    ListRule rule{BeginOfEntry(entry)};
    rule.surface = entry.surface;
    if (entry.last) rule.last = *entry.last;
    if (entry.fact == Fact::kExposed) {
      const int64_t kept_from_ms = now_ms_ - int64_t{policy_.exposures.days} * kMsPerDay;
      const bool names_span = entry.window || entry.within_ms;
      rule.short_of_span = names_span && rule.oldest_ms < kept_from_ms;
      rule.oldest_ms = std::max(rule.oldest_ms, kept_from_ms);
    }
    (entry.fact == Fact::kServed ? facts_.served : facts_.exposed).Add(rule);
  }

  CountedFacts Finish() {
    int64_t oldest = current_;
    if (facts_.played) {
      facts_.touched_bucket = std::min(facts_.touched_bucket, facts_.oldest_bucket);
      oldest = std::min(oldest, facts_.touched_bucket);
    }
    for (const ListRules* rules : {&facts_.served, &facts_.exposed}) {
      if (!rules->empty()) oldest = std::min(oldest, BucketIndexOf(policy_, rules->oldest_ms()));
    }
    facts_.oldest_read = oldest;
    return facts_;
  }

 private:
  int64_t WindowBegin(uint32_t window) const { return current_ - static_cast<int64_t>(window) + 1; }
  /// The oldest bucket of an entry, where it names one by its window or by the policy's.
  std::optional<int64_t> BucketOfEntry(const NotEntry& entry) const {
    if (entry.window) return WindowBegin(*entry.window);
    if (entry.within_ms) return {};
    return WindowBegin(policy_.window);
  }
  int64_t BeginOfEntry(const NotEntry& entry) const {
    int64_t begin_ms = kFirstTimeMs;
    if (const auto bucket = BucketOfEntry(entry)) begin_ms = BucketBeginMs(policy_, *bucket);
    if (entry.within_ms) begin_ms = std::max(begin_ms, BeginOf(*entry.within_ms, now_ms_));
    return begin_ms;
  }
  // Buckets beyond retention are not kept, and no window reaches them.
  void AddPlayed(const NotEntry& entry) {
    const int64_t begin_ms = BeginOfEntry(entry);
    const int64_t kept = OldestBucket(policy_, now_ms_);
    int64_t touched = BucketIndexOf(policy_, begin_ms);
    int64_t whole = BucketBeginMs(policy_, touched) == begin_ms ? touched : touched + 1;
    if (touched < kept) {
      facts_.beyond |= FactBit(Fact::kPlayed);
      touched = whole = kept;
    }
    facts_.played = true;
    // The oldest bucket that is touched has the earliest beginning.
    facts_.played_from_ms = std::min(facts_.played_from_ms, begin_ms);
    facts_.touched_bucket = std::min(facts_.touched_bucket, touched);
    facts_.oldest_bucket = std::min(facts_.oldest_bucket, whole);
  }

  const Policy& policy_;
  const int64_t now_ms_;
  const int64_t current_;
  CountedFacts facts_;
};

}  // namespace

bool ListRules::Count(size_t nth, int64_t at_ms, std::string_view surface) const {
  return std::any_of(rules_.begin(), rules_.begin() + static_cast<int64_t>(count_),
                     [&](const ListRule& rule) { return rule.Counts(nth, at_ms, surface); });
}

int64_t ListRules::oldest_ms() const {
  int64_t oldest = std::numeric_limits<int64_t>::max();
  for (const ListRule& rule : all()) oldest = std::min(oldest, rule.oldest_ms);
  return oldest;
}

Status CheckQuestion(const Question& question, const Policy& policy) {
  if (question.no.size() > kMaxNotEntries) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxNotEntries) + " entries",
                                   "/not");
  }
  for (size_t i = 0; i < question.no.size(); ++i) {
    Status checked = CheckEntry(i, question.no[i], policy);
    if (!checked.ok()) return checked;
  }
  return {};
}

bool AsksForCaps(const FilterRequest& request) {
  return request.question != nullptr && !request.question->caps.empty();
}

CountedFacts FactsCounted(const FilterRequest& request, const Policy& policy, int64_t now_ms) {
  Compiler compiler(policy, now_ms);
  const bool asked = request.question != nullptr && !request.question->no.empty();
  if (asked) {
    for (const NotEntry& entry : request.question->no) compiler.Add(entry);
  } else {
    if ((request.facts & kFactPlays) != 0) compiler.Add({.fact = Fact::kPlayed});
    if ((request.facts & kFactImpressions) != 0) compiler.Add({.fact = Fact::kServed});
    if (policy.exposed_is_seen && request.facts != 0) compiler.Add({.fact = Fact::kExposed});
  }
  CountedFacts facts = compiler.Finish();
  facts.asked = asked;
  return facts;
}

}  // namespace seendb
