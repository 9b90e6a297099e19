// query/judged.h: which candidates of a filter request its judge drops (seendb/judge.h). Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "query/candidates.h"
#include "seendb/events.h"

namespace seendb {

/// The verdicts that stand for what a judge says: those of two sources without items.
struct JudgedVerdicts {
  uint32_t dropped = 0;   ///< of the source kJudged
  uint32_t too_many = 0;  ///< of the source kTooMany
};

/// Begins a request of `count` candidates.
void BeginJudging(size_t count, Candidates* candidates);

/// Asks the request's judge about the candidates of [begin, end), and gives those their verdicts
/// that it drops: whatever the others say, but for `exclude`. A repeat has what its first has.
/// Precondition: ranges come ascending, and MarkRepeats was called for all up to `end`.
void JudgeRange(std::span<const SourceView> sources, const FilterRequest& request,
                const JudgedVerdicts& verdicts, size_t begin, size_t end, Candidates* candidates);

/// Gives the unseen ones of [begin, end) that are behind the first few of their kind their verdict.
/// Precondition: as JudgeRange, which was called, and everything else but caps was asked.
void LimitKinds(const FilterRequest& request, const JudgedVerdicts& verdicts, size_t begin,
                size_t end, Candidates* candidates);

/// Whether the judge leaves room for one more of the candidate's kind, which it then is: also where
/// it comes back although it was seen. True without a judge.
bool AdmitOfKind(const FilterRequest& request, size_t position, Candidates* candidates);

}  // namespace seendb
