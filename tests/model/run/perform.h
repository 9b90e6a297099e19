// tests/model/run/perform.h: what each action of the model is on a real engine: a second table, in
// the order of the first (model/action.h). One function an action.

#pragma once

#include <array>
#include <string>

#include "model/action.h"
#include "model/run/world.h"

namespace seendb::model {

/// The engine's answer to an action. Not every call tells `nothing` from `ok`.
struct Performed {
  Answer answer = Answer::kOk;
  bool nothing_is_told = false;  ///< where there was nothing to do the call says so
  std::string what;              ///< the status, for people
};

/// A row of the table.
struct PerformRow {
  Kind kind;
  Performed (*Do)(World& world, const Action& action);
};
using PerformTable = std::array<PerformRow, kKinds>;
const PerformTable& Performs();

/// Takes a status for an answer of the model; any other one becomes `trouble`.
Performed AnswerOf(World& world, const Status& status);

// ---- perform_record.cc ----
Performed PerformPlay(World& world, const Action& action);
Performed PerformLatePlay(World& world, const Action& action);
Performed PerformImpression(World& world, const Action& action);
Performed PerformFilterAndRecord(World& world, const Action& action);
Performed PerformFailWrite(World& world, const Action& action);
Performed PerformIngest(World& world, const Action& action);
Performed PerformIngestAgain(World& world, const Action& action);
Performed PerformIngestTorn(World& world, const Action& action);
Performed PerformIngestKilled(World& world, const Action& action);
/// The offset that is to be read next; nothing: not known.
std::optional<int64_t> NextOffset(World& world);

// ---- perform_forget.cc ----
Performed PerformDelete(World& world, const Action& action);
Performed PerformClear(World& world, const Action& action);
Performed PerformClearWithFilter(World& world, const Action& action);
Performed PerformPause(World& world, const Action& action);
Performed PerformResume(World& world, const Action& action);
Performed PerformErase(World& world, const Action& action);
Performed PerformNewcomer(World& world, const Action& action);
Performed PerformMake(World& world, const Action& action);
Performed PerformRemove(World& world, const Action& action);

// ---- perform_upkeep.cc ----
Performed PerformRotate(World& world, const Action& action);
Performed PerformBeginDrain(World& world, const Action& action);
Performed PerformEndDrain(World& world, const Action& action);
Performed PerformFailDrain(World& world, const Action& action);
Performed PerformSeal(World& world, const Action& action);
Performed PerformDrop(World& world, const Action& action);
Performed PerformSync(World& world, const Action& action);
Performed PerformFailSync(World& world, const Action& action);
Performed PerformHeal(World& world, const Action& action);
Performed PerformBeginHeal(World& world, const Action& action);
Performed PerformEndHeal(World& world, const Action& action);
Performed PerformForward(World& world, const Action& action);
Performed PerformBack(World& world, const Action& action);
Performed PerformJump(World& world, const Action& action);
Performed PerformConfirm(World& world, const Action& action);

// ---- perform_restart.cc ----
Performed PerformReopen(World& world, const Action& action);
Performed PerformCrash(World& world, const Action& action);
Performed PerformPowerCut(World& world, const Action& action);
Performed PerformRepair(World& world, const Action& action);
Performed PerformCheckpoint(World& world, const Action& action);
Performed PerformRestore(World& world, const Action& action);
Performed PerformDetach(World& world, const Action& action);
Performed PerformAttach(World& world, const Action& action);
Performed PerformReplace(World& world, const Action& action);
Performed PerformLetGo(World& world, const Action& action);
Performed PerformAttachEmpty(World& world, const Action& action);
Performed PerformAttachEmptyCut(World& world, const Action& action);

}  // namespace seendb::model
