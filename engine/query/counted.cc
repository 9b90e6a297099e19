#include "query/counted.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/counted_kinds.h"

namespace seendb {
namespace {

// Events of one key that are not before a time.
uint32_t CountSince(std::span<const CountEntry> of_key, Fact fact, int64_t since_ms) {
  return static_cast<uint32_t>(std::count_if(of_key.begin(), of_key.end(), [&](const auto& event) {
    return event.fact == static_cast<CountedFact>(fact) && event.at_ms >= since_ms;
  }));
}

// Reservations of one key, that have not ended, and that no impression has taken. Each impression,
// the oldest first, takes one reservation of its item that it lies within, of several the one that
// ends first.
uint32_t OpenReservations(std::span<const CountEntry> of_key, int64_t now_ms) {
  struct Reservation {
    int64_t end_ms, at_ms;
    Fingerprint item;
    bool taken = false;
  };
  std::vector<Reservation> all;
  for (const CountEntry& event : of_key) {
    if (event.fact != CountedFact::kReserved) continue;
    all.push_back({event.at_ms + event.for_ms, event.at_ms, event.item});
  }
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.end_ms < b.end_ms; });
  for (size_t i = of_key.size(); i-- > 0;) {
    const CountEntry& served = of_key[i];
    if (served.fact != CountedFact::kServed) continue;
    const auto takes = [&](const Reservation& one) {
      return !one.taken && one.item == served.item && one.at_ms <= served.at_ms &&
             served.at_ms < one.end_ms;
    };
    const auto found = std::find_if(all.begin(), all.end(), takes);
    if (found != all.end()) found->taken = true;
  }
  return static_cast<uint32_t>(std::count_if(
      all.begin(), all.end(), [&](const auto& one) { return !one.taken && now_ms < one.end_ms; }));
}

}  // namespace

Counted::Counted(const CountList& list, std::span<const CountedKind> kinds)
    : entries_(list.entries),
      kinds_(kinds),
      complete_from_ms_(std::numeric_limits<int64_t>::min()) {
  if (entries_.size() < kMaxCountsOfUser) return;
  const auto oldest =
      std::min_element(entries_.begin(), entries_.end(),
                       [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; });
  complete_from_ms_ = oldest->at_ms + 1;
}

Counted::OfKey Counted::NotTooOld(OfKey of_key, int64_t now_ms) const {
  if (of_key.empty()) return of_key;
  const int64_t oldest_ms = OldestCounted(of_key.front().key, kinds_, now_ms);
  const auto end = std::find_if(of_key.begin(), of_key.end(), [oldest_ms](const CountEntry& event) {
    return event.at_ms < oldest_ms;
  });
  return {of_key.begin(), end};
}

FactCounts Counted::Count(OfKey of_key, Fact fact, int64_t now_ms) const {
  FactCounts counts;
  const auto of_fact = [fact](const CountEntry& event) {
    return event.fact == static_cast<CountedFact>(fact);
  };
  const auto kept = static_cast<size_t>(std::count_if(of_key.begin(), of_key.end(), of_fact));
  const auto oldest = std::find_if(of_key.rbegin(), of_key.rend(), of_fact);
  const uint32_t reserved = fact == Fact::kServed ? OpenReservations(of_key, now_ms) : 0;
  for (size_t i = 0; i < kCountedSpansMs.size(); ++i) {
    const int64_t since_ms = now_ms - kCountedSpansMs[i];
    counts.events[i] = reserved + CountSince(of_key, fact, since_ms);
    counts.at_least[i] =
        (kept >= kMaxCountsOfKey && oldest->at_ms >= since_ms) || complete_from_ms_ > since_ms;
  }
  return counts;
}

uint32_t Counted::Events(std::string_view key, Fact fact, int64_t since_ms, int64_t now_ms) const {
  const auto [first, last] =
      std::equal_range(entries_.begin(), entries_.end(), CountEntry{.key = key},
                       [](const CountEntry& a, const CountEntry& b) { return a.key < b.key; });
  const OfKey of_key = NotTooOld({first, last}, now_ms);
  const uint32_t reserved = fact == Fact::kServed ? OpenReservations(of_key, now_ms) : 0;
  return reserved + CountSince(of_key, fact, since_ms);
}

std::vector<GroupCounts> Counted::Groups(const CountsRequest& request, int64_t now_ms,
                                         bool* more) const {
  const std::string after =
      request.after_item.empty() ? std::string(request.after) : ItemKey(IdRef(request.after_item));
  const auto is_asked = [&](std::string_view key) {
    return (request.kind.empty() || IsOfKind(key, request.kind)) &&
           (!request.by_name || key > after);
  };
  std::vector<OfKey> keys;  // by name
  for (size_t begin = 0, end = 0; begin < entries_.size(); begin = end) {
    while (end < entries_.size() && entries_[end].key == entries_[begin].key) ++end;
    const OfKey of_key = NotTooOld(entries_.subspan(begin, end - begin), now_ms);
    if (!of_key.empty() && is_asked(of_key.front().key)) keys.push_back(of_key);
  }
  if (!request.by_name) {
    std::stable_sort(keys.begin(), keys.end(), [](const OfKey& a, const OfKey& b) {
      return a.front().at_ms > b.front().at_ms;
    });
  }
  *more = keys.size() > request.limit;
  if (*more) keys.resize(request.limit);
  std::vector<GroupCounts> groups;
  groups.reserve(keys.size());
  for (const OfKey& of_key : keys) {
    GroupCounts& group = groups.emplace_back();
    group.item = ItemOfKey(of_key.front().key);
    group.group = group.item.empty() ? of_key.front().key : kItemKind;
    for (size_t fact = 0; fact < kFactCount; ++fact) {
      group.by_fact[fact] = Count(of_key, static_cast<Fact>(fact), now_ms);
    }
  }
  return groups;
}

}  // namespace seendb
