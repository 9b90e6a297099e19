// seendb/suggest.h: what somebody meant who mistyped a word of the command line.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace seendb::tool {

/// The fewest insertions, deletions, replacements and swaps of two neighbours that turn `a` into
/// `b`, no place edited twice. Case counts. Cost: O(|a| * |b|) time, O(|b|) memory.
size_t EditDistance(std::string_view a, std::string_view b);

/// The word of `known` that is nearest to `word`, the first of equals; empty where none is near:
/// within one edit, or within a third of the letters of `word`. Dashes at the beginnings don't
/// count, so that "-db" finds "--db".
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace seendb::tool
