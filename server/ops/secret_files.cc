#include "ops/secret_files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/json_pointer.h"
#include "ops/config.h"

namespace seendb::ops {
namespace {

constexpr char kHidden[] = "(not shown)";

/// Parts of the names of keys, and of librdkafka's properties, that are passwords, keys or secrets.
constexpr std::array<std::string_view, 7> kSecretParts = {
    "password",      "secret",  "key.pem", "sasl.jaas", "sasl.oauthbearer.config",
    "item_hash_key", "user_key"};

/// Whether the value of a member of that name is a secret; not, if it is the path of a file.
bool IsSecretName(std::string_view name) {
  if (name.ends_with("_file") || name.ends_with(".location")) return false;
  return std::any_of(kSecretParts.begin(), kSecretParts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

/// A URL without who logs in.
std::string WithoutLogin(const std::string& text) {
  const size_t scheme = text.find("://"), login = text.rfind('@');
  if (scheme == text.npos || login == text.npos || login < scheme) return text;
  return text.substr(0, scheme + 3) + kHidden + text.substr(login);
}

/// Calls `take` with each text or other simple value in `value`, the name of its member and its
/// pointer, until it returns false.
template <typename Value, typename Take>
bool ForEachValue(Value& value, const std::string& name, const std::string& at, const Take& take) {
  if (value.is_object()) {
    for (auto one = value.begin(); one != value.end(); ++one) {
      if (!ForEachValue(one.value(), one.key(), at + PointerTo(one.key()), take)) return false;
    }
    return true;
  }
  if (!value.is_array()) return take(value, name, at);
  for (size_t i = 0; i < value.size(); ++i) {
    if (!ForEachValue(value[i], name, at + "/" + std::to_string(i), take)) return false;
  }
  return true;
}

}  // namespace

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

std::string WrittenSecret(const nlohmann::json& settings) {
  const auto has_login = [](const std::string& text) { return WithoutLogin(text) != text; };
  std::string found;
  ForEachValue(settings, "", "", [&](const auto& value, const std::string& name, const auto& at) {
    const bool login = value.is_string() && has_login(value.template get<std::string>());
    if (IsSecretName(name) || login) found = at;
    return found.empty();
  });
  return found;
}

nlohmann::json WithoutSecrets(const nlohmann::json& settings) {
  nlohmann::json shown = settings;
  ForEachValue(shown, "", "", [](auto& value, const std::string& name, const auto&) {
    if (IsSecretName(name)) {
      value = kHidden;
    } else if (value.is_string()) {
      value = WithoutLogin(value.template get<std::string>());
    }
    return true;
  });
  return shown;
}

Status CheckShown(const nlohmann::json& settings) {
  std::string hidden;
  ForEachValue(settings, "", "", [&](const auto& value, const auto&, const std::string& at) {
    const bool is_hidden =
        value.is_string() && value.template get<std::string>().find(kHidden) != std::string::npos;
    if (is_hidden) hidden = at;
    return !is_hidden;
  });
  if (hidden.empty()) return {};
  return Status::InvalidArgument("is what --print-config shows of a secret: say what it is",
                                 hidden);
}

Status CheckSecretFiles(const Config& config) {
  std::vector<std::pair<std::string, std::string>> files = {{"/tokens_file", config.tokens_file}};
  if (config.tls) files.emplace_back("/tls/key", config.tls->key);
  if (config.cluster) files.emplace_back("/cluster/secret_file", config.cluster->secret_file);
  if (config.consul) files.emplace_back("/consul/token_file", config.consul->token_file);
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
