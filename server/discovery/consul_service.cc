#include "discovery/consul_service.h"

#include <nlohmann/json.hpp>

#include "http/listener.h"

namespace seendb::discovery {
namespace {

using Json = nlohmann::ordered_json;

/// How long the agent waits for the answer to its check.
constexpr const char* kCheckTimeout = "2s";

bool IsAnyAddress(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

std::string Bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string Seconds(uint32_t seconds) { return std::to_string(seconds) + "s"; }

/// Where the agent of this machine reaches the server.
std::string CheckAddress(const std::string& host, uint16_t port) {
  const std::string reached = host == "::" ? "::1" : host == "0.0.0.0" ? "127.0.0.1" : host;
  return Bracketed(reached) + ":" + std::to_string(port);
}

Json CheckOf(const ops::ConsulConfig& config, const std::string& address, const std::string& name,
             bool secure) {
  Json check = {{"Name", "SeenDB is ready"},
                {"Interval", Seconds(config.check_interval_s)},
                {"Timeout", kCheckTimeout},
                {"DeregisterCriticalServiceAfter", Seconds(config.forget_after_s)}};
  if (config.check_connects) {
    check["TCP"] = address;
    return check;
  }
  check["HTTP"] = (secure ? "https://" : "http://") + address + "/readyz";
  if (secure) check["TLSServerName"] = name;  // the certificate has the name that clients use
  return check;
}

}  // namespace

Result<ConsulService> MakeConsulService(const ops::ConsulConfig& config, const Listening& listening,
                                        const std::string& host, const std::string& version) {
  const auto bound = http::ParseHostPort(listening.address);
  const auto told = config.advertise.empty() ? bound : http::ParseHostPort(config.advertise);
  if (!bound || !told) {
    return Status::InvalidArgument("is no host:port: " + listening.address, "/listen");
  }
  ConsulService service;
  service.id = config.id.empty() ? config.service + "-" + host + "-" + std::to_string(told->second)
                                 : config.id;
  const std::string checked =
      config.check.empty() ? CheckAddress(bound->first, bound->second) : config.check;
  Json body = {{"ID", service.id}, {"Name", config.service}, {"Port", told->second}};
  if (!IsAnyAddress(told->first)) body["Address"] = told->first;
  if (!config.tags.empty()) body["Tags"] = config.tags;
  body["Meta"] = {{"version", version}, {"scheme", listening.secure ? "https" : "http"}};
  body["Check"] = CheckOf(config, checked, told->first, listening.secure);
  service.json = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return service;
}

}  // namespace seendb::discovery
