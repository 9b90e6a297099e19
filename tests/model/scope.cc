#include "model/scope.h"

#include <algorithm>

#include "model/action.h"

namespace seendb::model {
namespace {

constexpr uint64_t kDying = Of(Kind::kCrash, Kind::kPowerCut, Kind::kSync);
constexpr uint64_t kDraining = Of(Kind::kRotate, Kind::kBeginDrain, Kind::kEndDrain);
constexpr uint64_t kFailing = Of(Kind::kFailWrite, Kind::kFailSync, Kind::kFailDrain, Kind::kHeal);

constexpr Scope kScopes[] = {
    {.name = "ring",
     .what = "plays of two users, and slots that drain while one of them is erased",
     .actions = Of(Kind::kPlay, Kind::kErase, Kind::kNewcomer, Kind::kReopen) | kDraining | kDying,
     .users = 2,
     .slots = 3},
    {.name = "failures",
     .what = "disks that fail, and shards that heal",
     .actions = Of(Kind::kPlay, Kind::kErase, Kind::kNewcomer, Kind::kBeginHeal, Kind::kEndHeal) |
                kDraining | kDying | kFailing,
     .items = 2,
     .slots = 2},
    {.name = "history",
     .what = "deletions, clears and pauses, over two buckets",
     .actions = Of(Kind::kPlay, Kind::kLatePlay, Kind::kDelete, Kind::kClear, Kind::kPause,
                   Kind::kResume, Kind::kForward) |
                kDraining | Of(Kind::kCrash, Kind::kPowerCut),
     .buckets = 2},
    {.name = "forget",
     .what = "erasures and clears of filters, and plays that come late",
     .actions = Of(Kind::kPlay, Kind::kLatePlay, Kind::kImpression, Kind::kClearWithFilter,
                   Kind::kErase, Kind::kNewcomer, Kind::kForward) |
                kDraining | Of(Kind::kCrash, Kind::kPowerCut),
     .buckets = 2},
    {.name = "served",
     .what = "impressions and filters with `record`",
     .actions = Of(Kind::kPlay, Kind::kImpression, Kind::kFilterAndRecord, Kind::kDelete,
                   Kind::kErase, Kind::kNewcomer) |
                kDraining | kDying,
     .items = 2},
    {.name = "clock",
     .what = "a clock that goes on, back, or too far; buckets that are sealed and dropped",
     .actions = Of(Kind::kPlay, Kind::kErase, Kind::kNewcomer, Kind::kDrop, Kind::kForward,
                   Kind::kBack, Kind::kJump, Kind::kConfirm) |
                kDraining | Of(Kind::kPowerCut),
     .buckets = 3},
    {.name = "late",
     .what = "plays of older buckets, some of them sealed, dropped or too old",
     .actions =
         Of(Kind::kPlay, Kind::kLatePlay, Kind::kSeal, Kind::kDrop, Kind::kForward, Kind::kJump) |
         kDraining | Of(Kind::kPowerCut),
     .buckets = 3},
    {.name = "pages",
     .what = "filters with `record` whose clock is set back",
     .actions = Of(Kind::kImpression, Kind::kFilterAndRecord, Kind::kClearWithFilter, Kind::kErase,
                   Kind::kNewcomer, Kind::kForward, Kind::kBack) |
                kDying,
     .items = 2,
     .buckets = 3},
    {.name = "collections",
     .what = "collections that are made, removed and made again",
     .actions = Of(Kind::kPlay, Kind::kErase, Kind::kNewcomer, Kind::kMake, Kind::kRemove) |
                kDraining | kDying,
     .collections = 2,
     .makings = 2},
    {.name = "log",
     .what = "a log that is ingested into two shards, failures and repairs",
     .actions =
         Of(Kind::kIngest, Kind::kIngestAgain, Kind::kIngestTorn, Kind::kIngestKilled, Kind::kErase,
            Kind::kFailSync, Kind::kHeal, Kind::kBeginHeal, Kind::kEndHeal, Kind::kRepair) |
         kDraining | kDying,
     .users = 2,
     .shards = 2,
     .unsynced = 2,
     .messages = 2},
    {.name = "copies",
     .what = "a checkpoint, and the database that is opened of it",
     .actions = Of(Kind::kPlay, Kind::kErase, Kind::kCheckpoint, Kind::kRestore, Kind::kRepair,
                   Kind::kIngest) |
                kDraining | kDying,
     .messages = 2},
    {.name = "shards",
     .what = "shards that are detached and attached while collections come and go",
     .actions =
         Of(Kind::kPlay, Kind::kDetach, Kind::kAttach, Kind::kMake, Kind::kRemove, Kind::kCrash) |
         kDraining,
     .users = 2,
     .shards = 2,
     .makings = 2},
    {.name = "replaced",
     .what = "shards that give way to a copy",
     .actions = Of(Kind::kPlay, Kind::kDetach, Kind::kAttach, Kind::kReplace, Kind::kLetGo,
                   Kind::kAttachEmpty, Kind::kAttachEmptyCut, Kind::kCheckpoint, Kind::kFailWrite,
                   Kind::kHeal, Kind::kPowerCut),
     .users = 2,
     .shards = 2},
};

}  // namespace

std::span<const Scope> Scopes() { return kScopes; }

const Scope* FindScope(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kScopes), std::end(kScopes),
                                         [&](const Scope& one) { return one.name == name; });
  return found == std::end(kScopes) ? nullptr : found;
}

}  // namespace seendb::model
