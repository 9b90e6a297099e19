// base/suggest.h: which known word somebody meant who mistyped one: a command, an option, a field.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace seendb {

/// The fewest insertions, deletions, replacements and swaps of two neighbours that turn `a` into
/// `b`, no place edited twice. Case counts. Cost: O(|a| * |b|) time, O(|b|) memory.
size_t EditDistance(std::string_view a, std::string_view b);

/// Words longer than this have no nearest one, so that a hostile word costs nothing.
inline constexpr size_t kMaxSuggestedBytes = 64;

/// The word of `known` that is nearest to `word`, the first of equals; empty where none is near:
/// within one edit, or within a third of the letters of `word`. Dashes at the beginnings don't
/// count, so that "-db" finds "--db".
std::string_view Nearest(std::string_view word, std::span<const std::string_view> known);

/// What to say of a name that is not known: "unknown field; did you mean `user`? Known: user,
/// item". `what` is "unknown field"; `word` itself is not in the text, which is therefore bounded
/// by the known names.
std::string UnknownName(std::string_view what, std::string_view word,
                        std::span<const std::string_view> known);

}  // namespace seendb
