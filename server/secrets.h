// server/secrets.h: certificate, key and tokens, and of a node of a cluster its secrets and whom it
// trusts, read from their files at the start and again whenever they change: a set that does not
// fit leaves the one before it in force.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/context.h"
#include "http/listener.h"
#include "membership/node.h"
#include "ops/config.h"
#include "ops/expiring_tokens.h"

namespace seendb {

/// See the head of this file. Threads: one, but for expires_s.
class Secrets {
 public:
  /// All are borrowed.
  Secrets(const ops::Config& config, http::Listener* listener, api::Context* context)
      : config_(config), listener_(*listener), context_(*context) {}

  /// Renews what a node goes by as well; borrowed. It has read it by itself. Before Load.
  void AlsoOf(membership::Node* node) { node_ = node; }
  /// Reads everything; false, logged, where something is wrong.
  bool Load();
  /// Reads anew what has changed since; with `all`, everything. Warns of tokens that expire soon.
  void Renew(bool all);
  /// When the certificate ends, in seconds since 1970; nothing without TLS.
  std::optional<int64_t> expires_s() const;

 private:
  /// What tells one content of a file from another.
  using Stamp = std::array<int64_t, 4>;

  bool LoadCertificate();
  bool LoadTokens();
  void WarnOfExpiry();
  void RenewNodeTls();
  void RenewNodeSecrets();
  bool Changed(const std::string& path);

  const ops::Config& config_;
  http::Listener& listener_;
  api::Context& context_;
  membership::Node* node_ = nullptr;  // null: of no cluster
  std::map<std::string, Stamp> stamps_;
  std::atomic<int64_t> expires_s_{0};
  ops::ExpiringTokens expiring_;
};

}  // namespace seendb
