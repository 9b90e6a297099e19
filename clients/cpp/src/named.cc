#include "named.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "dns.h"
#include "json.h"

namespace seendb::client::internal {
namespace {

constexpr std::chrono::seconds kRecordFor{30};
constexpr std::chrono::seconds kRecordSoon{1};
constexpr size_t kTargetsMost = 64;
constexpr double kLeastWeight = 0.1;  // a weight of 0 is chosen, but seldom

std::string WithoutEnd(std::string text, char end) {
  if (text.ends_with(end)) text.pop_back();
  return text;
}

}  // namespace

Named::Named(const std::string& url, const Options& options) : url_(url) {
  const size_t colon = std::min(url.find("://"), url.size());
  scheme_ = url.substr(4, colon - 4);
  name_ = colon < url.size() ? WithoutEnd(WithoutEnd(url.substr(colon + 3), '/'), '.') : "";
  if ((scheme_ != "http" && scheme_ != "https") || name_.empty() ||
      name_.find_first_of(":/@?#[] ") != std::string::npos) {
    throw Refuse("/url", url + " is no srv+http://name or srv+https://name");
  }
  const auto server = std::make_shared<NameServer>(options.dns);
  resolver_ = options.resolver;
  address_of_ = [](const std::string& host) { return host; };
  if (resolver_) return;
  resolver_ = [server](const std::string& name) { return server->Records(name); };
  // A certificate has the target's name, which stays.
  if (scheme_ == "http")
    address_of_ = [server](const auto& host) { return server->AddressOf(host); };
}

Named::~Named() {
  if (asking_.joinable()) asking_.join();
}

std::vector<Named::Target> Named::Ranked() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<double, Target>> keyed;
  for (const Target& one : targets_) {
    std::exponential_distribution<double> when(std::max<double>(one.weight, kLeastWeight));
    keyed.emplace_back(when(chance_), one);
  }
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.rank, a.first) < std::pair(b.second.rank, b.first);
  });
  std::vector<Target> ordered;
  ordered.reserve(keyed.size());
  for (auto& [key, one] : keyed) ordered.push_back(std::move(one));
  return ordered;
}

Named::Clock::time_point Named::asked() {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void Named::Refresh(bool soon) {
  const std::lock_guard lock(mutex_);
  const bool is_first = asked_ == Clock::time_point::min();
  if (is_asking_ || (!is_first && Clock::now() - asked_ < (soon ? kRecordSoon : kRecordFor)))
    return;
  if (asking_.joinable()) asking_.join();  // it has ended, but for its last step
  is_asking_ = true;
  try {
    asking_ = std::thread([this] { Ask(); });
  } catch (const std::system_error& error) {
    is_asking_ = false;
    asked_ = Clock::now();
    why_ = error.what();
  }
}

void Named::Wait(Clock::time_point end) {
  std::unique_lock lock(mutex_);
  answered_.wait_until(lock, end, [this] { return !is_asking_; });
}

std::string Named::Why() {
  const std::lock_guard lock(mutex_);
  return url_ + ": " + why_;
}

std::vector<std::string> Named::TakeGone() {
  const std::lock_guard lock(mutex_);
  return std::exchange(gone_, {});
}

/// Keeps the former answer where none comes.
void Named::Ask() {
  std::vector<Target> told;
  std::string failure;
  try {
    told = Read(resolver_(name_));
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure.empty()) failure = "the resolver failed";
  } catch (...) {
    failure = "the resolver failed";
  }
  const std::lock_guard lock(mutex_);
  why_ = failure.empty() ? "the service is not there" : failure;
  if (failure.empty()) {
    std::set<std::string> now;
    for (const Target& one : told) now.insert(one.url);
    for (Target& one : targets_) {
      if (!now.contains(one.url)) gone_.push_back(std::move(one.url));
    }
    targets_ = std::move(told);
  }
  asked_ = Clock::now();
  is_asking_ = false;
  answered_.notify_all();
}

std::vector<Named::Target> Named::Read(std::vector<SrvRecord> records) const {
  if (records.empty()) throw std::runtime_error("there is no such record");
  std::stable_sort(records.begin(), records.end(),
                   [](const SrvRecord& a, const SrvRecord& b) { return a.priority < b.priority; });
  std::vector<Target> told;
  std::set<std::string> met;
  std::map<std::string, std::string> hosts;
  size_t rank = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const SrvRecord& one = records[i];
    const std::string host = WithoutEnd(one.target, '.');
    if (host.empty() && records.size() == 1) return {};  // the owner of the name says so
    if (host.empty() || one.port == 0 || host.find_first_of("/@?#[] ") != std::string::npos) {
      throw std::runtime_error("a record without a target: \"" + one.target + "\", port " +
                               std::to_string(one.port));
    }
    if (i > 0 && one.priority != records[i - 1].priority) ++rank;
    const std::string port = ":" + std::to_string(one.port);
    if (told.size() == kTargetsMost || !met.insert(host + port).second) continue;
    std::string& address = hosts[host];
    if (address.empty()) address = address_of_(host);
    const bool is_v6 = address.find(':') != std::string::npos;
    told.push_back({.url = scheme_ + "://" + (is_v6 ? "[" + address + "]" : address) + port,
                    .rank = rank,
                    .weight = one.weight});
  }
  return told;
}

}  // namespace seendb::client::internal
