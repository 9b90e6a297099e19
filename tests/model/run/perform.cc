#include "model/run/perform.h"

namespace seendb::model {
namespace {

constexpr PerformTable kTable = {{
    {Kind::kPlay, PerformPlay},
    {Kind::kLatePlay, PerformLatePlay},
    {Kind::kImpression, PerformImpression},
    {Kind::kFilterAndRecord, PerformFilterAndRecord},
    {Kind::kDelete, PerformDelete},
    {Kind::kClear, PerformClear},
    {Kind::kClearWithFilter, PerformClearWithFilter},
    {Kind::kPause, PerformPause},
    {Kind::kResume, PerformResume},
    {Kind::kErase, PerformErase},
    {Kind::kNewcomer, PerformNewcomer},
    {Kind::kMake, PerformMake},
    {Kind::kRemove, PerformRemove},
    {Kind::kRotate, PerformRotate},
    {Kind::kBeginDrain, PerformBeginDrain},
    {Kind::kEndDrain, PerformEndDrain},
    {Kind::kFailDrain, PerformFailDrain},
    {Kind::kSeal, PerformSeal},
    {Kind::kDrop, PerformDrop},
    {Kind::kSync, PerformSync},
    {Kind::kReopen, PerformReopen},
    {Kind::kCrash, PerformCrash},
    {Kind::kPowerCut, PerformPowerCut},
    {Kind::kFailWrite, PerformFailWrite},
    {Kind::kFailSync, PerformFailSync},
    {Kind::kHeal, PerformHeal},
    {Kind::kBeginHeal, PerformBeginHeal},
    {Kind::kEndHeal, PerformEndHeal},
    {Kind::kRepair, PerformRepair},
    {Kind::kCheckpoint, PerformCheckpoint},
    {Kind::kRestore, PerformRestore},
    {Kind::kDetach, PerformDetach},
    {Kind::kAttach, PerformAttach},
    {Kind::kReplace, PerformReplace},
    {Kind::kLetGo, PerformLetGo},
    {Kind::kAttachEmpty, PerformAttachEmpty},
    {Kind::kAttachEmptyCut, PerformAttachEmptyCut},
    {Kind::kForward, PerformForward},
    {Kind::kBack, PerformBack},
    {Kind::kJump, PerformJump},
    {Kind::kConfirm, PerformConfirm},
    {Kind::kIngest, PerformIngest},
    {Kind::kIngestAgain, PerformIngestAgain},
    {Kind::kIngestTorn, PerformIngestTorn},
    {Kind::kIngestKilled, PerformIngestKilled},
}};

constexpr bool IsInOrder(const PerformTable& table) {
  for (size_t at = 0; at < table.size(); ++at) {
    if (static_cast<size_t>(table[at].kind) != at || table[at].Do == nullptr) return false;
  }
  return true;
}
static_assert(IsInOrder(kTable), "a row is missing or misplaced");

}  // namespace

const PerformTable& Performs() { return kTable; }

Performed AnswerOf(World& world, const Status& status) {
  Performed done;
  done.what = status.ToString();
  switch (status.code()) {
    case StatusCode::kOk:
      break;
    case StatusCode::kBusy:
      done.answer = Answer::kBusy;
      break;
    case StatusCode::kIOError:
      done.answer = Answer::kIOError;
      break;
    case StatusCode::kUnavailable:
      done.answer = Answer::kUnavailable;
      break;
    default:
      world.trouble = "the answer is " + done.what;
  }
  return done;
}

}  // namespace seendb::model
