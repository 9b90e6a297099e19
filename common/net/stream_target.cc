#include "net/stream_target.h"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace seendb::net {

std::string StreamTarget::Authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + port;
}

Result<StreamTarget> TargetOf(const std::string& url) {
  const auto refused = [] {
    return Status::InvalidArgument("must be http://host:port or https://host:port", "/url");
  };
  std::string_view rest = url;
  StreamTarget target;
  target.secure = rest.starts_with("https://");
  if (!target.secure && !rest.starts_with("http://")) return refused();
  rest.remove_prefix(target.secure ? 8 : 7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refused();
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  target.host = host;
  target.port = rest.substr(colon + 1);
  uint16_t port = 0;
  const char* const end = target.port.data() + target.port.size();
  const auto read = std::from_chars(target.port.data(), end, port);
  if (host.empty() || read.ec != std::errc() || read.ptr != end || port == 0) return refused();
  return target;
}

}  // namespace seendb::net
