#include "recovery/rebuilt_meta.h"

#include <algorithm>
#include <utility>

#include "tables/data_loss.h"
#include "tables/meta_keys.h"

namespace seendb {

void RebuiltMeta::Take(std::string_view key, std::string_view value, uint64_t sequence) {
  switch (RebuildOf(key)) {
    case MetaRebuild::kNewest:
    case MetaRebuild::kJoined:
      versions_[std::string(key)].push_back({sequence, std::string(value)});
      return;
    case MetaRebuild::kAnew:
      return;
    case MetaRebuild::kDropped:
      break;
  }
  for (const std::string_view prefix : {kSourcePrefix, kTopicPrefix}) {
    if (key.starts_with(prefix)) sources_.emplace(key.substr(prefix.size()));
  }
}

void RebuiltMeta::Delete(std::string_view key, uint64_t sequence) {
  versions_[std::string(key)].push_back({sequence, {}});
}

std::map<std::string, std::string> RebuiltMeta::Rows(int64_t now_ms) const {
  std::map<std::string, std::string> rows;
  for (const auto& [key, versions] : versions_) {
    std::optional<std::string> value =
        RebuildOf(key) == MetaRebuild::kJoined ? Join(versions, now_ms) : Newest(versions).value;
    if (value) rows[key] = *std::move(value);
  }
  return rows;
}

const RebuiltMeta::Version& RebuiltMeta::Newest(const std::vector<Version>& versions) {
  const Version* newest = &versions.front();
  for (const Version& one : versions) {
    if (one.sequence >= newest->sequence) newest = &one;
  }
  return *newest;
}

// All that is newer than the last deletion.
std::optional<std::string> RebuiltMeta::Join(const std::vector<Version>& versions, int64_t now_ms) {
  std::optional<uint64_t> deleted;
  for (const Version& one : versions) {
    if (!one.value) deleted = std::max(deleted.value_or(0), one.sequence);
  }
  std::optional<DataLoss> joined;
  for (const Version& one : versions) {
    if (!one.value || (deleted && one.sequence < *deleted)) continue;
    if (!joined) joined.emplace();
    joined->Join(
        DataLoss::FromJson(*one.value).value_or(DataLoss{now_ms, "the marker is damaged", {}}));
  }
  if (!joined) return {};
  return joined->ToJson();
}

}  // namespace seendb
