// format/dump_parts.h: the bodies of the parts of a dump (filter-dump.md, "Parts"). The dump itself
// is seendb/filter_dump.h.

#pragma once

#include <span>
#include <string>

#include "filter/hash.h"
#include "format/filter_codec.h"
#include "format/marks_codec.h"

namespace seendb {

/// The body of kRing, kImpressions, kExposures and kRecord. Items ascending and unique.
std::string DumpedList(std::span<const Fingerprint> items);
/// The body of kBucket.
std::string DumpedFilter(const FilterView& view);
/// The body of kMarks: of each group the mark that reaches furthest.
std::string DumpedMarks(const MarkList& marks);

}  // namespace seendb
