#include "shard/history_read.h"

#include <algorithm>
#include <memory>

#include "base/pause_point.h"
#include "shard/history_cursor.h"
#include "shard/history_reader.h"

namespace seendb {
namespace {

// A page is read again where its user wrote meanwhile. After so many tries what is staged of the
// user is copied, so that a flood of writes can't keep a reader from an answer.
constexpr int kTriesUnfrozen = 3;
// A slot is drained once an hour, or when it is full: hardly ever so often within one page.
constexpr int kTriesMost = 8;

// Behind all items of one time: ids are UTF-8.
constexpr char kBehindItems[] = "\xff";

HistoryEntry EntryOf(const std::string& collection, std::string_view item,
                     const FoundState& found) {
  const HistoryState state = found.state();
  return {collection,
          std::string(item),
          found.at_ms,
          state.progress_s.value,
          state.duration_s.value,
          std::string(state.device.value),
          std::string(state.fields.value)};
}

// One collection of a page.
struct PageSource {
  PageSource(const ShardParts& shard, const Collection& of, std::string_view user, int64_t now_ms,
             const HistoryCursor* cursor, size_t ahead, bool freeze, ReadGaps* gaps)
      : collection(of),
        reader(shard, collection, user, now_ms, gaps),
        holds(!freeze || reader.Freeze()),
        walk(&reader, From(cursor), ahead, Sought::kWhole) {
    if (cursor == nullptr) return;
    const auto at = cursor->shown.find(collection.name);
    if (at != cursor->shown.end()) shown = at->second;
  }

  // Entries of one time are ordered by collection, then item.
  TimelinePlace From(const HistoryCursor* cursor) const {
    if (cursor == nullptr) return {};
    if (cursor->collection == collection.name) return {cursor->at_ms, cursor->item};
    return {cursor->at_ms, collection.name < cursor->collection ? kBehindItems : ""};
  }
  const WalkedEntry* Peek() {
    return shown < collection.policy.history.max_entries ? walk.Peek() : nullptr;
  }

  const Collection& collection;
  HistoryReader reader;
  const bool holds;  // false: it should be frozen, and there was no room
  HistoryWalk walk;
  uint64_t shown = 0;
};

using PageSources = std::vector<std::unique_ptr<PageSource>>;

// The source of the next entry of all; null at the end.
PageSource* NextOf(const PageSources& sources) {
  PageSource* next = nullptr;
  for (const auto& source : sources) {
    const WalkedEntry* entry = source->Peek();
    if (entry == nullptr) continue;
    if (next == nullptr || entry->state.at_ms > next->Peek()->state.at_ms) next = source.get();
  }
  return next;
}

void FillPage(const PageSources& sources, uint32_t limit, HistoryCursor* last, HistoryPage* page) {
  while (PageSource* next = NextOf(sources)) {
    if (page->entries.size() == limit) {
      for (const auto& source : sources) last->shown[source->collection.name] = source->shown;
      page->cursor = last->ToText();
      return;
    }
    const WalkedEntry& entry = *next->Peek();
    page->entries.push_back(EntryOf(next->collection.name, entry.item, entry.state));
    last->at_ms = entry.state.at_ms;
    last->collection = next->collection.name;
    last->item = entry.item;
    ++next->shown;
    next->walk.Pop();
  }
}

}  // namespace

Status ReadHistory(const ShardParts& shard, const HistoryRequest& request,
                   std::span<const CollectionPtr> wanted, const HistoryCursor* cursor,
                   HistoryPage* page) {
  const std::string user = request.user.ToString();
  const Present now = shard.clock->Look();
  ReadGaps gaps;
  for (int tries = 1;; ++tries) {
    const bool freeze = tries > kTriesUnfrozen;
    gaps = ReadGaps();
    *page = HistoryPage();
    if (now.in_doubt) gaps.Add("clock");  // older entries may be kept
    PageSources sources;
    bool holds = true;
    for (const CollectionPtr& collection : wanted) {
      sources.push_back(std::make_unique<PageSource>(shard, *collection, user, now.ms, cursor,
                                                     size_t{request.limit} + 1, freeze, &gaps));
      holds = holds && sources.back()->holds;
    }
    if (!holds) return Status::Busy("too many histories are read while they are written");
    SEENDB_PAUSE_POINT("history: page begun");
    HistoryCursor last = cursor == nullptr ? HistoryCursor() : *cursor;
    FillPage(sources, request.limit, &last, page);
    const bool changed = std::any_of(sources.begin(), sources.end(), [=](const auto& source) {
      return freeze ? source->reader.DrainBegun() : source->reader.Changed();
    });
    if (!changed) break;
    if (tries == kTriesMost) return Status::Busy("slots are drained faster than a page is read");
  }
  page->degraded = gaps.degraded;
  page->missing = std::move(gaps.missing);
  shard.counters->history_pages.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status LookupHistory(const ShardParts& shard, const Collection& of, const std::string& user,
                     std::span<const IdRef> items, HistoryLookup* found) {
  std::vector<std::string> texts;
  for (const IdRef& item : items) texts.push_back(item.ToString());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ReadGaps gaps;
  const Present now = shard.clock->Look();
  if (now.in_doubt) gaps.Add("clock");  // as above
  HistoryReader reader(shard, of, user, now.ms, &gaps);
  const std::vector<FoundState> states = reader.Find(views, Sought::kWhole);
  found->entries.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (reader.Shows(states[i])) found->entries[i] = EntryOf(of.name, texts[i], states[i]);
  }
  found->degraded = gaps.degraded;
  found->missing = std::move(gaps.missing);
  shard.counters->history_lookups.fetch_add(items.size(), std::memory_order_relaxed);
  return {};
}

}  // namespace seendb
