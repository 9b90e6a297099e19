// Reading history: pages merged over collections, and look-ups.

#include <algorithm>
#include <memory>

#include "engine_impl.h"
#include "history_cursor.h"
#include "history_reader.h"

namespace seendb {
namespace {

// Behind all items of one time: ids are UTF-8.
constexpr char kBehindItems[] = "\xff";

Status NoHistory(std::string_view name, std::string field) {
  return Status::NotFound("collection \"" + std::string(name) + "\" keeps no history",
                          std::move(field));
}

HistoryEntry EntryOf(const std::string& collection, std::string_view item,
                     const FoundState& found) {
  PayloadView payload;
  Reader in(found.payload);
  ReadPayload(&in, &payload);
  return {collection,
          std::string(item),
          found.at_ms,
          payload.progress_s,
          payload.duration_s,
          std::string(payload.device),
          std::string(payload.fields)};
}

// One collection of a page.
struct PageSource {
  PageSource(const Shard& shard, const Collection& of, std::string_view user, int64_t now_ms,
             const HistoryCursor* cursor, size_t ahead, Lacks* lacks)
      : collection(of),
        reader(shard, collection, user, now_ms, lacks),
        walk(&reader, From(cursor), ahead) {
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

  const Collection collection;
  HistoryReader reader;
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

Status CheckHistoryItems(std::span<const IdRef> items) {
  if (items.size() > kMaxHistoryItems) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxHistoryItems) + " items",
                                   "/items");
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Status valid = items[i].Validate();
    if (!valid.ok()) {
      return Status(valid.code(), std::string(valid.message()), "/items/" + std::to_string(i));
    }
  }
  return {};
}

Result<Collection> EngineImpl::FindHistory(std::string_view name) const {
  Result<Collection> found = FindCollection(name);
  if (found.ok() && !found->policy.history.enabled) return NoHistory(name, "/collection");
  return found;
}

// Those named, each once, by name; or, where none is, all.
Result<std::vector<Collection>> EngineImpl::HistoryCollections(
    std::span<const std::string_view> names, Without without) const {
  std::map<std::string, Collection, std::less<>> wanted;
  for (size_t i = 0; i < names.size(); ++i) {
    Result<Collection> found =
        without == Without::kTaken ? FindCollection(names[i]) : FindHistory(names[i]);
    if (!found.ok()) {
      return Status(found.status().code(), std::string(found.status().message()),
                    "/collections/" + std::to_string(i));
    }
    wanted.emplace(std::string(names[i]), std::move(found).value());
  }
  if (names.empty()) {
    const std::shared_ptr<const CollectionMap> all = collections();
    for (const auto& [name, collection] : *all) {
      const bool keeps = collection.policy.history.enabled;
      if (keeps || without != Without::kRefused) wanted.emplace(name, collection);
    }
  }
  std::vector<Collection> list;
  list.reserve(wanted.size());
  for (auto& [name, collection] : wanted) list.push_back(std::move(collection));
  return list;
}

Status EngineImpl::ReadHistory(const HistoryRequest& request, HistoryPage* page) {
  *page = {};
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  const Status user_valid = CheckUser(request.user);
  if (!user_valid.ok()) return user_valid;
  if (request.limit < 1 || request.limit > kMaxHistoryLimit) {
    return Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxHistoryLimit),
                                   "/limit");
  }
  HistoryCursor cursor;
  const bool continued = !request.cursor.empty();
  if (continued && !cursor.FromText(request.cursor)) {
    return Status::InvalidArgument("is no cursor of a page of history", "/cursor");
  }
  const Result<std::vector<Collection>> wanted = HistoryCollections(
      request.collections, request.switched_off ? Without::kAmongAll : Without::kRefused);
  if (!wanted.ok()) return wanted.status();
  const std::string user = request.user.ToString();
  const int64_t now = clock_->NowMs();
  const Shard& shard = shards_[ShardOf(request.user)];
  const Gate::Scope inside(*shard.use);
  Lacks lacks;
  PageSources sources;
  for (const Collection& collection : *wanted) {
    sources.push_back(std::make_unique<PageSource>(shard, collection, user, now,
                                                   continued ? &cursor : nullptr,
                                                   size_t{request.limit} + 1, &lacks));
  }
  FillPage(sources, request.limit, &cursor, page);
  page->degraded = lacks.degraded;
  page->missing = std::move(lacks.missing);
  counters_.history_pages.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status EngineImpl::LookupHistory(IdRef user, std::string_view collection,
                                 std::span<const IdRef> items, HistoryLookup* found) {
  *found = {};
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
  valid = CheckHistoryItems(items);
  if (!valid.ok()) return valid;
  const Result<Collection> of = FindHistory(collection);
  if (!of.ok()) return of.status();
  std::vector<std::string> texts;
  for (const IdRef& item : items) texts.push_back(item.ToString());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::string name = user.ToString();
  const Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  Lacks lacks;
  HistoryReader reader(shard, *of, name, clock_->NowMs(), &lacks);
  const std::vector<FoundState> states = reader.Find(views);
  found->entries.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (reader.Shows(states[i])) found->entries[i] = EntryOf(of->name, texts[i], states[i]);
  }
  found->degraded = lacks.degraded;
  found->missing = std::move(lacks.missing);
  counters_.history_lookups.fetch_add(items.size(), std::memory_order_relaxed);
  return {};
}

}  // namespace seendb
