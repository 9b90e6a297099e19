#include "top_screen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr std::string_view kFilters = "POST /filter";
constexpr double kRateMost = 1e15;
constexpr double kSecondsMost = 1e10;  // no server runs for longer, or takes longer

Json Share(double part, double whole) { return whole > 0 ? Json(part / whole) : Json(nullptr); }

/// The rates, or nulls where the process began between the two looks.
void AddRates(const MetricsSpan& span, Json* numbers) {
  const bool known = span.OneProcess();
  const auto rate = [&](const char* name, std::string_view metric, std::string_view label = {},
                        std::string_view value = {}) {
    (*numbers)[name] =
        known ? Json(std::min(kRateMost, span.Rate(metric, label, value))) : Json(nullptr);
  };
  const auto share = [&](const char* name, std::string_view part, std::string_view whole) {
    (*numbers)[name] = known ? Share(span.Grown(part), span.Grown(whole)) : Json(nullptr);
  };
  const auto within = [&](const char* name, double part) {
    const auto edge = known ? span.Quantile(part, "seendb_http_request_seconds", "route", kFilters)
                            : std::nullopt;
    (*numbers)[name] = edge && *edge < kSecondsMost ? Json(*edge) : Json(nullptr);
  };
  rate("filters_per_s", "seendb_filter_requests_total");
  rate("candidates_per_s", "seendb_filter_candidates_total");
  share("seen_share", "seendb_filter_seen_total", "seendb_filter_candidates_total");
  share("degraded_share", "seendb_filter_degraded_total", "seendb_filter_requests_total");
  within("filter_p50_s", 0.5);
  within("filter_p99_s", 0.99);
  rate("plays_per_s", "seendb_plays_accepted_total");
  rate("served_per_s", "seendb_impressions_accepted_total");
  rate("refused_per_s", "seendb_http_refused_total");
  rate("cores", "process_cpu_seconds_total");
}

/// Slots by their state, those that are free left out.
Json SlotsOf(const Json& ring) {
  struct Sum {
    uint64_t slots = 0, plays = 0, bytes = 0;
    int64_t opened_ms = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Json& slot : ListOf(ring, "slots")) {
    const std::string state = TextOf(slot, "state");
    if (state == "free") continue;
    Sum& sum = sums[state];
    ++sum.slots;
    sum.plays += CountOf(slot, "plays");
    sum.bytes += CountOf(slot, "bytes");
    const int64_t opened = TimeOf(slot, "opened_ms");
    if (opened > 0 && (sum.opened_ms == 0 || opened < sum.opened_ms)) sum.opened_ms = opened;
  }
  Json list = Json::array();
  for (const auto& [state, sum] : sums) {
    list.push_back({{"state", state},
                    {"slots", sum.slots},
                    {"plays", sum.plays},
                    {"bytes", sum.bytes},
                    {"oldest_ms", sum.opened_ms}});
  }
  return list;
}

/// Buckets, the largest first.
Json BucketsOf(const Json& report) {
  std::vector<Json> list;
  for (const Json& one : ListOf(report, "buckets")) {
    list.push_back({{"collection", TextOf(one, "collection")},
                    {"bucket", TextOf(one, "bucket")},
                    {"state", TextOf(one, "state")},
                    {"bytes", CountOf(one, "bytes")}});
  }
  std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) {
    return CountOf(a, "bytes") > CountOf(b, "bytes");
  });
  return list;
}

std::string RateText(const Json& numbers, const char* name) {
  const Json& value = numbers.at(name);
  return value.is_null() ? "-" : FormatRate(value.get<double>());
}

std::string ShareText(const Json& numbers, const char* name) {
  const Json& value = numbers.at(name);
  return value.is_null() ? "-" : FormatPercent(value.get<double>());
}

std::string TimeText(const Json& numbers, const char* name) {
  const Json& value = numbers.at(name);
  return value.is_null() ? "-" : FormatDurationUs(value.get<double>() * 1e6);
}

std::string HeadText(const Json& numbers) {
  std::string text = "SeenDB " + Printable(TextOf(numbers, "version")) + ", up " +
                     TimeText(numbers, "up_s") + ", " + TextOf(numbers, "state") + "\n";
  for (const Json& problem : ListOf(numbers, "problems")) {
    text += "problem: " + Printable(problem.get<std::string>()) + "\n";
  }
  return text;
}

std::string RatesText(const Json& numbers) {
  const Json& cores = numbers.at("cores");
  char used[32];
  std::snprintf(used, sizeof(used), "%.2f cores", cores.is_null() ? 0.0 : cores.get<double>());
  Facts facts;
  facts.Add("filters", RateText(numbers, "filters_per_s") + ", half within " +
                           TimeText(numbers, "filter_p50_s") + ", 99% within " +
                           TimeText(numbers, "filter_p99_s") + ", degraded " +
                           ShareText(numbers, "degraded_share"));
  facts.Add("candidates",
            RateText(numbers, "candidates_per_s") + ", seen " + ShareText(numbers, "seen_share"));
  facts.Add("plays", RateText(numbers, "plays_per_s") + ", served items " +
                         RateText(numbers, "served_per_s"));
  facts.Add("refused", RateText(numbers, "refused_per_s"));
  facts.Add("load", ShareText(numbers, "load") + " of what it can do, " +
                        (cores.is_null() ? "-" : used) + ", memory " +
                        FormatBytes(CountOf(numbers, "memory_bytes")));
  facts.Add("disk", FormatBytes(CountOf(numbers, "disk_bytes")) + ", " +
                        FormatBytes(CountOf(numbers, "disk_free_bytes")) + " free");
  return facts.ToString();
}

std::string ListsText(const Json& numbers, size_t rows) {
  if (!numbers.contains("slots")) {
    return "slots and buckets are shown to a token of the role admin\n";
  }
  Table slots({{"slots"},
               {"", Align::kRight},
               {"plays", Align::kRight},
               {"memory", Align::kRight},
               {"oldest opened (UTC)"}});
  for (const Json& one : ListOf(numbers, "slots")) {
    slots.Add({TextOf(one, "state"), FormatCount(CountOf(one, "slots")),
               FormatCount(CountOf(one, "plays")), FormatBytes(CountOf(one, "bytes")),
               FormatTimeMs(TimeOf(one, "oldest_ms"))});
  }
  Table buckets({{"collection"}, {"bucket"}, {"state"}, {"bytes", Align::kRight}});
  const Json& list = ListOf(numbers, "buckets");
  for (size_t i = 0; i < std::min(rows, list.size()); ++i) {
    buckets.Add({TextOf(list[i], "collection"), TextOf(list[i], "bucket"), TextOf(list[i], "state"),
                 FormatBytes(CountOf(list[i], "bytes"))});
  }
  std::string text = slots.ToString() + "\n" + buckets.ToString();
  if (list.size() > rows) text += "and " + FormatCount(list.size() - rows) + " smaller buckets\n";
  return text;
}

}  // namespace

Json TopNumbers(const TopLook& look) {
  const MetricsText& now = *look.now;
  Json numbers;
  const auto& build = now.Of("seendb_build_info");
  numbers["version"] = build.empty() ? std::string() : std::string(build.front().Label("version"));
  const double up_s = look.now_s - now.Sum("process_start_time_seconds");
  numbers["up_s"] = std::clamp(std::floor(up_s), 0.0, kSecondsMost);
  numbers["state"] = FlagOf(*look.ready, "degraded")     ? "degraded"
                     : FlagOf(*look.ready, "overloaded") ? "overloaded"
                                                         : "ready";
  numbers["problems"] = Json::array();
  for (const Json& problem : ListOf(*look.ready, "problems")) {
    if (problem.is_string()) numbers["problems"].push_back(problem);
  }
  AddRates(MetricsSpan(*look.before, now, look.seconds), &numbers);
  numbers["load"] = now.Sum("seendb_load_ratio", "of", "mean");
  const auto whole = [&](const char* metric) {
    return static_cast<uint64_t>(std::clamp(now.Sum(metric), 0.0, 9e18));
  };
  numbers["memory_bytes"] = whole("process_resident_memory_bytes");
  numbers["disk_bytes"] = whole("seendb_disk_bytes");
  numbers["disk_free_bytes"] = whole("seendb_disk_free_bytes");
  numbers["plays_in_memory"] = whole("seendb_ring_plays");
  if (look.ring != nullptr && look.buckets != nullptr) {
    numbers["slots"] = SlotsOf(*look.ring);
    numbers["buckets"] = BucketsOf(*look.buckets);
  }
  return numbers;
}

std::string TopText(const Json& numbers, size_t rows) {
  return HeadText(numbers) + "\n" + RatesText(numbers) + "\n" + ListsText(numbers, rows);
}

std::string Clipped(const std::string& text, size_t rows, size_t columns) {
  std::string out;
  size_t row = 0, column = 0;
  for (const char byte : text) {
    if (byte == '\n') {
      if (++row >= rows) break;
      column = 0;
      out += byte;
      continue;
    }
    if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) ++column;  // a code point begins
    if (column <= columns) out += byte;
  }
  return out;
}

}  // namespace seendb::tool
