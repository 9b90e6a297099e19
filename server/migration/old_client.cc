#include "migration/old_client.h"

#include <utility>
#include <vector>

#include "base/whole_file.h"
#include "ops/log.h"
#include "ops/secret_files.h"

namespace seendb::migration {
namespace {

constexpr std::chrono::milliseconds kRefusesFor{200};

/// The first line of a file.
Result<std::string> ReadPassword(const std::string& path) {
  Status writers = ops::CheckWriters(path, "/redis_password_file");
  if (!writers.ok()) return writers;
  Result<std::string> line = ReadFirstLine(path);
  if (line.ok()) return line;
  return Status::InvalidArgument(std::string(line.status().message()), "/redis_password_file");
}

}  // namespace

bool IsOfKey(const redis::Reply& reply) { return reply.text().starts_with("WRONGTYPE"); }

Result<std::unique_ptr<OldLink>> OldLink::Make(const ops::MigrationConfig& config) {
  auto address = redis::ParseAddress(config.redis, "a URL of Redis");
  if (!address.ok()) return address.status();
  auto keys = redis::KeyTemplate::Parse(config.key, "the key");
  if (!keys.ok()) return keys.status();
  auto unit = redis::ScoreUnitByName(config.score_unit);
  if (!unit.ok()) return unit.status();
  if (!config.password_file.empty()) {
    auto password = ReadPassword(config.password_file);
    if (!password.ok()) return password.status();
    address->password = std::move(password).value();
  }
  std::unique_ptr<OldLink> link(new OldLink(std::move(address).value(), std::move(keys).value()));
  link->unit_ = *unit;
  link->ca_ = config.ca;
  link->collection_ = config.collection;
  return link;
}

Result<std::unique_ptr<redis::Client>> OldLink::Open(std::chrono::milliseconds timeout) const {
  redis::ClientOptions options;
  options.timeout = timeout;
  options.files.ca = ca_;
  options.files.named_by = "redis_ca";
  return redis::Client::Open(address_, std::move(options));
}

void OldLink::Note(const Status& status) {
  const std::string now = status.ok() ? std::string() : std::string(status.message());
  {
    const MutexLock lock(mutex_);
    if (problem_.empty() == now.empty()) {
      problem_ = now;
      return;
    }
    problem_ = now;
  }
  if (now.empty()) {
    ops::Log(ops::LogLevel::kInfo, "old_store_answers", {{"collection", collection_}});
  } else {
    ops::Log(ops::LogLevel::kWarn, "old_store_failed",
             {{"collection", collection_}, {"error", now}});
  }
}

std::string OldLink::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

Result<redis::Client*> OldClient::Get() {
  if (!failure_.ok() && Clock::now() < retry_at_) return failure_;
  if (!client_) {
    auto opened = link_.Open(timeout_);
    if (!opened.ok()) {
      Note(opened.status());
      return opened.status();
    }
    client_ = std::move(opened).value();
  }
  return client_.get();
}

Result<std::vector<redis::Reply>> OldClient::Run(const redis::Pipeline& pipeline) {
  auto client = Get();
  if (!client.ok()) return client.status();
  auto replies = (*client)->Run(pipeline);
  if (!replies.ok()) {
    Note(replies.status());
    return replies;
  }
  failure_ = {};
  Status refused;
  for (const redis::Reply& reply : *replies) {
    if (refused.ok() && reply.is_error() && !IsOfKey(reply)) refused = reply.status();
  }
  link_.Note(refused);
  return replies;
}

void OldClient::Note(const Status& status) {
  failure_ = status;
  link_.Note(status);
  if (status.ok()) return;
  retry_at_ = Clock::now() + kRefusesFor;
  client_.reset();  // reconnect next time: the address may lead to another server by then
}

}  // namespace seendb::migration
