#include "ops/exposure.h"

#include <boost/asio/ip/address.hpp>

#include "http/listener.h"

namespace seendb::ops {
namespace {

/// Whether only processes of this machine reach it.
bool IsLoopback(const std::string& listen) {
  const auto parts = http::ParseHostPort(listen);
  if (!parts || parts->first == "localhost") return true;
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address(parts->first, no_address);
  return !no_address && address.is_loopback();
}

}  // namespace

std::string ExposureOf(const Config& config) {
  const bool certified = config.tls && !config.tls->client_ca.empty();
  const bool asks = !config.tokens_file.empty() || certified;
  if (asks && config.tls) return {};
  for (const std::string& listen : {config.listen, config.admin_listen}) {
    if (listen.empty() || IsLoopback(listen)) continue;
    if (asks) {
      return "tokens travel to " + listen +
             " in clear: without tls whoever is on the way reads them";
    }
    return "whoever reaches " + listen +
           " may do everything: neither tokens_file nor tls.client_ca is set";
  }
  return {};
}

}  // namespace seendb::ops
