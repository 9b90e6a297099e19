#include "http/host.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include <arpa/inet.h>

namespace seendb::http {
namespace {

constexpr size_t kNameBytes = 253;

bool IsNamePart(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

/// IPv4 addresses are of this form too.
bool IsHostName(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.size() > kNameBytes) return false;
  while (true) {
    const size_t dot = name.find('.');
    if (!IsNamePart(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool IsPort(std::string_view digits) {
  uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  return error == std::errc() && stop == end;
}

bool IsIpv6(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;  // inet_pton would stop there
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET6, std::string(text).c_str(), address.data()) == 1;
}

}  // namespace

bool IsHost(std::string_view authority) {
  if (authority.empty()) return true;
  std::string_view behind;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos || !IsIpv6(authority.substr(1, end - 1))) return false;
    behind = authority.substr(end + 1);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    if (!IsHostName(authority.substr(0, colon))) return false;
    behind = authority.substr(colon);
  }
  return behind.empty() || (behind.front() == ':' && IsPort(behind.substr(1)));
}

std::optional<std::string_view> AuthorityOf(std::string_view target) {
  const size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return {};
  target.remove_prefix(scheme + 3);
  return target.substr(0, target.find_first_of("/?"));
}

}  // namespace seendb::http
