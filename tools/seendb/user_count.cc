#include "user_count.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace seendb::tool {
namespace {

constexpr size_t kFirstCompaction = 1 << 16;
constexpr std::string_view kSeen = "seen/";

}  // namespace

void DistinctCount::Add(std::string_view text) {
  hashes_.push_back(std::hash<std::string_view>()(text));
  if (hashes_.size() >= std::max(kFirstCompaction, 2 * distinct_)) Compact();
}

uint64_t DistinctCount::count() {
  Compact();
  return distinct_;
}

void DistinctCount::Compact() {
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  distinct_ = hashes_.size();
}

Result<Json> CountUsers(Engine& engine) {
  DistinctCount all;
  std::map<std::string, DistinctCount> by_collection;
  const Status scanned = engine.Scan(kSeen, [&](const ScanRow& row) {
    const std::string rest = row.family.substr(kSeen.size());
    all.Add(row.key);
    by_collection[rest.substr(0, rest.find('/'))].Add(row.key);
    return true;
  });
  if (!scanned.ok()) return scanned;
  uint64_t staged = 0;
  for (const SlotInfo& slot : engine.Ring()) {
    if (slot.state != "free" && slot.state != "drained") staged += slot.users;
  }
  Json counts = Json::object();
  for (auto& [collection, count] : by_collection) counts[collection] = count.count();
  return Json{{"total", all.count()}, {"by_collection", std::move(counts)}, {"staged", staged}};
}

}  // namespace seendb::tool
