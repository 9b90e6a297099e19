// seendb/commands.h: the tool's commands, one file each.

#pragma once

#include "session.h"

namespace seendb::tool {

/// Each adds its command to `app`; what it does is said in its own --help.
void AddInspect(CLI::App& app, Session& session);
void AddCheck(CLI::App& app, Session& session);
void AddBuckets(CLI::App& app, Session& session);
void AddReady(CLI::App& app, Session& session);
void AddRing(CLI::App& app, Session& session);
void AddStats(CLI::App& app, Session& session);
void AddCollections(CLI::App& app, Session& session);
void AddScan(CLI::App& app, Session& session);
void AddVerify(CLI::App& app, Session& session);
void AddRepair(CLI::App& app, Session& session);
void AddIngest(CLI::App& app, Session& session);
void AddProduce(CLI::App& app, Session& session);
void AddLoad(CLI::App& app, Session& session);
void AddGenerate(CLI::App& app, Session& session);
void AddSeal(CLI::App& app, Session& session);
void AddCompact(CLI::App& app, Session& session);
void AddDrain(CLI::App& app, Session& session);
void AddDropExpired(CLI::App& app, Session& session);
void AddCheckpoint(CLI::App& app, Session& session);
void AddHistory(CLI::App& app, Session& session);
void AddExport(CLI::App& app, Session& session);
void AddErase(CLI::App& app, Session& session);
void AddLdb(CLI::App& app, Session& session);

}  // namespace seendb::tool
