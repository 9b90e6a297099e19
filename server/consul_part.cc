#include "consul_part.h"

#include "api/origin_check.h"
#include "net/stream_target.h"
#include "ops/log.h"
#include "version.h"

namespace seendb {
namespace {

/// A node of a cluster tells clients what it tells the other nodes.
ops::ConsulConfig ConsulConfigOf(const ops::Config& config) {
  ops::ConsulConfig consul = *config.consul;
  if (!config.cluster || !consul.advertise.empty()) return consul;
  const Result<net::StreamTarget> told = net::TargetOf(config.cluster->advertise);
  if (told.ok()) consul.advertise = told->Authority();
  return consul;
}

}  // namespace

ConsulPart::ConsulPart(const ops::Config& config, const http::Listener& listener)
    : config_(config), listener_(listener), registration_(*config.consul) {}

void ConsulPart::Start() {
  const discovery::Listening listening{listener_.address(), config_.tls.has_value()};
  const auto service = discovery::MakeConsulService(ConsulConfigOf(config_), listening,
                                                    api::MachineName(), kServerVersion);
  if (service.ok()) return registration_.Start(*service);
  ops::Log(ops::LogLevel::kError, "consul_failed", {{"error", service.status().ToString()}});
}

Part ConsulPart::Row() {
  return {.name = "consul",
          .start = [this](Engine*) { Start(); },
          .depart = [this] { registration_.Leave(); },
          .stop =
              [this](int64_t) {
                registration_.Stop();
                return true;
              },
          .problems =
              [this](auto* to) {
                const std::string problem = registration_.Problem();
                if (!problem.empty()) to->push_back(problem);
              },
          .metrics = [this](auto* to) { to->in_catalog = registration_.registered(); }};
}

}  // namespace seendb
