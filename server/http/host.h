// server/http/host.h: what the authority of a request may be: a name or an address, and a port.

#pragma once

#include <optional>
#include <string_view>

namespace seendb::http {

/// Whether `authority` is a host's name (letters, digits, "-" and "_", parts divided by dots, at
/// most 253 bytes, perhaps with the dot that ends a full name), an IPv4 address or an IPv6 address
/// in brackets, with ":" and a port of 0 to 65535 behind it or without. Also true where it is
/// empty, as clients of a socket of the file system send it. A user's part, percent escapes, zones
/// of addresses and bytes behind a bracket are none of these: another reader of the same header may
/// take them for another host.
///
/// Source: RFC 9110, 7.2 and RFC 3986, 3.2, without what no client of HTTP needs.
bool IsHost(std::string_view authority);

/// The authority of an absolute target ("http://host:port/path"); nothing in another target.
std::optional<std::string_view> AuthorityOf(std::string_view target);

}  // namespace seendb::http
