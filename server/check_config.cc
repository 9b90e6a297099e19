#include "check_config.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <sys/stat.h>
#include <unistd.h>

#include "admission/tenants.h"
#include "files/tokens.h"
#include "http/listener.h"
#include "http/tls.h"
#include "ingest/kafka.h"
#include "membership/node.h"
#include "ops/audit_file.h"
#include "ops/checkpoints.h"
#include "ops/exit_codes.h"
#include "ops/exposure.h"
#include "ops/secret_files.h"

namespace seendb {
namespace {

Status CheckCertificate(const ops::Config& config) {
  if (!config.tls) return {};
  const auto loaded = http::LoadTls(*config.tls);
  if (const auto* const failure = std::get_if<http::TlsFailure>(&loaded)) {
    return Status::InvalidArgument(failure->message, "/tls/" + failure->key);
  }
  const std::string& not_valid = std::get<http::Tls>(loaded).not_valid;
  if (not_valid.empty()) return {};
  return Status::InvalidArgument(config.tls->certificate + " " + not_valid, "/tls/certificate");
}

/// Two listeners can't have one address.
Status CheckListeners(const ops::Config& config) {
  if (config.admin_listen.empty()) return {};
  const auto callers = http::ParseHostPort(config.listen);
  const auto admin = http::ParseHostPort(config.admin_listen);
  if (!callers || !admin || callers->second != admin->second || admin->second == 0) return {};
  const auto any = [](const std::string& host) { return host == "0.0.0.0" || host == "::"; };
  const bool same = callers->first == admin->first || any(callers->first) || any(admin->first);
  if (!same) return {};
  return Status::InvalidArgument(config.admin_listen + " is taken by listen, " + config.listen,
                                 "/admin_listen");
}

Status CheckTokens(const ops::Config& config) {
  if (config.tokens_file.empty()) return {};
  admission::Tenants tenants;
  const Status read = files::LoadTokens(config.tokens_file, &tenants).status();
  return read.ok() ? read : Status(read.code(), std::string(read.message()), "/tokens_file");
}

Status CheckAudit(const ops::Config& config) {
  if (!config.audit) return {};
  const Status file = ops::CheckAuditFile(config.audit->file);
  return file.ok() ? file : Status(file.code(), std::string(file.message()), "/audit/file");
}

/// A folder that the server uses, or makes: of one that is not there, what it would be made in.
Status CheckFolder(const std::string& path, const char* field) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(at, error) && at.has_relative_path()) at = at.parent_path();
  if (!std::filesystem::is_directory(at, error)) {
    return Status::InvalidArgument(at.string() + " is no folder", field);
  }
  if (access(at.c_str(), R_OK | W_OK | X_OK) == 0) return {};
  return Status::InvalidArgument("this user may not write to " + at.string(), field);
}

/// A file that the server reads. librdkafka takes a folder of authorities, too.
Status CheckReadable(const std::string& path, const std::string& field) {
  const bool any = field.ends_with("/ssl.ca.location");
  if (any && path == "probe") return {};
  std::error_code error;
  if (!any && std::filesystem::is_directory(path, error)) {
    return Status::InvalidArgument(path + " is a folder", field);
  }
  if (access(path.c_str(), R_OK) == 0) return {};
  return Status::InvalidArgument("can't read " + path + ": " + std::strerror(errno), field);
}

/// A file or socket that the server makes where it is not there.
Status CheckMade(const std::string& path, bool is_socket, const std::string& field) {
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0) {
    std::error_code error;
    const std::string folder = std::filesystem::absolute(path, error).parent_path();
    if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
    return Status::InvalidArgument("can't make a file in " + folder + ": " + std::strerror(errno),
                                   field);
  }
  if (is_socket) {
    if (S_ISSOCK(there.st_mode)) return {};
    return Status::InvalidArgument(path + " is there, and is no socket", field);
  }
  if (S_ISDIR(there.st_mode) || S_ISLNK(there.st_mode)) {
    return Status::InvalidArgument(path + " is no file", field);
  }
  if (access(path.c_str(), W_OK) == 0) return {};
  return Status::InvalidArgument("this user may not write to " + path, field);
}

/// Every file that the settings name.
Status CheckFiles(const ops::Config& config) {
  for (const auto& [field, path] : ops::NamedFiles(config)) {
    if (path.empty()) continue;
    const bool is_made = field == "/kafka/dead_letter_file";
    const Status status = is_made ? CheckMade(path, false, field) : CheckReadable(path, field);
    if (!status.ok()) return status;
  }
  if (config.unix_listen.empty()) return {};
  return CheckMade(config.unix_listen, true, "/unix_listen");
}

Status FirstFault(const ops::Config& config) {
  Status status;
  if (config.kafka) status = ingest::ConsumerConf(*config.kafka).status();
  if (status.ok() && config.cluster) status = membership::CheckSettings(*config.cluster);
  if (status.ok()) status = ops::CheckSecretFiles(config);
  if (status.ok()) status = CheckListeners(config);
  if (status.ok()) status = CheckCertificate(config);
  if (status.ok()) status = CheckTokens(config);
  if (status.ok()) status = CheckAudit(config);
  if (status.ok()) status = CheckFiles(config);
  if (status.ok() && config.cluster) status = membership::CheckFiles(*config.cluster);
  if (status.ok()) status = CheckFolder(config.db, "/db");
  if (status.ok() && !config.checkpoints.empty()) {
    status = ops::CheckCheckpoints(config.checkpoints, config.db);
    if (status.ok()) status = CheckFolder(config.checkpoints, "/checkpoints");
  }
  return status;
}

}  // namespace

int CheckConfig(const ops::Config& config) {
  for (const std::string& unknown : config.given.unknown) {
    std::fprintf(stderr, "seendb-server: %s\n", unknown.c_str());
  }
  if (const Status fault = FirstFault(config); !fault.ok()) {
    std::fprintf(stderr, "seendb-server: %s\n", fault.ToString().c_str());
    return ops::kExitUsage;
  }
  std::puts("the settings are in order");
  return ops::kExitOk;
}

}  // namespace seendb
