#include "ops/metrics.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <thread>

#include <prometheus/text_serializer.h>

#include "ops/metric_rows.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

size_t ThreadStripe(size_t stripes) {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine % stripes;
}

const MetricRow<CollectionCounters> kCollection[] = {
    {"seendb_filter_requests_total", "Filter requests answered.", kCounter,
     MemberValue<&CollectionCounters::filters>},
    {"seendb_filter_degraded_total", "Filter answers that said degraded.", kCounter,
     MemberValue<&CollectionCounters::degraded>},
    {"seendb_filter_candidates_total", "Candidates examined.", kCounter,
     MemberValue<&CollectionCounters::candidates>},
    {"seendb_filter_seen_total", "Candidates found seen.", kCounter,
     MemberValue<&CollectionCounters::seen>},
    {"seendb_plays_accepted_total", "Plays accepted.", kCounter,
     MemberValue<&CollectionCounters::plays_accepted>},
    {"seendb_plays_refused_total", "Plays refused.", kCounter,
     MemberValue<&CollectionCounters::plays_refused>},
    {"seendb_impressions_accepted_total", "Impressions accepted.", kCounter,
     MemberValue<&CollectionCounters::impressions_accepted>},
    {"seendb_impressions_refused_total", "Impressions refused.", kCounter,
     MemberValue<&CollectionCounters::impressions_refused>},
    {"seendb_exposures_accepted_total", "Exposures accepted.", kCounter,
     MemberValue<&CollectionCounters::exposures_accepted>},
    {"seendb_exposures_refused_total", "Exposures refused.", kCounter,
     MemberValue<&CollectionCounters::exposures_refused>},
};

}  // namespace

Metrics::Metrics(std::vector<std::string> routes)
    : routes_([&] {
        routes.emplace_back("none");
        return std::move(routes);
      }()) {
  for (Stripe& stripe : stripes_) stripe.routes = std::vector<RouteCounters>(routes_.size());
}

Metrics::~Metrics() = default;

void Metrics::CountRequest(int route, unsigned status, std::chrono::nanoseconds took) noexcept {
  const size_t index = route < 0 ? routes_.size() - 1 : static_cast<size_t>(route);
  RouteCounters& counters = stripes_[ThreadStripe(kStripes)].routes[index];
  const auto code = std::find(kCodes.begin(), kCodes.end() - 1, status);
  const auto add = [](std::atomic<uint64_t>& to, uint64_t n) {
    to.fetch_add(n, std::memory_order_relaxed);
  };
  add(counters.by_code[static_cast<size_t>(code - kCodes.begin())], 1);
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bound = std::lower_bound(kLatencyBounds.begin(), kLatencyBounds.end(), seconds);
  add(counters.by_latency[static_cast<size_t>(bound - kLatencyBounds.begin())], 1);
  add(counters.total_ns, static_cast<uint64_t>(std::max<int64_t>(0, took.count())));
}

void Metrics::CountRefused(std::string_view code) noexcept {
  const auto reason = std::find(kReasons.begin(), kReasons.end() - 1, code);
  refused_[static_cast<size_t>(reason - kReasons.begin())].fetch_add(1, std::memory_order_relaxed);
}

CollectionCounters* Metrics::ForCollection(std::string_view name) {
  const MutexLock lock(mutex_);
  auto found = collections_.find(name);
  if (found == collections_.end()) {
    found = collections_.emplace(name, std::make_unique<CollectionCounters>()).first;
  }
  return found->second.get();
}

void Metrics::CollectRequests(std::vector<MetricFamily>* families) const {
  MetricFamily requests =
      MakeFamily("seendb_http_requests_total", "Requests answered.", MetricType::Counter);
  MetricFamily latency =
      MakeFamily("seendb_http_request_seconds", "From a request's complete head to its answer.",
                 MetricType::Histogram);
  for (size_t route = 0; route < routes_.size(); ++route) {
    const auto sum = [&](const auto& pick) {
      uint64_t total = 0;
      for (const Stripe& stripe : stripes_) {
        total += pick(stripe.routes[route]).load(std::memory_order_relaxed);
      }
      return total;
    };
    for (size_t i = 0; i < kCodes.size(); ++i) {
      const uint64_t count = sum([&](const RouteCounters& c) -> auto& { return c.by_code[i]; });
      if (count == 0) continue;
      const std::string code = kCodes[i] == 0 ? "other" : std::to_string(kCodes[i]);
      AddValue(&requests, {{"route", routes_[route]}, {"code", code}}, static_cast<double>(count));
    }
    prometheus::ClientMetric metric;
    metric.label = {{"route", routes_[route]}};
    uint64_t cumulative = 0;
    for (size_t i = 0; i <= kLatencyBounds.size(); ++i) {
      cumulative += sum([&](const RouteCounters& c) -> auto& { return c.by_latency[i]; });
      prometheus::ClientMetric::Bucket bucket;
      bucket.cumulative_count = cumulative;
      bucket.upper_bound =
          i < kLatencyBounds.size() ? kLatencyBounds[i] : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back(bucket);
    }
    if (cumulative == 0) continue;
    metric.histogram.sample_count = cumulative;
    metric.histogram.sample_sum =
        1e-9 * static_cast<double>(sum([](const RouteCounters& c) -> auto& { return c.total_ns; }));
    latency.metric.push_back(std::move(metric));
  }
  families->push_back(std::move(requests));
  families->push_back(std::move(latency));
  families->push_back(MakeFamily("seendb_http_refused_total",
                                 "Requests answered with an error, by its code.",
                                 MetricType::Counter));
  for (size_t i = 0; i < kReasons.size(); ++i) {
    AddValue(&families->back(), {{"reason", std::string(kReasons[i])}},
             static_cast<double>(refused_[i].load(std::memory_order_relaxed)));
  }
}

void Metrics::CollectCollections(std::vector<MetricFamily>* families) const {
  const MutexLock lock(mutex_);
  std::vector<std::pair<Labels, const CollectionCounters*>> all;
  for (const auto& [name, counters] : collections_) {
    all.emplace_back(Labels{{"collection", name}}, counters.get());
  }
  AddRows(kCollection, all, families);
}

// Reasons never met are told as 0: increase() needs a value from before the first refusal.
void Metrics::CollectRefused(std::vector<MetricFamily>* families) const {
  const auto collect = [&](const char* name, const char* help, auto counter) REQUIRES(mutex_) {
    MetricFamily family = MakeFamily(name, help, MetricType::Counter);
    for (const auto& [collection, counters] : collections_) {
      for (size_t i = 0; i < wire::kRefusedBy; ++i) {
        const uint64_t refused = (counters.get()->*counter)[i].load(std::memory_order_relaxed);
        AddValue(&family,
                 {{"collection", collection}, {"reason", std::string(wire::RefusedByName(i))}},
                 static_cast<double>(refused));
      }
    }
    families->push_back(std::move(family));
  };
  const MutexLock lock(mutex_);
  collect("seendb_plays_refused_by_reason_total", "Plays refused over HTTP, by reason.",
          &CollectionCounters::plays_refused_by);
  collect("seendb_impressions_refused_by_reason_total", "Impressions refused over HTTP, by reason.",
          &CollectionCounters::impressions_refused_by);
  collect("seendb_exposures_refused_by_reason_total", "Exposures refused over HTTP, by reason.",
          &CollectionCounters::exposures_refused_by);
}

std::string Metrics::Text(const MetricsSnapshot& snapshot) const {
  std::vector<MetricFamily> families;
  CollectRequests(&families);
  CollectCollections(&families);
  CollectProcess(snapshot, &families);
  CollectRefused(&families);
  CollectSnapshot(snapshot, &families);
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace seendb::ops
