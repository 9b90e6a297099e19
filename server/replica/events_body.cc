#include "replica/events_body.h"

namespace seendb::replica {

using cluster::LogKind;

bool HoldsEvents(LogKind kind) {
  return kind == LogKind::kPlays || kind == LogKind::kPlaysGrouped ||
         kind == LogKind::kImpressions || kind == LogKind::kImpressionsGrouped ||
         kind == LogKind::kExposures;
}

Status EventsBody::Read(LogKind kind, std::string_view value) {
  Status status;
  // The kinds from before groups refuse them, as nodes do that know no others.
  const bool grouped = kind == LogKind::kPlaysGrouped || kind == LogKind::kImpressionsGrouped;
  plays_.groups = served_.groups = grouped ? &groups_ : nullptr;
  if (kind == LogKind::kPlays || kind == LogKind::kPlaysGrouped) {
    status = wire::ParsePlays(value, &document_, &plays_);
    collection_ = plays_.collection;
  } else if (kind == LogKind::kExposures) {
    fact_ = Fact::kExposed;
    status = wire::ParseExposures(value, &document_, &exposed_);
    Take(exposed_.exposures, exposed_.collection);
  } else {
    fact_ = Fact::kServed;
    status = wire::ParseImpressions(value, cluster::kLogEventsMost, &document_, &served_);
    Take(served_.impressions, served_.collection);
  }
  return status;
}

template <typename Shown>
void EventsBody::Take(const std::vector<Shown>& shown, std::optional<std::string_view> collection) {
  collection_ = collection;
  for (const Shown& one : shown) {
    plays_.plays.push_back({.user = one.user,
                            .item = one.item,
                            .at_ms = one.at_ms,
                            .of = one.of,
                            .same_as = one.same_as});
    surfaces_.push_back(one.surface);
  }
}

}  // namespace seendb::replica
