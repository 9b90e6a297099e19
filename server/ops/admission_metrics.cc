#include "ops/admission_metrics.h"

#include <string>
#include <utility>

#include "ops/metric_family.h"

namespace seendb::ops {
namespace {

using admission::Lane;
using admission::LaneCounters;
using admission::WaitHistogram;
using prometheus::MetricFamily;
using prometheus::MetricType;

double Seconds(int64_t ns) { return 1e-9 * static_cast<double>(ns); }

/// Appends families that have a value for each lane.
class LaneWriter {
 public:
  LaneWriter(const admission::Admission& admission, std::vector<MetricFamily>* families)
      : admission_(admission), families_(families) {}

  template <typename Value>
  void Values(const char* name, const char* help, MetricType type, Value value) {
    MetricFamily family = MakeFamily(name, help, type);
    for (const auto& lane : admission_.lanes()) {
      AddValue(&family, {{"lane", lane->options().name}}, static_cast<double>(value(*lane)));
    }
    families_->push_back(std::move(family));
  }

  void Histograms(const char* name, const char* help, WaitHistogram LaneCounters::*histogram) {
    MetricFamily family = MakeFamily(name, help, MetricType::Histogram);
    for (const auto& lane : admission_.lanes()) {
      AddWaits(&family, {{"lane", lane->options().name}}, (lane->counters().*histogram).Read());
    }
    families_->push_back(std::move(family));
  }

 private:
  const admission::Admission& admission_;
  std::vector<MetricFamily>* const families_;
};

void CollectRefused(const admission::Admission& admission, std::vector<MetricFamily>* families) {
  MetricFamily refused = MakeFamily("seendb_refused_total",
                                    "Requests refused for load, by why, how important, and where.",
                                    MetricType::Counter);
  const auto add = [&](size_t place, size_t reason, size_t priority, uint64_t count) {
    AddValue(&refused,
             {{"reason", std::string(admission::kReasonNames[reason])},
              {"priority", std::string(admission::kPriorityNames[priority])},
              {"at", std::string(admission::kPlaceNames[place])}},
             static_cast<double>(count));
  };
  for (size_t place = 0; place < admission::kPlaces; ++place) {
    for (size_t reason = 1; reason < admission::kReasons; ++reason) {
      for (size_t priority = 0; priority < admission::kPriorities; ++priority) {
        uint64_t count = 0;
        for (const auto& lane : admission.lanes()) {
          count +=
              lane->counters().refused[place][reason][priority].load(std::memory_order_relaxed);
        }
        // Those that alerts go by are there from the start.
        const bool always = reason == static_cast<size_t>(admission::Reason::kOverloaded) &&
                            place == static_cast<size_t>(admission::Place::kHead);
        if (count > 0 || always) add(place, reason, priority, count);
      }
    }
  }
  add(static_cast<size_t>(admission::Place::kDoor),
      static_cast<size_t>(admission::Reason::kOverloaded),
      static_cast<size_t>(admission::Priority::kNormal), admission.door_refused());
  families->push_back(std::move(refused));
}

}  // namespace

void CollectAdmission(const admission::Admission& admission, admission::Time now,
                      std::vector<MetricFamily>* families) {
  const auto single = [&](const char* name, const char* help, MetricType type, double value) {
    families->push_back(MakeFamily(name, help, type));
    AddValue(&families->back(), {}, value);
  };
  MetricFamily load = MakeFamily(
      "seendb_load_ratio",
      "Work asked for by work that can be done, refused included, as if nothing were degraded: "
      "over all threads, and of the one with most.",
      MetricType::Gauge);
  AddValue(&load, {{"of", "mean"}}, admission.Load(/*full=*/true, now));
  AddValue(&load, {{"of", "max"}}, admission.MaxLoad(now));
  families->push_back(std::move(load));
  LaneWriter lanes(admission, families);
  lanes.Histograms("seendb_queue_seconds", "Waits of requests that were run.",
                   &LaneCounters::queued);
  lanes.Histograms("seendb_refusal_seconds", "From a request's head to its refusal.",
                   &LaneCounters::refusals);
  lanes.Histograms("seendb_loop_gap_seconds", "Between two looks of a thread for what has come.",
                   &LaneCounters::gaps);
  lanes.Values("seendb_queue_work_seconds", "Work that waits, by estimates.", MetricType::Gauge,
               [](const Lane& lane) { return Seconds(lane.counters().work_ns.load()); });
  lanes.Values("seendb_overloaded", "1: more is asked for than can be done.", MetricType::Gauge,
               [&](const Lane& lane) { return admission::Admission::Overloaded(lane, now); });
  lanes.Values("seendb_overload_episodes_total", "Times that an overload began.",
               MetricType::Counter,
               [](const Lane& lane) { return lane.counters().episodes.load(); });
  lanes.Values("seendb_client_gone_total", "Requests dropped, as their clients had gone.",
               MetricType::Counter, [](const Lane& lane) { return lane.counters().gone.load(); });
  lanes.Values("seendb_retried_requests_total", "Requests that were not the first try.",
               MetricType::Counter,
               [](const Lane& lane) { return lane.counters().retried.load(); });
  CollectRefused(admission, families);
  single("seendb_degrade_level", "0: whole answers; to 5: half of the candidates.",
         MetricType::Gauge, admission.degrade().level());
  single("seendb_degraded_total", "Answers that left something out for the load.",
         MetricType::Counter, static_cast<double>(admission.degraded()));
  MetricFamily tenants = MakeFamily("seendb_tenant_work_seconds_total",
                                    "Time spent on a token's requests.", MetricType::Counter);
  for (const auto& [name, work] : admission.tenants().Work()) {
    AddValue(&tenants, {{"token", name}}, Seconds(work.count()));
  }
  families->push_back(std::move(tenants));
}

}  // namespace seendb::ops
