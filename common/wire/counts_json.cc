#include "wire/counts_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "wire/events_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

constexpr std::array<std::string_view, kCountedSpansMs.size()> kSpans = {"1h", "1d", "7d", "30d"};
constexpr std::array<Fact, kFactCount> kFactsTold = {Fact::kServed, Fact::kExposed, Fact::kPlayed};

}  // namespace

void AppendCountMembers(const GroupCounts& group, std::string* out) {
  out->append("\"key\":");
  if (group.item.empty()) {
    AppendJsonString(group.group, out);
  } else {
    AppendJsonString(group.group + ":" + group.item, out);
    out->append(",\"item\":");
    AppendId(IdRef(group.item), out);
  }
  bool at_least = false;
  for (const Fact fact : kFactsTold) {
    const FactCounts& counts = group.by_fact[static_cast<size_t>(fact)];
    out->append(",\"").append(FactName(fact)).append("\":{");
    for (size_t i = 0; i < kSpans.size(); ++i) {
      out->append(i == 0 ? "\"" : ",\"").append(kSpans[i]).append("\":");
      out->append(std::to_string(counts.events[i]));
    }
    out->push_back('}');
    at_least = at_least || std::any_of(counts.at_least.begin(), counts.at_least.end(),
                                       [](bool one) { return one; });
  }
  if (at_least) out->append(",\"at_least\":true");
}

void AppendCounts(const CountsPage& page, std::string* out) {
  out->append("{\"counts\":[");
  for (size_t i = 0; i < page.groups.size(); ++i) {
    out->append(i == 0 ? "{" : ",{");
    AppendCountMembers(page.groups[i], out);
    out->push_back('}');
  }
  out->push_back(']');
  if (page.more) out->append(",\"more\":true");
  if (page.degraded) out->append(",\"degraded\":true,\"missing\":[\"counts\"]");
  out->push_back('}');
}

}  // namespace seendb::wire
