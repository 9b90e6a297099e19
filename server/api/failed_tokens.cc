#include "api/failed_tokens.h"

#include <algorithm>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::api {

std::string NetworkOf(std::string_view address) {
  std::string name(address);
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET6, name.c_str(), bytes.data()) != 1) return name;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* const v6 = reinterpret_cast<const in6_addr*>(bytes.data());
  if (IN6_IS_ADDR_V4MAPPED(v6)) {
    inet_ntop(AF_INET, bytes.data() + 12, text.data(), text.size());
    return text.data();
  }
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return std::string(text.data()) + "/64";
}

int FailedTokens::Note(std::string_view address, Time now) {
  const bool counts = per_minute_ > 0 && !address.empty() && address != "unix";
  const Address from = counts ? Count(NetworkOf(address), now) : Address();
  if (!counts || from.count <= per_minute_) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  limited_.fetch_add(1, std::memory_order_relaxed);
  uint64_t left_out = 0;
  if (from.count == per_minute_ + 1 && lines_.Take(now, &left_out)) {
    ops::Log(ops::LogLevel::kWarn, "failed_tokens",
             {{"peer", from.name}, {"per_minute", per_minute_}, {"lines_left_out", left_out}});
  }
  const auto wait = std::chrono::ceil<std::chrono::seconds>(from.began + kWindow - now);
  return static_cast<int>(std::max<int64_t>(1, wait.count()));
}

FailedTokens::Address FailedTokens::Count(std::string name, Time now) {
  const MutexLock lock(mutex_);
  while (!addresses_.empty() && now - addresses_.front().began >= kWindow) {
    by_name_.erase(addresses_.front().name);
    addresses_.pop_front();
  }
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    if (addresses_.size() >= kMostAddresses) {
      by_name_.erase(addresses_.front().name);
      addresses_.pop_front();
    }
    addresses_.push_back({name, now, 0});
    found = by_name_.emplace(std::move(name), std::prev(addresses_.end())).first;
  }
  ++found->second->count;
  return *found->second;
}

}  // namespace seendb::api
