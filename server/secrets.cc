#include "secrets.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <sys/stat.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "files/tokens.h"
#include "http/tls.h"
#include "ops/log.h"

namespace seendb {
namespace {

using ops::Log;
using ops::LogLevel;

int64_t NowMs(const api::Context& context) {
  return context.clock == nullptr ? SystemClock()->NowMs() : context.clock->NowMs();
}

}  // namespace

bool Secrets::Load() {
  Renew(/*all=*/false);  // only notes the files
  const bool loaded = LoadCertificate() && LoadTokens();
  WarnOfExpiry();
  return loaded;
}

void Secrets::Renew(bool all) {
  bool certificate = all, tokens = all, node = all, node_secrets = all;
  if (config_.tls) {
    for (const std::string* const path :
         {&config_.tls->certificate, &config_.tls->key, &config_.tls->client_ca}) {
      certificate = Changed(*path) || certificate;
    }
  }
  tokens = Changed(config_.tokens_file) || tokens;
  if (config_.cluster) {
    node = Changed(config_.cluster->ca) || certificate || node;
    node_secrets = Changed(config_.cluster->secret_file) || node_secrets;
  }
  if (certificate) LoadCertificate();
  if (node) RenewNodeTls();
  if (node_secrets) RenewNodeSecrets();
  if (tokens) LoadTokens();
  WarnOfExpiry();
}

std::optional<int64_t> Secrets::expires_s() const {
  if (!config_.tls) return {};
  return expires_s_.load(std::memory_order_relaxed);
}

bool Secrets::LoadCertificate() {
  if (!config_.tls) return true;
  auto loaded = http::LoadTls(*config_.tls);
  if (const auto* const failure = std::get_if<http::TlsFailure>(&loaded)) {
    Log(LogLevel::kError, "certificate_refused",
        {{"key", "/tls/" + failure->key}, {"error", failure->message}});
    return false;
  }
  auto& tls = std::get<http::Tls>(loaded);
  expires_s_.store(tls.expires_s, std::memory_order_relaxed);
  context_.origins->SetCertificateNames(tls.names);
  listener_.SetTls(std::move(tls.context));
  Log(LogLevel::kInfo, "certificate_loaded", {{"names", tls.names}, {"expires_s", tls.expires_s}});
  if (!tls.not_valid.empty()) {
    Log(LogLevel::kWarn, "certificate_not_valid",
        {{"key", "/tls/certificate"}, {"certificate", tls.not_valid}});
  }
  if (!tls.warning.empty()) {
    Log(LogLevel::kWarn, "certificate_key", {{"key", "/tls/key"}, {"warning", tls.warning}});
  }
  return true;
}

bool Secrets::LoadTokens() {
  if (config_.tokens_file.empty()) return true;
  auto tokens = files::LoadTokens(config_.tokens_file, &context_.admission.tenants());
  if (!tokens.ok()) {
    Log(LogLevel::kError, "tokens_refused",
        {{"key", "/tokens_file"}, {"error", tokens.status().ToString()}});
    return false;
  }
  const auto& all = (*tokens)->tokens;
  const auto expired = std::count_if(all.begin(), all.end(), [now_ms = NowMs(context_)](auto& one) {
    return one.Expired(now_ms);
  });
  Log(LogLevel::kInfo, "tokens_loaded", {{"tokens", all.size()}, {"expired", expired}});
  context_.access.Set(std::move(tokens).value(), config_.authenticate_once);
  return true;
}

void Secrets::WarnOfExpiry() {
  const std::shared_ptr<const files::TokenSet> tokens = context_.access.Current();
  if (tokens == nullptr) return;
  for (const std::string& name : expiring_.Look(*tokens, NowMs(context_))) {
    Log(LogLevel::kWarn, "token_expires_soon",
        {{"token", name}, {"expires", DateText(tokens->FindName(name)->expires_ms, 'T') + "Z"}});
  }
}

void Secrets::RenewNodeSecrets() {
  if (node_ == nullptr) return;
  if (const Status renewed = node_->RenewSecrets(); !renewed.ok()) {
    Log(LogLevel::kError, "cluster_secret_refused",
        {{"key", renewed.field()}, {"error", renewed.message()}});
    return;
  }
  Log(LogLevel::kInfo, "cluster_secret_loaded", {{"key", "/cluster/secret_file"}});
}

void Secrets::RenewNodeTls() {
  if (node_ == nullptr) return;
  if (const Status renewed = node_->RenewTls(); !renewed.ok()) {
    Log(LogLevel::kError, "cluster_tls_refused",
        {{"key", renewed.field()}, {"error", renewed.message()}});
    return;
  }
  Log(LogLevel::kInfo, "cluster_tls_loaded", {{"ca", config_.cluster->ca}});
}

/// Whether the file is another than at the last call; the first call only notes it.
bool Secrets::Changed(const std::string& path) {
  struct stat about {};
  if (path.empty() || stat(path.c_str(), &about) != 0) return false;  // it is being written anew
  const Stamp stamp = {static_cast<int64_t>(about.st_ino), about.st_size, about.st_mtim.tv_sec,
                       about.st_mtim.tv_nsec};
  const auto [at, first] = stamps_.emplace(path, stamp);
  return !first && std::exchange(at->second, stamp) != stamp;
}

}  // namespace seendb
