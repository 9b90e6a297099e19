#include "server_address.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/whole_file.h"

namespace seendb::tool {

std::string ServerAddress::Authority() const {
  if (!unix_path.empty()) return "localhost";
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + port;
}

std::string ServerAddress::ToUrl() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  return (secure ? "https://" : "http://") + Authority();
}

Result<ServerAddress> ParseServerUrl(std::string_view url, std::string_view named_by) {
  const std::string whole(url);
  const auto bad = [&](const char* why) {
    return Status::InvalidArgument(std::string(named_by) + " " + whole + ": " + why);
  };
  ServerAddress address;
  if (url.starts_with("unix:")) {
    address.unix_path = url.substr(5);
    if (address.unix_path.empty()) return bad("the path is missing; write unix:PATH");
    return address;
  }
  address.secure = url.starts_with("https://");
  if (!address.secure && !url.starts_with("http://")) {
    return bad("write http://HOST:PORT, https://HOST:PORT or unix:PATH");
  }
  url.remove_prefix(address.secure ? 8 : 7);
  const size_t slash = url.find('/');
  if (slash != std::string_view::npos) {
    address.prefix = url.substr(slash);
    while (address.prefix.ends_with('/')) address.prefix.pop_back();
    url = url.substr(0, slash);
  }
  size_t colon = url.rfind(':');
  if (url.starts_with('[')) {
    const size_t close = url.find(']');
    if (close == std::string_view::npos) return bad("a bracket is open");
    address.host = url.substr(1, close - 1);
    colon = close + 1 < url.size() ? close + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && url[colon] != ':') return bad("write [HOST]:PORT");
  } else {
    address.host = url.substr(0, colon);
  }
  if (address.host.empty()) return bad("the host is missing");
  if (colon != std::string_view::npos) address.port = url.substr(colon + 1);
  unsigned port = 0;
  const auto* end = address.port.data() + address.port.size();
  const auto parsed = std::from_chars(address.port.data(), end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end || port < 1 || port > 65'535) {
    return bad("the port is a number from 1 to 65535");
  }
  return address;
}

Result<std::string> ReadTokenFile(const std::string& path) {
  Result<std::string> first = ReadFirstLine(path);
  if (first.status().code() == StatusCode::kNotFound) {
    return Status::IOError(std::string(first.status().message()));
  }
  if (!first.ok()) return first.status();
  std::string line = std::move(first).value();
  while (!line.empty() && line.back() == ' ') line.pop_back();
  const bool printable =
      std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c < 127; });
  if (line.empty() || !printable) {
    return Status::InvalidArgument("the first line of " + path + " is no token");
  }
  return line;
}

}  // namespace seendb::tool
