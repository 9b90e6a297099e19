#include "tables/data_loss.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>
#include <rocksdb/slice.h>

#include "tables/meta_keys.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kReasonBytes = 2000;  // more is not added to
constexpr size_t kRanges = 1000;       // of more, neighbours become one

std::string Unhex(const std::string& hex) {
  std::string bytes;
  return rocksdb::Slice(hex).DecodeHex(&bytes) ? bytes : throw std::invalid_argument("no hex");
}

// Ascending, none touching another.
void Unite(std::vector<UserRange>* ranges) {
  const auto by_from = [](const UserRange& a, const UserRange& b) { return a.from < b.from; };
  std::sort(ranges->begin(), ranges->end(), by_from);
  std::vector<UserRange> united;
  for (UserRange& range : *ranges) {
    const bool apart = united.empty() || united.back().to < range.from;
    if (apart && united.size() < kRanges) {
      united.push_back(std::move(range));
    } else {
      united.back().to = std::max(united.back().to, range.to);
    }
  }
  *ranges = std::move(united);
}

// What was noticed at a time was recorded before it, for a time of at most max_future later.
bool Reaches(const DataLoss* losses, const Policy& policy, int64_t oldest_bucket) {
  return losses != nullptr &&
         BucketIndexOf(policy, losses->at_ms + policy.max_future_ms) >= oldest_bucket;
}

}  // namespace

bool DataLoss::MayConcern(std::string_view user) const {
  return users.empty() || std::any_of(users.begin(), users.end(), [&](const UserRange& range) {
           return range.from <= user && user < range.to;
         });
}

void DataLoss::Join(const DataLoss& other) {
  const bool nothing_before = reason.empty() && users.empty();
  if (nothing_before) {
    users = other.users;
  } else if (users.empty() || other.users.empty()) {
    users.clear();  // anybody's
  } else {
    users.insert(users.end(), other.users.begin(), other.users.end());
    Unite(&users);
  }
  at_ms = std::max(at_ms, other.at_ms);
  if (reason.empty()) {
    reason = other.reason;
  } else if (reason.find(other.reason) == std::string::npos && reason.size() < kReasonBytes) {
    reason += "; " + other.reason;
  }
}

std::string DataLoss::ToJson() const {
  Json json{{"at_ms", at_ms}, {"reason", reason}};
  if (!users.empty()) json["users"] = Json::array();
  for (const UserRange& range : users) {
    json["users"].push_back(
        {rocksdb::Slice(range.from).ToString(true), rocksdb::Slice(range.to).ToString(true)});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<DataLoss> DataLoss::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (!json.at("at_ms").is_number_integer()) return {};  // a fraction may not fit
    DataLoss losses{json.at("at_ms").get<int64_t>(), json.at("reason").get<std::string>(), {}};
    for (const Json& range : json.value("users", Json::array())) {
      losses.users.push_back(
          {Unhex(range.at(0).get<std::string>()), Unhex(range.at(1).get<std::string>())});
    }
    return losses;
  } catch (const nlohmann::json::exception&) {
    return {};
  } catch (const std::invalid_argument&) {
    return {};
  }
}

const DataLoss& DataLossSet::Add(std::string_view part, const DataLoss& losses) {
  DataLoss& all = losses_[std::string(part)];
  all.Join(losses);
  return all;
}

void DataLossSet::Forget(std::string_view part) {
  const auto at = losses_.find(part);
  if (at != losses_.end()) losses_.erase(at);
}

const DataLoss* DataLossSet::Find(std::string_view user, std::string_view part) const {
  const auto at = losses_.find(part);
  return at == losses_.end() || !at->second.MayConcern(user) ? nullptr : &at->second;
}

bool DataLossSet::CoversLog(std::string_view user, const Policy& policy,
                            int64_t oldest_bucket) const {
  return Reaches(Find(user, kLog), policy, oldest_bucket);
}

bool DataLossSet::CoversImpressions(std::string_view user, const Policy& policy,
                                    int64_t oldest_bucket) const {
  return Reaches(Find(user, kImpressionsLabel), policy, oldest_bucket);
}

bool DataLossSet::CoversExposures(std::string_view user, const Policy& policy,
                                  int64_t oldest_bucket) const {
  return Reaches(Find(user, kExposuresLabel), policy, oldest_bucket);
}

bool DataLossSet::CoversCounts(std::string_view user, const Policy& policy,
                               int64_t oldest_bucket) const {
  return Reaches(Find(user, kCountsLabel), policy, oldest_bucket);
}

bool DataLossSet::CoversOwn(std::string_view user, const Policy& policy,
                            int64_t oldest_bucket) const {
  return Reaches(Find(user, kOwnLabel), policy, oldest_bucket);
}

bool DataLossSet::CoversFilters(std::string_view user, std::string_view bucket) const {
  return Find(user, bucket) != nullptr;
}

bool DataLossSet::CoversHistory(std::string_view user, std::string_view bucket) const {
  return !empty() && Find(user, std::string(kHistoryLabelPrefix).append(bucket)) != nullptr;
}

}  // namespace seendb
