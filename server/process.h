// server/process.h: all that a server is made of, and the list of its parts: what main.cc begins
// and ends.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "api/service.h"
#include "backups.h"
#include "cluster_part.h"
#include "consul_part.h"
#include "http/listener.h"
#include "ingest/consumer.h"
#include "items_part.h"
#include "migration/migration.h"
#include "ops/config.h"
#include "ops/health.h"
#include "ops/manual_clock.h"
#include "ops/metrics.h"
#include "ops/periodic.h"
#include "ops/service_manager.h"
#include "parts.h"
#include "secrets.h"
#include "seendb/engine.h"
#include "sets_part.h"

namespace seendb {

/// See the head of this file. Threads: the control thread, but for Open and engine.
class Process {
 public:
  /// Borrows both.
  Process(const ops::Config& config, boost::asio::io_context* control);

  /// The exit code where the process can't go on; logged.
  std::optional<int> Prepare() { return parts_.Prepare(); }
  /// Opens the engine and all of its shards; takes seconds to minutes, on a thread of its own.
  Status Open();
  /// Once Open has succeeded.
  void Start();
  /// Others are to look for another server. At any time.
  void Depart() { parts_.Depart(); }
  /// No new work. At any time.
  void Leave() { parts_.Leave(); }
  /// Once Open has returned. The name of a part that runs on after `grace_ms`; nothing: all is
  /// closed.
  std::optional<std::string_view> Stop(int64_t grace_ms);
  /// Makes safe what was acknowledged, for a process that ends without closing the engine.
  Status SyncAtOnce();

  /// The engine while its shards are opened and afterwards; null before. Threads: any.
  Engine* engine() { return opening_ ? engine_.get() : nullptr; }
  /// All that is wrong, for people. Once Open has succeeded.
  std::vector<std::string> Problems() const;
  /// Those that the line `ready` of the log has.
  const std::vector<std::string>& told() const { return told_; }
  bool is_node() const { return cluster_.has_value(); }
  /// True where closing failed.
  bool close_failed() const { return close_failed_; }

  api::Context& context() { return context_; }
  http::Listener& listener() { return listener_; }
  Secrets& secrets() { return secrets_; }
  ops::ServiceManager& manager() { return manager_; }

 private:
  void FillContext();
  std::vector<Part> List();
  Part Checkpoints();
  Part OpenedEngine();
  Part Migrations();
  Part Doors();
  Part Workers();
  Part Requests();
  Part Files();
  Part Topics();
  Status OpenEngine();
  void TellReady();
  void SyncLater();

  const ops::Config& config_;
  std::optional<ops::ManualClock> clock_;
  ops::Health health_;
  ops::Metrics metrics_;
  api::Context context_;
  api::ApiService service_;
  std::unique_ptr<http::Service> connect_;  // before service_; null: not built
  std::unique_ptr<Engine> engine_;
  Status open_failure_;
  std::vector<std::string> told_;
  Secrets secrets_;
  std::optional<ingest::Consumer> consumer_;
  std::optional<migration::Migrations> migrations_;
  std::optional<ClusterPart> cluster_;
  Backups backups_;
  ItemsPart items_;
  SetsPart sets_;
  http::Listener listener_;
  std::optional<ConsulPart> consul_;
  Parts parts_;  // of the members above

  boost::asio::steady_timer sync_timer_;
  ops::Periodic sampling_, looking_;
  ops::ServiceManager manager_;
  std::atomic<bool> opening_{false};  // engine_ is there, and some of its shards may be open
  bool close_failed_ = false;
};

}  // namespace seendb
