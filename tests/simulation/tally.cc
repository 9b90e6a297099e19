#include "simulation/tally.h"

#include <cmath>
#include <sstream>

namespace seendb::simulation {

void Tally::Add(const Tally& other) {
  months += other.months;
  for (size_t i = 0; i < kVerbs; ++i) done[i] += other.done[i];
  plays += other.plays;
  impressions += other.impressions;
  exposures += other.exposures;
  shown += other.shown;
  marks += other.marks;
  marked += other.marked;
  counted += other.counted;
  answers += other.answers;
  candidates += other.candidates;
  degraded += other.degraded;
  forgotten += other.forgotten;
  opened += other.opened;
  crashes += other.crashes;
  power_cuts += other.power_cuts;
  failures += other.failures;
  lost_calls += other.lost_calls;
  healed += other.healed;
  beside += other.beside;
  layers += other.layers;
  pages += other.pages;
  entries += other.entries;
  lookups += other.lookups;
  fresh += other.fresh;
  wrong += other.wrong;
  allowed += other.allowed;
  variance += other.variance;
  past += other.past;
  past_wrong += other.past_wrong;
  past_allowed += other.past_allowed;
  explained += other.explained;
  misnamed += other.misnamed;
  verified += other.verified;
  refuted += other.refuted;
  vouched += other.vouched;
  first_plays += other.first_plays;
  ingested += other.ingested;
  repeated += other.repeated;
}

bool Tally::WithinBudget() const {
  return static_cast<double>(wrong) <= allowed + 5 * std::sqrt(variance) + 3 &&
         static_cast<double>(past_wrong) <= 2 * past_allowed + 20 * std::sqrt(past_allowed) + 40;
}

std::string Tally::ToText() const {
  std::ostringstream out;
  out << "  months " << months << ", openings " << opened << ", crashes " << crashes
      << ", power cuts " << power_cuts << " (calls lost as promised " << lost_calls
      << "), failed operations " << failures << ", healed in place " << healed
      << " (operations until then " << beside << ")\n  plays " << plays << ", impressions "
      << impressions << ", exposures " << exposures << " (seen by them " << shown << "), marks "
      << marks << " (seen by them " << marked << "), events counted " << counted << ", answers "
      << answers << ", candidates " << candidates << ", degraded answers " << degraded
      << ", layers made " << layers << ", items beyond a ceiling " << forgotten
      << "\n  history: pages " << pages << ", entries " << entries << ", look-ups " << lookups
      << "\n  never sent " << fresh << ", called seen " << wrong << " (the budgets allow "
      << allowed << "); expired, erased or of another collection " << past << ", called seen "
      << past_wrong << " (" << past_allowed << "); reasons given " << explained << ", wrong bucket "
      << misnamed << "\n  verified answers " << verified << ", refuted " << refuted
      << ", never seen where history is whole " << vouched << "; first plays of a day "
      << first_plays << "; ingested " << ingested << ", repeated " << repeated << "\n ";
  for (size_t i = 0; i < kVerbs; ++i) {
    out << " " << NameOf(static_cast<Verb>(i)) << " " << done[i];
  }
  return out.str();
}

}  // namespace seendb::simulation
