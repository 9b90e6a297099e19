// tests/model/steps.h: the function of each row of the table (action.h). Each follows the document
// engine/doc/consistency.md and keeps two books: what the engine has (Disk), by the steps that the
// document describes, and what is owed (Promise), by what it promises.

#pragma once

#include "model/action.h"

namespace seendb::model {

// ---- steps_record.cc: plays, impressions, filters with `record`, logs ----
bool Play(Step* step);
bool LatePlay(Step* step);
bool Impression(Step* step);
bool FilterAndRecord(Step* step);
bool FailWrite(Step* step);
bool Ingest(Step* step);
bool IngestAgain(Step* step);
bool IngestTorn(Step* step);
bool IngestKilled(Step* step);

// ---- steps_forget.cc: what users and operators take back ----
bool Delete(Step* step);
bool Clear(Step* step);
bool ClearWithFilter(Step* step);
bool Pause(Step* step);
bool Resume(Step* step);
bool Erase(Step* step);
bool Newcomer(Step* step);
bool Make(Step* step);
bool Remove(Step* step);

// ---- steps_upkeep.cc: ring, buckets, disk, clock ----
bool Rotate(Step* step);
bool BeginDrain(Step* step);
bool EndDrain(Step* step);
bool FailDrain(Step* step);
bool Seal(Step* step);
bool Drop(Step* step);
bool SyncAll(Step* step);
bool FailSync(Step* step);
bool Heal(Step* step);
bool BeginHeal(Step* step);
bool EndHeal(Step* step);
bool Forward(Step* step);
bool Back(Step* step);
bool Jump(Step* step);
bool Confirm(Step* step);

// ---- steps_restart.cc: processes that end, and shards that come and go ----
bool Reopen(Step* step);
bool Crash(Step* step);
bool PowerCut(Step* step);
bool Repair(Step* step);
bool Checkpoint(Step* step);
bool Restore(Step* step);
bool Detach(Step* step);
bool Attach(Step* step);
bool Replace(Step* step);
bool LetGo(Step* step);
bool AttachEmpty(Step* step);
bool AttachEmptyCut(Step* step);

}  // namespace seendb::model
