#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "seendb/client.h"
#include "transport.h"

namespace seendb::client {
namespace internal {
namespace {

constexpr size_t kPageChunk = 1'000;
constexpr std::chrono::hours kServedFor{1};
constexpr double kFirstShare = 0.5, kShareMost = 0.95;
constexpr size_t kFetchedMost = 10'000;
/// Codes that let a page fail open.
constexpr std::array<std::string_view, 5> kNoAnswer = {"timeout", "unavailable", "overloaded",
                                                       "busy", "rate_limited"};

/// Fills the page from candidates that nobody judged.
void FillWithout(Transport& transport, const std::string& user, std::vector<Id>* page,
                 std::span<const Id> candidates, size_t need, WhenDegraded when,
                 const std::vector<Id>& exclude) {
  std::unordered_set<std::string> known;
  for (const Id& id : *page) known.insert(id.Text());
  for (const Id& id : exclude) known.insert(id.Text());
  if (when == WhenDegraded::kLastKnown) {
    for (const Served& one : transport.served().Get(user)) {
      if (Clock::now() - one.at < kServedFor) known.insert(one.item);
    }
  }
  for (const Id& candidate : candidates) {
    if (page->size() >= need) return;
    if (known.insert(candidate.Text()).second) page->push_back(candidate);
  }
}

void NoteServed(Transport& transport, const std::string& user, const std::vector<Id>& page) {
  transport.served().Update(user, [&](std::vector<Served>& served) {
    const auto now = Clock::now();
    std::erase_if(served, [&](const Served& one) { return now - one.at >= kServedFor; });
    for (const Id& item : page) served.push_back({.at = now, .item = item.Text()});
  });
}

size_t CountFor(Transport& transport, const std::string& user, size_t k) {
  const double known = transport.shares().Get(user);
  const double share = known > 0 ? known : kFirstShare;
  return static_cast<size_t>(std::ceil(static_cast<double>(k) / (1 - share)));
}

}  // namespace
}  // namespace internal

std::vector<Id> Client::FillPage(const Id& user, const std::vector<Id>& candidates, size_t need,
                                 WhenDegraded when, const FilterOptions& options) {
  const auto end = transport_->EndOf(options.timeout);
  const bool is_closed = when == WhenDegraded::kFailClosed;
  std::vector<Id> page;
  const std::span<const Id> all(candidates);
  for (size_t at = 0; at < all.size() && page.size() < need; at += internal::kPageChunk) {
    const auto chunk = all.subspan(at, std::min(internal::kPageChunk, all.size() - at));
    FilterOptions asked = options;
    asked.timeout = std::chrono::ceil<std::chrono::milliseconds>(end - internal::Clock::now());
    asked.record = true;
    asked.limit = static_cast<int64_t>(need - page.size());
    asked.or_fail = asked.or_fail || is_closed;
    asked.exclude.insert(asked.exclude.end(), page.begin(), page.end());
    Filtered found;
    try {
      found = Filter(user, std::vector<Id>(chunk.begin(), chunk.end()), asked);
    } catch (const Error& error) {
      const auto& open = internal::kNoAnswer;
      if (is_closed || std::find(open.begin(), open.end(), error.code) == open.end()) throw;
      internal::FillWithout(*transport_, user.Text(), &page, all.subspan(at), need, when,
                            options.exclude);
      break;
    }
    if (found.degraded && is_closed) throw Error("unavailable", "the answer is degraded");
    if (found.degraded && when == WhenDegraded::kLastKnown) {
      internal::FillWithout(*transport_, user.Text(), &page, found.unseen, need, when, {});
    } else {
      page.insert(page.end(), found.unseen.begin(), found.unseen.end());
    }
    if (page.size() > need) page.resize(need);
  }
  internal::NoteServed(*transport_, user.Text(), page);
  return page;
}

std::vector<Id> Client::SearchUnseen(const std::function<std::vector<Id>(size_t count)>& search,
                                     const Id& user, size_t k, const FilterOptions& options) {
  for (size_t count = internal::CountFor(*transport_, user.Text(), k);;) {
    count = std::min(count, internal::kFetchedMost);
    const std::vector<Id> found = search(count);
    Filtered filtered = Filter(user, found, options);
    if (!found.empty()) {
      const double seen =
          1 - static_cast<double>(filtered.unseen.size()) / static_cast<double>(found.size());
      transport_->shares().Update(user.Text(), [&](double& share) {
        share = std::min(internal::kShareMost, share > 0 ? share + (seen - share) / 2 : seen);
      });
    }
    const bool is_last = found.size() < count || count >= internal::kFetchedMost;
    if (filtered.unseen.size() >= k || is_last) {
      if (filtered.unseen.size() > k) filtered.unseen.resize(k);
      return std::move(filtered.unseen);
    }
    count = std::max(count * 2, internal::CountFor(*transport_, user.Text(), k));
  }
}

}  // namespace seendb::client
