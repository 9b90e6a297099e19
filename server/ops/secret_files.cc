#include "ops/secret_files.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "base/json_pointer.h"
#include "ops/config.h"

namespace seendb::ops {
namespace {

/// Parts of the names of librdkafka's properties that are passwords, keys or secrets, with a value
/// that is not the path of a file.
constexpr std::array<std::string_view, 5> kSecretParts = {"password", "secret", "key.pem",
                                                          "sasl.jaas", "sasl.oauthbearer.config"};

bool IsSecretProperty(std::string_view name) {
  for (const std::string_view part : kSecretParts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::string SecretOf(const std::map<std::string, std::string>& properties, const char* section) {
  for (const auto& [name, value] : properties) {
    if (IsSecretProperty(name)) return section + std::string("/properties") + PointerTo(name);
  }
  return {};
}

}  // namespace

Status CheckWriters(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    return Status::IOError("can't read " + path + ": " + std::strerror(errno));
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Status::InvalidArgument(path + " can be written by others; do: chmod go-w " + path);
}

Status CheckWriters(const std::string& path, const std::string& field) {
  const Status writers = CheckWriters(path);
  if (writers.code() != StatusCode::kInvalidArgument) return {};
  return Status::InvalidArgument(std::string(writers.message()), field);
}

std::string ReadableByEverybody(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0 || (about.st_mode & S_IROTH) == 0) return {};
  return path + " can be read by everybody; do: chmod o-r " + path;
}

std::string WrittenSecret(const Config& config) {
  if (config.engine.item_hash_key) return "/engine/item_hash_key";
  std::string found;  // the cluster's first: "kafka" may have its properties from there
  if (config.cluster) found = SecretOf(config.cluster->properties, "/cluster");
  if (found.empty() && config.kafka) found = SecretOf(config.kafka->properties, "/kafka");
  if (!found.empty()) return found;
  for (const MigrationConfig& one : config.migration) {
    const bool has_login = one.redis.find('@') != std::string::npos;
    if (has_login) return "/migration" + PointerTo(one.collection) + "/redis";
  }
  if (!config.access_log.user_key.empty()) return "/access_log/user_key";
  return {};
}

Status CheckSecretFiles(const Config& config) {
  std::vector<std::pair<std::string, std::string>> files = {{"/tokens_file", config.tokens_file}};
  if (config.tls) files.emplace_back("/tls/key", config.tls->key);
  if (config.cluster) files.emplace_back("/cluster/secret_file", config.cluster->secret_file);
  for (const MigrationConfig& one : config.migration) {
    files.emplace_back("/migration" + PointerTo(one.collection) + "/redis_password_file",
                       one.password_file);
  }
  for (const auto& [field, path] : files) {
    if (path.empty()) continue;
    if (Status writers = CheckWriters(path, field); !writers.ok()) return writers;
  }
  return {};
}

}  // namespace seendb::ops
