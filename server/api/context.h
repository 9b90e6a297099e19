// server/api/context.h: what every handler works with, and one request as it sees it.

#pragma once

#include <atomic>
#include <cassert>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "admission/admission.h"
#include "api/access.h"
#include "api/backup.h"
#include "api/catalog.h"
#include "api/failed_tokens.h"
#include "api/fill_sampler.h"
#include "api/item_door.h"
#include "api/one_at_a_time.h"
#include "api/origin_check.h"
#include "api/readiness.h"
#include "api/refusals.h"
#include "api/request_log.h"
#include "api/scrape.h"
#include "api/set_door.h"
#include "api/tail.h"
#include "api/unsafe_integers.h"
#include "base/sync.h"
#include "http/limits.h"
#include "http/service.h"
#include "ops/health.h"
#include "ops/last_checkpoint.h"
#include "ops/manual_clock.h"
#include "ops/metrics.h"
#include "seendb/engine.h"

namespace seendb::migration {
class Migrations;
}

namespace seendb::proof {
class Proofs;
}

namespace seendb::api {

struct Call;

/// The cluster that the server is a node of, as handlers see it. Functions are called by any thread
/// and wait for nothing.
struct ClusterView {
  std::function<Result<std::string>()> report;  ///< GET /cluster
  std::function<std::string()> status;          ///< GET /internal/status
  proof::Proofs* proofs = nullptr;              ///< judges what other nodes ask; borrowed
  std::string why_not_ready;                    ///< what routes answer until it is ready
  /// Copies of shards for other nodes: the routes below /internal/shards/. Unset: none are given.
  std::function<http::Task<>(Call&)> snapshots = {};
  /// Has a shard that no node has begin empty here. Blocks for seconds.
  std::function<Status(uint32_t partition)> begin_empty = {};
};

class Audit;
class Router;

/// Parts shared by all handlers; everything pointed to is borrowed. Threads: any.
struct Context {
  Context(http::Limits the_limits, size_t candidates, ops::Health* the_health,
          ops::Metrics* the_metrics, ops::ManualClock* the_clock,
          const ops::AccessLogConfig& access_log = {})
      : limits(the_limits),
        max_candidates(candidates),
        health(the_health),
        metrics(the_metrics),
        clock(the_clock),
        catalog(the_metrics),
        requests(access_log),
        failed_tokens(the_limits.failed_tokens_per_minute),
        access(the_clock == nullptr ? static_cast<const Clock*>(SystemClock()) : the_clock),
        checkpointing(the_limits.queue) {}

  const http::Limits limits;
  const size_t max_candidates;
  ops::Health* const health;
  ops::Metrics* const metrics;
  ops::ManualClock* const clock;   ///< null: the machine's time
  admission::Admission admission;  ///< which requests are answered, and how much of them
  Catalog catalog;
  FillSampler sampler;
  Readiness readiness;
  Scrape scrape;
  /// Looks at users and at the engine come by themselves; false: with each request that tells of
  /// them. Set before serving.
  bool samples_in_background = false;
  Mutex clock_mutex{LockRank::kServerCall};  ///< one move of the clock at a time
  std::string checkpoints;                   ///< their folder; empty: none. Set before serving
  ops::LastCheckpoint last_checkpoint;
  BackupView backup;
  ItemDoor items;
  SetDoor sets;
  RefusalLog refusals;
  RequestLog requests;
  Tail tail;  ///< who watches requests
  UnsafeIntegers unsafe_integers;
  std::optional<OriginCheck> origins{
      std::in_place, std::vector<std::string>(), std::vector<std::string>(),
      std::string_view()};               ///< which hosts and pages may ask. Set before serving
  FailedTokens failed_tokens;            ///< wrong tokens, by address
  AccessCheck access;                    ///< who may do what
  std::shared_ptr<Audit> audit;          ///< null: there is none. Set before serving
  bool admin_apart = false;              ///< Door::kAdmin is open. Set before serving
  std::string exposed;                   ///< who may reach it and should not. Set before serving
  bool compress_filter = false;          ///< answers of filters too. Set before serving
  bool erase_always = false;             ///< plays come out of a log too. Set before serving
  OneAtATime checkpointing;              ///< the requests for checkpoints
  std::atomic<Engine*> engine{nullptr};  ///< set once it is open
  migration::Migrations* migrations = nullptr;  ///< null: nothing moves in. Set before serving
  std::optional<ClusterView> cluster;  ///< unset: it is a server by itself. Set before serving
  Router* router = nullptr;            ///< of a node of a cluster. Set before serving
  std::function<void(ops::MetricsSnapshot*)> listener_counters;  ///< fills in the listener's part
  std::function<ops::IngestState()> ingest_state;                ///< unset: nothing is consumed
  /// What is wrong with the consumption; does not wait. Unset: nothing is consumed.
  std::function<std::vector<std::string>()> ingest_problems;
};

/// Whether what administrators use is answered at another listener than that of the request.
inline bool AdminIsElsewhere(const Context& context, const http::RequestHead& head) {
  return context.admin_apart &&
         (head.connection == nullptr || head.connection->door == http::Door::kMain);
}

/// What to say while the engine is not open.
std::string WhyNotReady(const Context& context, ops::Phase phase);

/// One request on its way to an answer. Handlers see nothing else.
struct Call {
  Context& context;
  const http::Plan& plan;
  const http::Request& request;
  http::Response& response;
  /// What this node can't tell of the user, and is missing from the answer: "behind", "partition".
  /// Empty: nothing.
  std::string_view lacks = {};
  /// At a node of a cluster: whether it is still this node that answers, which a handler asks after
  /// a wait; where it is not, it ends without an answer. Null: it is.
  const std::function<bool()>* still_here = nullptr;
  /// It runs on a worker of kEngine, as the rest of a request that was taken; else where the plan
  /// says.
  bool at_worker = false;

  /// Precondition: the route needs the engine (then it is open).
  Engine& engine() const {
    Engine* const open = context.engine.load(std::memory_order_acquire);
    assert(open != nullptr);
    return *open;
  }
  /// Who asks; null: everybody may do everything.
  const files::Token* caller() const { return CallerOf(plan).get(); }
  /// The query parameter's value, or nothing.
  std::optional<std::string_view> Query(std::string_view name) const;
  /// Answers with a failure.
  void Refuse(const Status& status) const;
};

}  // namespace seendb::api
