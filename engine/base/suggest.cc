#include "base/suggest.h"

#include <algorithm>
#include <vector>

namespace seendb {
namespace {

std::string_view WithoutDashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::string_view Nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kMaxSuggestedBytes) return {};
  const std::string_view bare = WithoutDashes(word);
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, bare.size() / 3) + 1;
  for (const std::string_view one : known) {
    const size_t distance = EditDistance(bare, WithoutDashes(one));
    // A word that would have to be replaced whole is not near.
    if (distance >= best_distance || distance >= WithoutDashes(one).size()) continue;
    best_distance = distance;
    best = one;
  }
  return best;
}

std::string UnknownName(std::string_view what, std::string_view word,
                        std::span<const std::string_view> known) {
  std::string text(what);
  const std::string_view nearest = Nearest(word, known);
  if (!nearest.empty()) text.append("; did you mean `").append(nearest).append("`?");
  if (known.empty()) return text;
  text.append(nearest.empty() ? "; known: " : " Known: ");
  for (size_t i = 0; i < known.size(); ++i) {
    if (i > 0) text.append(", ");
    text.append(known[i]);
  }
  return text;
}

}  // namespace seendb
