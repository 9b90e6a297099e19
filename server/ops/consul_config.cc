#include "ops/consul_config.h"

#include <algorithm>

#include "net/stream_target.h"
#include "ops/host_port_key.h"

namespace seendb::ops {
namespace {

constexpr size_t kTagsMost = 64, kNameMost = 128;
/// Consul looks for servers to forget each 30 seconds, and takes no less than a minute.
constexpr int64_t kForgetLeast = 60;

/// Text that stands in a path of the agent's API and in names of DNS.
bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kNameMost &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_' || c == '.';
         });
}

Status CheckTag(const std::string& tag) {
  return tag.empty() || tag.size() > kNameMost
             ? Status::InvalidArgument("must have 1 to 128 characters")
             : Status::Ok();
}

Keys KeysOf(ConsulConfig* config) {
  return {{"url", Name(&config->url)},
          {"ca", Name(&config->ca)},
          {"token_file", Name(&config->token_file)},
          {"service", Name(&config->service)},
          {"id", Name(&config->id)},
          {"advertise", HostPort(&config->advertise)},
          {"check_address", HostPort(&config->check)},
          {"check", OneOf(&config->check_connects, "ready", "connect")},
          {"tags", TextList(&config->tags, kTagsMost, CheckTag)},
          {"check_interval_s", Integer(&config->check_interval_s, 1, 3'600)},
          {"forget_after_s", Integer(&config->forget_after_s, kForgetLeast, 7 * 86'400)}};
}

Status Check(const ConsulConfig& config) {
  if (const auto target = net::TargetOf(config.url); !target.ok()) {
    return Status::InvalidArgument(std::string(target.status().message()), "/url");
  }
  constexpr const char* kMust = "must have 1 to 128 letters, digits, '-', '_' and '.'";
  if (!IsName(config.service)) return Status::InvalidArgument(kMust, "/service");
  if (!config.id.empty() && !IsName(config.id)) return Status::InvalidArgument(kMust, "/id");
  return {};
}

}  // namespace

Setter Consul(std::optional<ConsulConfig>* to) { return SectionOf(to, KeysOf, Check); }

}  // namespace seendb::ops
