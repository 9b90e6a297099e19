#include "api/catalog.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "base/utf8.h"

namespace seendb::api {
namespace {

std::atomic<uint64_t> next_id{1};

}  // namespace

Catalog::Catalog(ops::Metrics* metrics)
    : metrics_(metrics), id_(next_id.fetch_add(1)), entries_(std::make_shared<Entries>()) {}

void Catalog::Renew(Engine* engine, bool all) {
  const MutexLock lock(mutex_);
  auto entries = std::make_shared<Entries>();
  bool may_wait = false;
  for (const CollectionInfo& info : engine->Collections()) {
    may_wait = may_wait || info.policy.durability == Durability::kSync || info.policy.first_of_day;
    entries->emplace(info.name, CatalogEntry{info.policy, metrics_->ForCollection(info.name)});
  }
  entries_ = std::move(entries);
  all_.store(all, std::memory_order_relaxed);
  may_wait_.store(may_wait, std::memory_order_relaxed);
  version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Catalog::Entries> Catalog::Current() const {
  struct Cached {
    uint64_t id = 0, version = 0;
    std::shared_ptr<const Entries> entries;
  };
  thread_local Cached cached;
  const uint64_t version = version_.load(std::memory_order_acquire);
  if (cached.id != id_ || cached.version != version) {
    const MutexLock lock(mutex_);
    cached = {id_, version_.load(std::memory_order_relaxed), entries_};
  }
  return cached.entries;
}

std::shared_ptr<const CatalogEntry> Catalog::Find(std::string_view name) const {
  std::shared_ptr<const Entries> entries = Current();
  const auto found = entries->find(name);
  if (found == entries->end()) return nullptr;
  return {std::move(entries), &found->second};
}

bool Catalog::KeepNoHistory(std::span<const std::string_view> names) const {
  const std::shared_ptr<const Entries> entries = Current();
  const auto keeps = [](const CatalogEntry& entry) { return entry.policy.history.enabled; };
  if (names.empty()) {
    return all_.load(std::memory_order_relaxed) &&
           std::none_of(entries->begin(), entries->end(),
                        [&](const auto& one) { return keeps(one.second); });
  }
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    const auto found = entries->find(name);
    return found != entries->end() && !keeps(found->second);
  });
}

Status Catalog::Unknown(std::string_view name, std::string_view field) const {
  if (!all_.load(std::memory_order_relaxed)) {
    return Status::Unavailable("the database is being opened");
  }
  const std::shared_ptr<const Entries> entries = Current();
  std::vector<std::string_view> known;
  for (const auto& [of, entry] : *entries) known.push_back(of);
  std::string text = "no collection \"" + std::string(Utf8Prefix(name, kMaxSuggestedBytes)) + '"';
  const std::string_view meant = Nearest(name, known);
  if (!meant.empty()) text.append("; did you mean \"").append(meant).append("\"?");
  return Status::NotFound(std::move(text), std::string(field));
}

}  // namespace seendb::api
