#include "ops/exposure.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "base/json_pointer.h"
#include "http/listener.h"
#include "ops/secret_files.h"
#include "redis/address.h"

namespace seendb::ops {
namespace {

bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost") return true;
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address(host, no_address);
  return !no_address && address.is_loopback();
}

/// Whether only processes of this machine reach it.
bool IsLoopback(const std::string& listen) {
  const auto parts = http::ParseHostPort(listen);
  return !parts || IsLoopbackHost(parts->first);
}

/// The host of "HOST", "HOST:PORT", "V6" or "[V6]:PORT", with or without "PROTOCOL://" before it.
std::string HostOfBroker(std::string_view broker) {
  broker.remove_prefix(std::min(broker.find_first_not_of(" \t"), broker.size()));
  broker = broker.substr(0, broker.find_last_not_of(" \t") + 1);
  if (const size_t scheme = broker.find("://"); scheme != broker.npos) {
    broker.remove_prefix(scheme + 3);
  }
  if (broker.starts_with('[')) return std::string(broker.substr(1, broker.find(']') - 1));
  if (std::count(broker.begin(), broker.end(), ':') > 1) return std::string(broker);  // V6 alone
  return std::string(broker.substr(0, broker.find(':')));
}

/// The first of "h1:9092,h2:9092" that is not of this machine; empty: all are.
std::string BrokerBeyond(std::string_view brokers) {
  while (!brokers.empty()) {
    const size_t comma = std::min(brokers.find(','), brokers.size());
    const std::string host = HostOfBroker(brokers.substr(0, comma));
    if (!host.empty() && !IsLoopbackHost(host)) return host;
    brokers.remove_prefix(std::min(comma + 1, brokers.size()));
  }
  return {};
}

bool EqualWords(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// Of "kafka" or "cluster". librdkafka takes its words in any case.
Status CheckBrokers(const std::string& section, const std::string& brokers,
                    const std::map<std::string, std::string>& properties) {
  const std::string beyond = BrokerBeyond(brokers);
  if (beyond.empty()) return {};
  const auto refused = [&](const char* property, const std::string& why) {
    return Status::InvalidArgument(why, section + "/properties/" + property);
  };
  const auto value = [&](const char* property) {
    const auto found = properties.find(property);
    return found == properties.end() ? std::string_view() : std::string_view(found->second);
  };
  const std::string_view protocol = value("security.protocol");
  if (!EqualWords(protocol, "ssl") && !EqualWords(protocol, "sasl_ssl")) {
    return refused("security.protocol", "must be ssl or sasl_ssl: " + beyond +
                                            " is beyond this machine, and who is on the way reads "
                                            "and changes what is sent in clear");
  }
  const std::string_view verified = value("enable.ssl.certificate.verification");
  if (!verified.empty() && !EqualWords(verified, "true") && !EqualWords(verified, "t") &&
      verified != "1") {
    return refused("enable.ssl.certificate.verification",
                   "must be true: anybody may answer for " + beyond);
  }
  if (EqualWords(value("ssl.endpoint.identification.algorithm"), "none")) {
    return refused("ssl.endpoint.identification.algorithm",
                   "must be https: who has any certificate may answer for " + beyond);
  }
  return {};
}

Status CheckOldStore(const MigrationConfig& migration) {
  const auto address = redis::ParseAddress(migration.redis, "the URL");
  if (!address.ok()) return address.status();
  const net::StreamTarget& target = address->target;
  if (target.secure || !target.unix_path.empty() || IsLoopbackHost(target.host)) return {};
  return Status::InvalidArgument(
      "must be rediss: " + target.host +
          " is beyond this machine, and who is on the way reads and changes what is sent in clear",
      "/migration" + PointerTo(migration.collection) + "/redis");
}

/// A group may be there for those who look after the server; the world is not.
Status CheckFolderWriters(const std::string& path, const std::string& field) {
  std::error_code absent;
  const auto permissions = std::filesystem::status(path, absent).permissions();
  const bool open =
      !absent && permissions != std::filesystem::perms::unknown &&
      (permissions & std::filesystem::perms::others_write) != std::filesystem::perms::none;
  if (!open) return {};
  return Status::InvalidArgument(path + " can be written by everybody; do: chmod o-w " + path,
                                 field);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> NamedFiles(const Config& config) {
  std::vector<std::pair<std::string, std::string>> files = {{"/tokens_file", config.tokens_file}};
  if (config.tls) {
    files.insert(files.end(), {{"/tls/certificate", config.tls->certificate},
                               {"/tls/key", config.tls->key},
                               {"/tls/client_ca", config.tls->client_ca}});
  }
  const auto add_properties = [&](const std::string& section, const auto& properties) {
    for (const auto& [name, value] : properties) {
      if (name.ends_with(".location")) files.emplace_back(section + "/properties/" + name, value);
    }
  };
  if (config.cluster) {
    files.emplace_back("/cluster/secret_file", config.cluster->secret_file);
    files.emplace_back("/cluster/ca", config.cluster->ca);
    add_properties("/cluster", config.cluster->properties);
  }
  if (config.consul) {
    files.emplace_back("/consul/token_file", config.consul->token_file);
    files.emplace_back("/consul/ca", config.consul->ca);
  }
  if (config.kafka) {
    files.emplace_back("/kafka/dead_letter_file", config.kafka->dead_letter_file);
    add_properties("/kafka", config.kafka->properties);
  }
  for (const MigrationConfig& one : config.migration) {
    const std::string at = "/migration" + PointerTo(one.collection);
    files.emplace_back(at + "/redis_password_file", one.password_file);
    files.emplace_back(at + "/redis_ca", one.ca);
  }
  return files;
}

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

Status CheckSecure(const Config& config) {
  if (const std::string exposed = ExposureOf(config); !exposed.empty()) {
    return Status::InvalidArgument(exposed);
  }
  Status status;
  if (config.cluster) {
    status = CheckBrokers("/cluster", config.cluster->brokers, config.cluster->properties);
  }
  if (status.ok() && config.kafka) {
    status = CheckBrokers("/kafka", config.kafka->brokers, config.kafka->properties);
  }
  for (const MigrationConfig& one : config.migration) {
    if (status.ok()) status = CheckOldStore(one);
  }
  if (status.ok() && !config.given.file.empty()) status = CheckWriters(config.given.file, "");
  for (const auto& [field, path] : NamedFiles(config)) {
    if (status.ok() && !path.empty()) status = CheckWriters(path, field);
  }
  if (status.ok()) status = CheckFolderWriters(config.db, "/db");
  if (status.ok() && !config.checkpoints.empty()) {
    status = CheckFolderWriters(config.checkpoints, "/checkpoints");
  }
  return status;
}

}  // namespace seendb::ops
