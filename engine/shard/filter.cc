#include "shard/filter.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "query/capped.h"
#include "query/excluded.h"
#include "query/judged.h"
#include "query/marked.h"
#include "query/probe.h"
#include "query/question.h"
#include "query/repeats.h"
#include "query/same_as.h"
#include "shard/filter_sources.h"
#include "shard/hit_check.h"
#include "shard/repeats.h"
#include "shard/served_check.h"
#include "shard/span_check.h"

namespace seendb {
namespace {

using Scratch = FilterScratch;

SameVerdicts AddSameSources(Scratch* scratch) {
  SameVerdicts verdicts;
  scratch->AddSource(ReasonKind::kSame, 0);
  verdicts.seen = static_cast<uint32_t>(scratch->sources.size());
  scratch->AddSource(ReasonKind::kSame, 0);
  scratch->sources.back().touched = true;
  verdicts.touched = static_cast<uint32_t>(scratch->sources.size());
  scratch->AddSource(ReasonKind::kSame, 0);
  scratch->sources.back().on_page = true;
  verdicts.on_page = static_cast<uint32_t>(scratch->sources.size());
  return verdicts;
}

JudgedVerdicts AddJudgedSources(Scratch* scratch) {
  JudgedVerdicts verdicts;
  scratch->AddSource(ReasonKind::kJudged, 0);
  verdicts.dropped = static_cast<uint32_t>(scratch->sources.size());
  scratch->AddSource(ReasonKind::kTooMany, 0);
  verdicts.too_many = static_cast<uint32_t>(scratch->sources.size());
  return verdicts;
}

// The verdict of the first of them; they have no items. 0: there are none.
uint32_t AddSourcesElsewhere(const SeenElsewhere* elsewhere, Scratch* scratch) {
  if (elsewhere == nullptr) return 0;
  const auto first = static_cast<uint32_t>(scratch->sources.size()) + 1;
  for (const Reason& reason : elsewhere->reasons()) {
    scratch->AddSource(reason.kind, reason.bucket_index);
    scratch->sources.back().name = reason.group;
    scratch->sources.back().collection = reason.collection;
  }
  return first;
}

// `open`: the caller is inside the shard. False where memory alone can't tell.
bool Answer(const ShardParts& shard, const FilterRead& read, bool open, FilterResponse* response) {
  const FilterRequest& request = read.request;
  const Collection& collection = read.collection;
  thread_local Scratch scratch;
  scratch.sources.clear();
  Candidates& candidates = scratch.candidates;
  const Present now = shard.clock->Look();
  if (now.in_doubt) MarkMissing(response, "clock");  // the window may be another one
  SourceReader reader(shard, collection, request, read.user, now.ms, read.deadline, scratch,
                      response);
  if (read.late) {
    reader.BeginLate("deadline");
  } else if (request.short_term_alone) {
    reader.BeginLate("load");
  }
  if (open) {
    reader.ReadAll(shard.counters);
  } else {
    reader.ReadMemory();
  }
  if (reader.needs_disk()) {
    scratch.DropAllSources();
    response->missing.clear();
    response->degraded = false;
    return false;
  }

  const size_t count = request.items.size();
  candidates.fingerprints.resize(count);
  candidates.verdicts.assign(count, 0);
  candidates.repeats.resize(count);
  candidates.distinct.Begin(count);
  candidates.groups.clear();
  candidates.undated.clear();
  candidates.in_span.clear();
  candidates.same.clear();
  std::optional<HitCheck> check;
  if (request.verify) {
    candidates.refuted.assign(count, 0);
    check.emplace(shard, collection, read.user);
  }
  JudgedVerdicts judged;
  if (request.judge != nullptr) {
    judged = AddJudgedSources(&scratch);
    BeginJudging(count, &candidates);
  }
  const uint32_t elsewhere_verdict = AddSourcesElsewhere(read.elsewhere, &scratch);
  const Counted counted(reader.counted(), collection.policy.counts);
  std::optional<PageCaps> caps;
  if (reader.capped_verdict() != 0) caps.emplace(request, counted, now.ms);
  const auto limit_page = [&](size_t begin, size_t end) {
    if (request.judge != nullptr) LimitKinds(request, judged, begin, end, &candidates);
    if (caps) caps->Drop(reader.capped_verdict(), begin, end, &candidates);
  };
  const bool has_same = AsksForSameAs(request), hides = has_same && !read.for_union;
  SameVerdicts same;
  SamePage page;
  std::vector<SourceView> facts;  // with groups
  if (has_same) {
    facts = SourcesOfFacts(scratch.sources);
    same = AddSameSources(&scratch);
    BeginSame(request, shard.hash, &candidates);
  }
  response->unseen.reserve(count);
  // With a limit, a piece at a time: the rest need not be decided.
  const size_t piece =
      request.limit == 0 ? count : std::max<size_t>(512, size_t{4} * request.limit);
  for (size_t begin = 0; begin < count; begin += piece) {
    const size_t end = std::min(count, begin + piece);
    shard.hash.OfMany(request.items.subspan(begin, end - begin),
                      candidates.fingerprints.data() + begin);
    MarkRepeats(request.items, begin, end, &candidates);
    ProbeRange(scratch.sources, begin, end, &candidates);
    if (reader.in_set_verdict() != 0) {
      FindInSets(scratch.sources, request, reader.in_set_verdict(), begin, end, &candidates);
    }
    if (reader.marked_verdict() != 0) {
      FindMarked(scratch.sources, reader.marked(), request, reader.marked_verdict(), begin, end,
                 &candidates);
    }
    if (reader.overrides() != nullptr) {
      LiftOverrides(scratch.sources, *reader.overrides(), begin, end, &candidates);
    }
    // Nothing is refuted where a source is missing: it may be the one that was right.
    const bool may_refute = !response->degraded && !reader.TimeIsUp();
    if (may_refute && reader.may_check_span()) {
      CheckSpan(shard, read, reader.facts().touched_bucket, reader.facts().played_from_ms, begin,
                end, scratch);
    }
    if (check && may_refute) {
      CheckServed(request.items, reader.overrides(), begin, end, scratch);
      check->Run(request.items, begin, end, scratch);
    }
    if (elsewhere_verdict != 0) {
      read.elsewhere->Decide(elsewhere_verdict, begin, end, &candidates);
    }
    if (has_same) {
      FindSame(facts, reader.overrides(), same, request, begin, end, &candidates, &scratch.probed);
    }
    if (request.judge != nullptr) {
      JudgeRange(scratch.sources, request, judged, begin, end, &candidates);
    }
    if (!hides) limit_page(begin, end);
    for (size_t i = begin; hides && i < end; ++i) {  // what is hidden must not count
      page.Hide(request, same.on_page, i, &candidates);
      limit_page(i, i + 1);
      if (candidates.verdicts[i] == 0 && candidates.repeats[i] == 0) page.Add(request, i);
    }
    if (Collect(scratch.sources, candidates, request, begin, end, response)) break;
  }
  if (IsShort(request, *response)) {
    const auto admit = [&](uint32_t position) {
      if ((read.elsewhere != nullptr && read.elsewhere->Has(position)) ||
          page.Has(request, position) || !AdmitOfKind(request, position, &candidates) ||
          (caps && !caps->Admit(position))) {
        return false;
      }
      page.Add(request, position);
      return true;
    };
    FindRepeats(shard, read, reader.overrides(), now.ms, scratch, admit, response);
  }
  scratch.DropAllSources();
  return true;
}

}  // namespace

bool AnswerFilter(const ShardParts& shard, const FilterRead& read, FilterResponse* response) {
  return Answer(shard, read, true, response);
}

void AnswerFromMemory(const ShardParts& shard, const FilterRead& read, FilterResponse* response) {
  Answer(shard, read, false, response);
}

}  // namespace seendb
