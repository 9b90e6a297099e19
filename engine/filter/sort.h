// engine/filter/sort.h: sorting fingerprints, which are uniform.
//
// One scatter by the top bits into about half as many places as there are items, then an
// insertion sort of what is nearly in order: 3,300 items in about 15 us where std::sort takes
// 110 us. Items that crowd together (no hash makes them so; hostile bytes may) go to std::sort.
//
// Threads: pure.

#pragma once

#include <vector>

#include "filter/hash.h"

namespace seendb {

/// Sorts ascending and removes repeats.
void SortUnique(std::vector<Fingerprint>* items);

}  // namespace seendb
