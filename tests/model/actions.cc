#include <algorithm>
#include <sstream>

#include "model/action.h"
#include "model/steps.h"

namespace seendb::model {
namespace {

constexpr uint8_t kOfUser = kCollection | kUser, kOfItem = kOfUser | kItem;

constexpr Table kTable = {{
    {Kind::kPlay, "play", kOfItem, Play},
    {Kind::kLatePlay, "late-play", kOfItem | kBucket, LatePlay},
    {Kind::kImpression, "impression", kOfItem, Impression},
    {Kind::kFilterAndRecord, "filter-record", kOfUser, FilterAndRecord},
    {Kind::kDelete, "delete", kOfItem, Delete},
    {Kind::kClear, "clear", kOfUser, Clear},
    {Kind::kClearWithFilter, "clear-filter", kOfUser, ClearWithFilter},
    {Kind::kPause, "pause", kUser, Pause},
    {Kind::kResume, "resume", kUser, Resume},
    {Kind::kErase, "erase", kUser, Erase},
    {Kind::kNewcomer, "newcomer", kUser, Newcomer},
    {Kind::kMake, "make", kCollection, Make},
    {Kind::kRemove, "remove", kCollection, Remove},
    {Kind::kRotate, "rotate", kShard, Rotate},
    {Kind::kBeginDrain, "begin-drain", kShard, BeginDrain},
    {Kind::kEndDrain, "end-drain", kShard, EndDrain},
    {Kind::kFailDrain, "fail-drain", kShard, FailDrain},
    {Kind::kSeal, "seal", kCollection | kBucket, Seal},
    {Kind::kDrop, "drop", kNone, Drop},
    {Kind::kSync, "sync", kNone, SyncAll},
    {Kind::kReopen, "reopen", kNone, Reopen},
    {Kind::kCrash, "crash", kNone, Crash},
    {Kind::kPowerCut, "power-cut", kNone, PowerCut},
    {Kind::kFailWrite, "fail-write", kOfItem, FailWrite},
    {Kind::kFailSync, "fail-sync", kShard, FailSync},
    {Kind::kHeal, "heal", kShard, Heal},
    {Kind::kBeginHeal, "begin-heal", kShard, BeginHeal},
    {Kind::kEndHeal, "end-heal", kShard, EndHeal},
    {Kind::kRepair, "repair", kShard, Repair},
    {Kind::kCheckpoint, "checkpoint", kShard, Checkpoint},
    {Kind::kRestore, "restore", kNone, Restore},
    {Kind::kDetach, "detach", kShard, Detach},
    {Kind::kAttach, "attach", kShard, Attach},
    {Kind::kReplace, "replace", kShard, Replace},
    {Kind::kLetGo, "let-go", kShard, LetGo},
    {Kind::kAttachEmpty, "attach-empty", kShard, AttachEmpty},
    {Kind::kAttachEmptyCut, "attach-empty-cut", kShard, AttachEmptyCut},
    {Kind::kForward, "forward", kNone, Forward},
    {Kind::kBack, "back", kNone, Back},
    {Kind::kJump, "jump", kNone, Jump},
    {Kind::kConfirm, "confirm", kNone, Confirm},
    {Kind::kIngest, "ingest", kNone, Ingest},
    {Kind::kIngestAgain, "ingest-again", kNone, IngestAgain},
    {Kind::kIngestTorn, "ingest-torn", kNone, IngestTorn},
    {Kind::kIngestKilled, "ingest-killed", kNone, IngestKilled},
}};

constexpr bool IsInOrder(const Table& table) {
  for (size_t at = 0; at < table.size(); ++at) {
    if (static_cast<size_t>(table[at].kind) != at || table[at].Do == nullptr) return false;
  }
  return true;
}
static_assert(IsInOrder(kTable), "a row is missing or misplaced");

}  // namespace

const Table& Actions() { return kTable; }

const char* NameOf(Answer answer) {
  static constexpr const char* kNames[] = {"ok",   "refused",  "nothing",    "not recorded",
                                           "busy", "io error", "unavailable"};
  return kNames[static_cast<size_t>(answer)];
}

std::string Text(const Action& action) {
  const Row& row = Actions()[static_cast<size_t>(action.kind)];
  std::string text(row.name);
  if (row.over & kCollection) text += " c" + std::to_string(action.collection);
  if (row.over & kUser) text += " u" + std::to_string(action.user);
  if (row.over & kItem) text += " i" + std::to_string(action.item);
  if (row.over & kBucket) text += " b" + std::to_string(action.bucket);
  if (row.over & kShard) text += " s" + std::to_string(action.shard);
  return text;
}

std::optional<Action> ReadAction(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  const auto* const row = std::find_if(Actions().begin(), Actions().end(),
                                       [&](const Row& one) { return one.name == word; });
  if (row == Actions().end()) return {};
  Action action{row->kind};
  while (words >> word) {
    if (word.size() != 2 || word[1] < '0' || word[1] > '9') return {};
    const auto value = static_cast<uint8_t>(word[1] - '0');
    const bool known = (word[0] == 'c' && value < kCollections) ||
                       (word[0] == 'u' && value < kUsers) || (word[0] == 'i' && value < kItems) ||
                       (word[0] == 'b' && value < kBuckets) || (word[0] == 's' && value < kShards);
    if (!known) return {};
    (word[0] == 'c'   ? action.collection
     : word[0] == 'u' ? action.user
     : word[0] == 'i' ? action.item
     : word[0] == 'b' ? action.bucket
                      : action.shard) = value;
  }
  return action;
}

Action Renamed(const Scope& scope, const Action& action, const Names& names) {
  const uint8_t over = Actions()[static_cast<size_t>(action.kind)].over;
  Action renamed = action;
  if (names.users && (over & kUser) != 0) renamed.user ^= 1;
  if (names.items && (over & kItem) != 0) renamed.item ^= 1;
  if (names.users && scope.shards == 2 && (over & kShard) != 0) renamed.shard ^= 1;
  return renamed;
}

}  // namespace seendb::model
