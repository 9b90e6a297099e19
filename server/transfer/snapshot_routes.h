// server/transfer/snapshot_routes.h: copies of shards over HTTP, between nodes:
//
//   POST   /internal/shards/{partition}/snapshot              a copy is made: its manifest
//   GET    /internal/shards/{partition}/snapshot/{id}/{file}  with Range: part of a file
//   DELETE /internal/shards/{partition}/snapshot/{id}         the copy ends
//
// In place of the number of a partition stands the name of a store beside the shards, for backups.

#pragma once

#include "api/context.h"
#include "transfer/snapshots.h"

namespace seendb::transfer {

/// Answers a call of one of these routes. `snapshots` must outlive the answer.
http::Task<> AnswerSnapshotCall(Snapshots* snapshots, api::Call& call);

}  // namespace seendb::transfer
