#include "shard/served_check.h"

#include <algorithm>

#include "query/probe.h"

namespace seendb {
namespace {

// Whether the ids kept by the impressions say that it was another item that was served.
bool WasAnother(const SourceBytes& impressions, Fingerprint fingerprint, const IdRef& item) {
  const auto& ids = impressions.ids;
  const auto kept =
      std::lower_bound(ids.begin(), ids.end(), fingerprint,
                       [](const auto& entry, Fingerprint wanted) { return entry.first < wanted; });
  return kept != ids.end() && kept->first == fingerprint && kept->second != item.ToString();
}

}  // namespace

void CheckServed(std::span<const IdRef> items, const CollectionMarks* marks, size_t begin,
                 size_t end, FilterScratch& scratch) {
  const std::span<const SourceView> sources = scratch.sources;
  const auto served = std::find_if(sources.begin(), sources.end(), [](const SourceView& source) {
    return source.kind == ReasonKind::kImpression;
  });
  if (served == sources.end()) return;
  const auto at = static_cast<uint32_t>(served - sources.begin());
  const SourceBytes& bytes = *scratch.bytes[at];
  if (bytes.ids.empty()) return;
  Candidates& candidates = scratch.candidates;
  for (size_t i = begin; i < end; ++i) {
    if (candidates.verdicts[i] != at + 1) continue;
    if (!WasAnother(bytes, candidates.fingerprints[i], items[i])) continue;
    uint32_t& verdict = candidates.verdicts[i];
    verdict = 0;
    ProbeRange(sources.subspan(at + 1), i, i + 1, &candidates);
    if (verdict == 0) {
      candidates.refuted[i] = at + 1;
      continue;
    }
    verdict += at + 1;
    if (marks != nullptr) LiftOverrides(sources, *marks, i, i + 1, &candidates);
  }
}

}  // namespace seendb
