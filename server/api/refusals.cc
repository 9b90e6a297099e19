#include "api/refusals.h"

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::api {
namespace {

// By EventKind.
constexpr std::array<std::string_view, kEventKinds> kEvents = {
    "plays_refused", "impressions_refused", "exposures_refused"};

// `example`: the message of one of them.
void Note(RefusalLog* log, ops::CollectionCounters* counters, EventKind kind,
          std::string_view collection, size_t reason, uint64_t refused, std::string_view example) {
  if (refused == 0) return;
  auto& by_reason = kind == EventKind::kPlays         ? counters->plays_refused_by
                    : kind == EventKind::kImpressions ? counters->impressions_refused_by
                                                      : counters->exposures_refused_by;
  by_reason[reason].fetch_add(refused, std::memory_order_relaxed);
  RefusalLog::Line line;
  if (!log->Note(kind, reason, refused, std::chrono::steady_clock::now(), &line)) return;
  ops::Log(ops::LogLevel::kWarn, kEvents[static_cast<size_t>(kind)],
           {{"collection", collection},
            {"reason", line.reason},
            {"refused", line.refused},
            {"example", example}});
}

}  // namespace

bool RefusalLog::Note(EventKind kind, size_t reason, uint64_t refused, Time now, Line* line) {
  const MutexLock lock(mutex_);
  Row& row = rows_[static_cast<size_t>(kind)][reason];
  row.refused += refused;
  if (now < row.next) return false;
  *line = {kind, wire::RefusedByName(reason), row.refused};
  row = {0, now + kPause};
  return true;
}

void NoteRefused(RefusalLog* log, ops::CollectionCounters* counters, EventKind kind,
                 std::string_view collection, const RecordResult& result) {
  if (result.refused == 0) return;
  // Of a reason that none of the refusals described has, the name must do.
  std::array<std::string_view, kRefusalReasons> examples{};
  for (const Refusal& refusal : result.refusals) {
    std::string_view& example = examples[static_cast<size_t>(refusal.reason)];
    if (example.empty()) example = refusal.status.message();
  }
  for (size_t i = 0; i < kRefusalReasons; ++i) {
    Note(log, counters, kind, collection, i, result.refused_by[i], examples[i]);
  }
}

void NoteMalformed(RefusalLog* log, ops::CollectionCounters* counters, EventKind kind,
                   std::string_view collection, const Status& why) {
  Note(log, counters, kind, collection, wire::kMalformed, 1, why.message());
}

}  // namespace seendb::api
