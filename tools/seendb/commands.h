// seendb/commands.h: the tool's commands, one file each.

#pragma once

#include "session.h"

namespace seendb::tool {

/// Each adds its command to `app`; what it does is said in its own --help.
void AddInspect(Command app, Session& session);
void AddCheck(Command app, Session& session);
void AddBuckets(Command app, Session& session);
void AddReady(Command app, Session& session);
void AddRing(Command app, Session& session);
void AddStats(Command app, Session& session);
void AddTail(Command app, Session& session);
void AddTop(Command app, Session& session);
void AddCollections(Command app, Session& session);
void AddScan(Command app, Session& session);
void AddVerify(Command app, Session& session);
void AddRepair(Command app, Session& session);
void AddItems(Command app, Session& session);
void AddSets(Command app, Session& session);
void AddIngest(Command app, Session& session);
void AddPlan(Command app, Session& session);
void AddProduce(Command app, Session& session);
void AddRedis(Command app, Session& session);
void AddLoad(Command app, Session& session);
void AddGenerate(Command app, Session& session);
void AddSeal(Command app, Session& session);
void AddCompact(Command app, Session& session);
void AddDegrade(Command app, Session& session);
void AddDrain(Command app, Session& session);
void AddDropExpired(Command app, Session& session);
void AddCheckpoint(Command app, Session& session);
void AddBackup(Command app, Session& session);
void AddCluster(Command app, Session& session);
void AddHistory(Command app, Session& session);
void AddToken(Command app, Session& session);
void AddExport(Command app, Session& session);
void AddErase(Command app, Session& session);
void AddCompletion(Command app, Session& session);
void AddLdb(Command app, Session& session);

}  // namespace seendb::tool
