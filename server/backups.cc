#include "backups.h"

#include "transfer/backup_routes.h"
#include "transfer/snapshot_routes.h"

namespace seendb {

transfer::StoreCopies CopiesOfStores(const api::Context& context) {
  return {{"items", [&](const std::string& folder) { return context.items.Checkpoint(folder); }},
          {"sets", [&](const std::string& folder) { return context.sets.Checkpoint(folder); }}};
}

Backups::Backups(const ops::Config& config, api::Context* context)
    : context_(*context), db_(config.db) {
  if (!config.cluster) {
    snapshots_.emplace(transfer::SnapshotSettings{.db = db_, .stores = CopiesOfStores(*context)});
  }
  context_.backup.state = [this](api::Call& call) {
    transfer::AnswerBackupState(db_, call.engine(), call);
  };
  context_.backup.shards = [this](api::Call& call) {
    if (snapshots_) return transfer::AnswerSnapshotCall(&*snapshots_, call);
    return context_.cluster->snapshots(call);  // the engine is open, so that the node is ready
  };
}

Part Backups::Row() {
  return {
      .name = "backups",
      .prepare = [this]() -> std::optional<int> {
        context_.backup.last.Load(db_);
        return {};
      },
      .finish =
          [this](Engine* engine) { return snapshots_ ? snapshots_->Start(engine) : Status::Ok(); },
      .stop =
          [this](int64_t) {
            if (snapshots_) snapshots_->Stop();
            return true;
          },
      .metrics = [this](auto* to) { to->last_backup = context_.backup.last.note(); }};
}

}  // namespace seendb
