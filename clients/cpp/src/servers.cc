#include "servers.h"

#include <algorithm>

#include "base/outside_json.h"
#include "json.h"

namespace seendb::client::internal {
namespace {

constexpr std::chrono::seconds kPlacementFor{30};  // a map is asked for again after so long
constexpr std::chrono::seconds kSoon{1};  // and no sooner; an unreachable server comes last so long
constexpr uint64_t kPartitionsMost = 1u << 20;  // more is no map
constexpr std::string_view kDefaultPort = ":7373";

bool Contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Throws Json::exception where a member is missing or of another type.
std::optional<Placement> PlacementFrom(const Json& told) {
  const auto count = WholeNumber(told.at("partitions"), kPartitionsMost);
  if (!count || *count == 0) return {};
  std::map<std::string, std::string> urls;  // by node
  std::map<std::string, bool> is_down;      // by URL
  for (const Json& node : told.at("nodes")) {
    const auto url = node.at("url").get<std::string>();
    try {
      ParseUrl(url);
    } catch (const Error&) {
      continue;
    }
    urls[node.at("node").get<std::string>()] = url;
    is_down[url] = node.value("state", "up") != "up";
  }
  Placement placement(*count);
  for (const Json& shard : told.at("shards")) {
    const auto partition = WholeNumber(shard.at("partition"), *count - 1);
    if (!partition) return {};
    std::vector<std::string>& own = placement[*partition];
    own.clear();
    for (const Json& replica : shard.at("replicas")) {
      const auto url = urls.find(replica.at("node").get<std::string>());
      if (url != urls.end()) own.push_back(url->second);
    }
    std::stable_partition(own.begin(), own.end(),
                          [&](const std::string& url) { return !is_down[url]; });
  }
  return placement;
}

}  // namespace

uint32_t Murmur2(std::string_view data) {
  constexpr uint32_t kMix = 0x5bd1e995;
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(data[i])}; };
  uint32_t value = 0x9747b28cU ^ static_cast<uint32_t>(data.size());
  for (; data.size() >= 4; data.remove_prefix(4)) {
    uint32_t word = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
    word *= kMix;
    word ^= word >> 24;
    value = value * kMix ^ word * kMix;
  }
  if (data.size() > 2) value ^= byte(2) << 16;
  if (data.size() > 1) value ^= byte(1) << 8;
  if (!data.empty()) value = (value ^ byte(0)) * kMix;
  value = (value ^ value >> 13) * kMix;
  return value ^ value >> 15;
}

net::StreamTarget ParseUrl(const std::string& url) {
  if (url.starts_with("unix:/")) {
    return {.host = "localhost", .port = "80", .unix_path = url.substr(5)};
  }
  std::string whole = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  const size_t host = std::min(whole.find("://"), whole.size());
  const size_t colon = whole.rfind(':'), bracket = whole.rfind(']');
  const bool has_port = colon != std::string::npos && colon > host &&
                        (bracket == std::string::npos || colon > bracket);
  if (!has_port) whole += kDefaultPort;
  Result<net::StreamTarget> target = net::TargetOf(whole);
  if (!target.ok() || target->host.find_first_of("/@?# ") != std::string::npos) {
    throw Refuse("/url", url + " is no http://host:port, https://host:port or unix:/path");
  }
  return std::move(target).value();
}

std::optional<Placement> ReadPlacement(std::string_view body) {
  const Json told = ParseOutside(body);
  try {
    return told.is_object() ? PlacementFrom(told) : std::nullopt;
  } catch (const Json::exception&) {
    return {};
  }
}

Servers::Servers(std::vector<std::string> urls, const Options& options) : urls_(std::move(urls)) {
  for (const std::string& url : urls_) {
    if (Named::IsName(url)) {
      names_[url] = std::make_unique<Named>(url, options);
    } else {
      ParseUrl(url);
    }
  }
}

bool Servers::IsAway(const std::string& url) const {
  const auto found = away_.find(url);
  return found != away_.end() && Clock::now() < found->second;
}

Servers::Route Servers::Find(const std::optional<std::string>& user) {
  const std::lock_guard lock(mutex_);
  Route route{.urls = {}, .direct = false};
  if (user && !placement_.empty()) {
    const auto& own = placement_[(Murmur2(*user) & 0x7fffffffU) % placement_.size()];
    if (!own.empty() && !IsAway(own.front())) route = {.urls = own, .direct = true};
  }
  std::vector<Named::Target> others;
  for (size_t i = 0; i < urls_.size(); ++i) {
    const std::string& url = urls_[(turn_ + i) % urls_.size()];
    const auto name = names_.find(url);
    if (name == names_.end()) {
      others.push_back({.url = url});
    } else {
      for (Named::Target& one : name->second->Ranked()) others.push_back(std::move(one));
    }
  }
  turn_ = (turn_ + 1) % urls_.size();
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  std::stable_partition(others.begin(), others.end(),
                        [this](const Named::Target& one) { return !IsAway(one.url); });
  for (Named::Target& one : others) {
    if (!Contains(route.urls, one.url)) route.urls.push_back(std::move(one.url));
  }
  return route;
}

std::vector<std::string> Servers::LookUp(Clock::time_point end) {
  std::vector<std::string> gone;
  for (const auto& [url, name] : names_) {
    const auto targets = name->Ranked();
    const auto asked = name->asked();
    const auto has_failed = [&](const Named::Target& one) {
      const std::lock_guard lock(mutex_);
      const auto found = away_.find(one.url);
      return found != away_.end() && found->second > asked;
    };
    const bool none = std::all_of(targets.begin(), targets.end(), has_failed);
    name->Refresh(none);
    if (none) name->Wait(end);
    for (std::string& one : name->TakeGone()) gone.push_back(std::move(one));
  }
  const std::lock_guard lock(mutex_);
  for (const std::string& one : gone) away_.erase(one);
  return gone;
}

Error Servers::Nobody() {
  std::string why;
  for (const auto& [url, name] : names_) why += (why.empty() ? "" : "; ") + name->Why();
  return {"unavailable", why};
}

void Servers::MarkAway(const std::string& url) {
  const std::lock_guard lock(mutex_);
  away_[url] = Clock::now() + kSoon;
}

bool Servers::TakeLearning() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now < placed_until_) return false;
  placed_until_ = now + kPlacementFor;
  return true;
}

void Servers::Learn(Placement placement) {
  const std::lock_guard lock(mutex_);
  placement_ = std::move(placement);
}

void Servers::LearnSoon() {
  const std::lock_guard lock(mutex_);
  placed_until_ = std::min(placed_until_, Clock::now() + kSoon);
}

}  // namespace seendb::client::internal
