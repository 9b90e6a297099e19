#include "check_config.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

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

/// The database's folder, or what it is to be made in, as far as that is there.
Status CheckFolder(const std::string& db) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(db, error);
  while (!std::filesystem::exists(at, error) && at.has_relative_path()) at = at.parent_path();
  if (!std::filesystem::is_directory(at, error)) {
    return Status::InvalidArgument(at.string() + " is no folder", "/db");
  }
  if (access(db.c_str(), F_OK) != 0 || access(db.c_str(), R_OK | W_OK | X_OK) == 0) return {};
  return Status::InvalidArgument("this user may not write to " + db, "/db");
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
  if (status.ok()) status = CheckFolder(config.db);
  if (status.ok() && !config.checkpoints.empty()) {
    status = ops::CheckCheckpoints(config.checkpoints, config.db);
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
