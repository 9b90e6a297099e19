// The tables of engine/doc/sizing.md: users of 10 to 300,000 items live through a month of hourly
// drains, then the bucket is sealed. Bytes an item, layers, and the false-positive rate measured
// against fingerprints that were never added. No database: the filter's own code only.
//
// Fixed seeds: the numbers are the same on every machine.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "filter/seen_filter.h"
#include "filter/sizing.h"
#include "format/filter_codec.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kHours = 30 * 24;

enum class Arrival { kSteady, kFront, kBack };

const char* Name(Arrival arrival) {
  return arrival == Arrival::kSteady ? "steady" : arrival == Arrival::kFront ? "front" : "back";
}

// The share of a user's items that have come once `part` of the month has passed. In front: half
// of them in the first 29 % of it; at the back: in the last 29 %.
double Come(Arrival arrival, double part) {
  if (arrival == Arrival::kSteady) return part;
  return arrival == Arrival::kFront ? 1 - (1 - part) * (1 - part) : part * part;
}

FilterRules Rules(const Policy& policy) {
  FilterRules rules;
  rules.fpr = policy.fpr / policy.window;
  rules.bytes_max = EffectiveMaxFilterBytes(policy);
  rules.begin_ms = 0;
  rules.end_ms = kHours * kHourMs;
  rules.exact = policy.representation == Representation::kExact;
  return rules;
}

std::vector<Fingerprint> Fresh(std::mt19937_64& random, uint64_t count) {
  std::vector<Fingerprint> items(count);
  for (Fingerprint& fp : items) fp = random() & kFingerprintMask;
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

// One month of a user, drained every hour.
SeenFilter Live(std::mt19937_64& random, const FilterRules& rules, uint64_t items,
                Arrival arrival) {
  SeenFilter filter;
  uint64_t added = 0;
  for (int64_t hour = 1; hour <= kHours; ++hour) {
    const double part = static_cast<double>(hour) / kHours;
    const auto due =
        static_cast<uint64_t>(std::llround(Come(arrival, part) * static_cast<double>(items)));
    if (due == added) continue;
    filter.as_of_ms = hour * kHourMs;
    filter.Add(Fresh(random, due - added), rules);
    added = due;
  }
  return filter;
}

size_t EncodedBytes(const SeenFilter& filter) {
  std::string bytes;
  EncodeFilter(filter, {}, &bytes);
  return bytes.size();
}

double MeasuredFpr(std::mt19937_64& random, const SeenFilter& filter, int probes) {
  int hits = 0;
  for (int i = 0; i < probes; ++i) hits += filter.Contains(random() & kFingerprintMask) ? 1 : 0;
  return static_cast<double>(hits) / probes;
}

struct Row {
  double open_bytes = 0, sealed_bytes = 0;
  double open_layers = 0, sealed_layers = 0;
  double open_fpr = 0, sealed_fpr = 0;
  double dropped = 0, kept_items = 0;
};

Row Measure(const FilterRules& rules, uint64_t items, Arrival arrival) {
  std::mt19937_64 random(items * 3 + static_cast<uint64_t>(arrival));
  const int users = items < 1'000 ? 20 : 4;
  const int probes = 4'000'000 / users;
  Row sum;
  for (int user = 0; user < users; ++user) {
    SeenFilter filter = Live(random, rules, items, arrival);
    sum.open_bytes += static_cast<double>(EncodedBytes(filter));
    sum.open_layers += static_cast<double>(filter.layers.size());
    sum.open_fpr += MeasuredFpr(random, filter, probes);
    filter.Seal(rules);
    sum.sealed_bytes += static_cast<double>(EncodedBytes(filter));
    sum.sealed_layers += static_cast<double>(filter.layers.size());
    sum.sealed_fpr += MeasuredFpr(random, filter, probes);
    sum.dropped += filter.dropped_layers;
    sum.kept_items += static_cast<double>(filter.Items());
  }
  for (double* field : {&sum.open_bytes, &sum.sealed_bytes, &sum.open_layers, &sum.sealed_layers,
                        &sum.open_fpr, &sum.sealed_fpr, &sum.dropped, &sum.kept_items}) {
    *field /= users;
  }
  return sum;
}

void PrintByItems(const char* title, const Policy& policy) {
  const FilterRules rules = Rules(policy);
  std::printf("\n## %s\n\nBudget of a bucket %.4f %%, ceiling %llu bytes.\n\n", title,
              rules.fpr * 100, static_cast<unsigned long long>(rules.bytes_max));
  std::printf(
      "| items a month | arrival | open: bytes | bytes an item | layers | FPR %% | sealed: "
      "bytes | bytes an item | layers | FPR %% |\n");
  std::printf("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const uint64_t items : {10, 50, 100, 500, 1'000, 3'300, 4'096, 5'000, 8'327, 10'000, 24'418,
                               50'000, 62'626, 100'000, 127'557}) {
    for (const Arrival arrival : {Arrival::kSteady, Arrival::kFront, Arrival::kBack}) {
      if (items <= rules.list_limit && arrival != Arrival::kSteady) continue;  // a list either way
      const Row row = Measure(rules, items, arrival);
      const auto count = static_cast<double>(items);
      std::printf("| %llu | %s | %.0f | %.2f | %.1f | %.4f | %.0f | %.2f | %.1f | %.4f |\n",
                  static_cast<unsigned long long>(items), Name(arrival), row.open_bytes,
                  row.open_bytes / count, row.open_layers, row.open_fpr * 100, row.sealed_bytes,
                  row.sealed_bytes / count, row.sealed_layers, row.sealed_fpr * 100);
    }
  }
}

void PrintByBudget() {
  std::printf("\n## By policy: 3,300 and 24,418 items a bucket, steady\n\n");
  std::printf(
      "| fpr | window | budget of a bucket %% | items | open: bytes an item | sealed: bytes "
      "an item | bits an item | FPR %% |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const double fpr : {0.05, 0.01, 0.001, 0.0001}) {
    for (const uint32_t window : {1U, 4U, 7U, 30U}) {
      for (const uint64_t items : {3'300, 24'418}) {
        Policy policy;
        policy.fpr = fpr;
        policy.window = window;
        const FilterRules rules = Rules(policy);
        const Row row = Measure(rules, items, Arrival::kSteady);
        const auto count = static_cast<double>(items);
        std::printf("| %g | %u | %.5f | %llu | %.2f | %.2f | %.1f | %.5f |\n", fpr, window,
                    rules.fpr * 100, static_cast<unsigned long long>(items), row.open_bytes / count,
                    row.sealed_bytes / count, row.sealed_bytes * 8 / count, row.sealed_fpr * 100);
      }
    }
  }
}

void PrintCeiling() {
  std::printf("\n## Beyond the default ceiling\n\n");
  std::printf(
      "| representation | items | bytes | layers gone | items counted | FPR %% |\n"
      "|---|--:|--:|--:|--:|--:|\n");
  for (const Representation representation : {Representation::kBloom, Representation::kExact}) {
    Policy policy;
    policy.representation = representation;
    const FilterRules rules = Rules(policy);
    for (const uint64_t items : {127'557, 150'000, 200'000, 300'000}) {
      const Row row = Measure(rules, items, Arrival::kSteady);
      std::printf("| %s | %llu | %.0f | %.1f | %.0f | %.4f |\n",
                  representation == Representation::kExact ? "exact" : "bloom",
                  static_cast<unsigned long long>(items), row.open_bytes, row.dropped,
                  row.kept_items, row.open_fpr * 100);
    }
  }
}

void PrintLate() {
  std::printf("\n## Late plays to a sealed bucket of 3,300 items\n\n");
  std::printf(
      "| late items | tail: bytes an item | sealed again: bytes an item | layers | FPR %% |\n"
      "|--:|--:|--:|--:|--:|\n");
  const FilterRules rules = Rules(Policy{});
  for (const uint64_t late : {0, 30, 100, 330, 1'000, 3'300}) {
    std::mt19937_64 random(late + 7);
    SeenFilter filter = Live(random, rules, 3'300, Arrival::kSteady);
    filter.Seal(rules);
    filter.Add(Fresh(random, late), rules);
    const auto count = static_cast<double>(3'300 + late);
    const double tail = static_cast<double>(EncodedBytes(filter)) / count;
    filter.Seal(rules);
    std::printf("| %llu | %.2f | %.2f | %zu | %.4f |\n", static_cast<unsigned long long>(late),
                tail, static_cast<double>(EncodedBytes(filter)) / count, filter.layers.size(),
                MeasuredFpr(random, filter, 4'000'000) * 100);
  }
}

void PrintAll() {
  PrintByItems("By items: the default policy (fpr 1 %, window 4 months)", Policy{});
  PrintByBudget();
  PrintCeiling();
  PrintLate();
}

}  // namespace
}  // namespace seendb

int main() {
  seendb::PrintAll();
  return 0;
}
