#include "query/judged.h"

#include "seendb/judge.h"

namespace seendb {
namespace {

// Whether one more of the kind may be returned, which it then is.
bool TakeOne(uint32_t kind, uint32_t most, std::vector<uint32_t>* returned) {
  if (kind == 0) return true;
  if (kind >= returned->size()) returned->resize(size_t{kind} + 1, 0);
  uint32_t& count = (*returned)[kind];
  if (count >= most) return false;
  ++count;
  return true;
}

size_t FirstOf(const FilterRequest& request, size_t position, const Candidates& candidates) {
  return candidates.distinct.FirstOf(request.items, candidates.fingerprints, position);
}

void Decide(uint32_t verdict, size_t position, Candidates* candidates) {
  candidates->verdicts[position] = verdict;
  if (!candidates->undated.empty()) candidates->undated[position] = 0;
}

}  // namespace

bool AdmitOfKind(const FilterRequest& request, size_t position, Candidates* candidates) {
  if (request.judge == nullptr) return true;
  return TakeOne(candidates->judgements[position].kind, request.judge->most_of_a_kind(),
                 &candidates->returned_of_kind);
}

void BeginJudging(size_t count, Candidates* candidates) {
  candidates->judgements.assign(count, Judgement());
  candidates->returned_of_kind.clear();
}

void JudgeRange(std::span<const SourceView> sources, const FilterRequest& request,
                const JudgedVerdicts& verdicts, size_t begin, size_t end, Candidates* candidates) {
  const std::span<Judgement> judgements(candidates->judgements);
  request.judge->Judge(request.items.subspan(begin, end - begin),
                       judgements.subspan(begin, end - begin));
  for (size_t i = begin; i < end; ++i) {
    uint32_t& own = candidates->verdicts[i];
    if (own != 0 && sources[own - 1].excludes()) continue;
    if (candidates->repeats[i] != 0) {
      judgements[i] = judgements[FirstOf(request, i, *candidates)];
    }
    if (judgements[i].dropped_by != 0) Decide(verdicts.dropped, i, candidates);
  }
}

void LimitKinds(const FilterRequest& request, const JudgedVerdicts& verdicts, size_t begin,
                size_t end, Candidates* candidates) {
  const uint32_t most = request.judge->most_of_a_kind();
  for (size_t i = begin; i < end; ++i) {
    const uint32_t own = candidates->verdicts[i];
    if (candidates->repeats[i] != 0) {
      const uint32_t of_first = candidates->verdicts[FirstOf(request, i, *candidates)];
      if (own == 0 && of_first == verdicts.too_many) Decide(of_first, i, candidates);
    } else if (own == 0 &&
               !TakeOne(candidates->judgements[i].kind, most, &candidates->returned_of_kind)) {
      Decide(verdicts.too_many, i, candidates);
    }
  }
}

}  // namespace seendb
