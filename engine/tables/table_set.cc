#include "tables/table_set.h"

#include <cassert>
#include <charconv>

#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Reads what follows the prefix of a kind into `*parsed`; false where it is none of that kind.
bool ParseRest(Table::Scope scope, std::string_view rest, FamilyName* parsed) {
  if (scope == Table::Scope::kShard) return rest.empty();
  if (scope == Table::Scope::kSlot) {
    const char* const end = rest.data() + rest.size();
    const auto [read, error] = std::from_chars(rest.data(), end, parsed->slot);
    return error == std::errc() && read == end;
  }
  if (scope == Table::Scope::kBucket) {
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return false;
    parsed->bucket = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  parsed->collection = rest;
  return ValidateCollectionName(rest).ok();
}

std::string Joined(std::string_view prefix, std::string_view collection, std::string_view bucket) {
  return std::string(prefix).append(collection).append("/").append(bucket);
}

}  // namespace

FamilyName ParseFamilyName(std::string_view name) {
  for (const Table& kind : Tables()) {
    if (!name.starts_with(kind.prefix)) continue;
    FamilyName parsed;
    if (!ParseRest(kind.scope, name.substr(kind.prefix.size()), &parsed)) return {};
    parsed.kind = &kind;
    return parsed;
  }
  return {};
}

std::string RingFamilyName(uint32_t slot) {
  return std::string(kRingTables).append(std::to_string(slot));
}

std::string SeenFamilyName(std::string_view collection, std::string_view bucket) {
  return Joined(kSeenTables, collection, bucket);
}

std::string ImpressionsFamilyName(std::string_view collection) {
  return std::string(kImpressionsTables).append(collection);
}

std::string ExposuresFamilyName(std::string_view collection) {
  return std::string(kExposuresTables).append(collection);
}

std::string CountsFamilyName(std::string_view collection) {
  return std::string(kCountsTables).append(collection);
}

std::string HistoryFamilyName(std::string_view collection, std::string_view bucket) {
  return Joined(kHistoryTables, collection, bucket);
}

std::string TimelineFamilyName(std::string_view collection, std::string_view bucket) {
  return Joined(kTimelineTables, collection, bucket);
}

bool CollectionFamilies::AdoptList(std::string_view table, const std::shared_ptr<Family>& family,
                                   const TableRules& rules) {
  if (table == kImpressionsTables) {
    impressions = family;
    impression_rules = rules.impressions;
    SetImpressionRules(policy, impression_rules.get());
  } else if (table == kExposuresTables) {
    exposures = family;
    exposure_rules = rules.impressions;
    SetExposureRules(policy, exposure_rules.get());
  } else if (table == kCountsTables) {
    counts = family;
    count_rules = rules.counts;
    count_rules->SetKinds(policy.counts);
  } else {
    return false;
  }
  return true;
}

std::string LossPartOf(const FamilyName& name) {
  assert(name.kind != nullptr && (!name.collection.empty() || name.Is(kOwnTable)));
  return std::string(name.kind->lost_label).append(name.bucket);
}

std::string LossKeyOf(const FamilyName& name) {
  if (name.Is(kOwnTable)) return kLostOwnKey;
  return LostKey(name.collection, LossPartOf(name));
}

std::vector<std::string> MarkersOf(const FamilyName& name) {
  std::vector<std::string> keys{LossKeyOf(name)};
  for (const std::string_view prefix : name.kind->markers) {
    keys.push_back(Joined(prefix, name.collection, name.bucket));
  }
  return keys;
}

rocksdb::ColumnFamilyOptions ReadingOptions(std::string_view name) {
  const Table* const kind = ParseFamilyName(name).kind;
  const TableRules rules = UnboundRules(std::make_shared<Counters>());
  return FamilyOptions(kind == nullptr ? Tables().front() : *kind, rules, nullptr);
}

}  // namespace seendb
