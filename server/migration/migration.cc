#include "migration/migration.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "migrated/imported_users.h"
#include "migration/importer.h"
#include "migration/old_client.h"
#include "migration/old_store.h"
#include "migration/old_writer.h"
#include "migration/shadow.h"
#include "migration/taken.h"
#include "migration/write_queue.h"
#include "ops/log.h"

namespace seendb::migration {
namespace {

constexpr std::string_view kUntilNames[] = {"old_store", "degraded", "ignore"};

constexpr size_t kAffectedShown = 1'000;

/// The file that says that a migration was finished.
std::string FinishedPath(const std::string& db, const std::string& collection) {
  return migrated::FolderOf(db) + "/" + collection + ".finished";
}

Status MakeFile(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  const bool made = file >= 0 && fsync(file) == 0;
  const int why = errno;
  if (file >= 0) close(file);
  if (made) return {};
  return Status::IOError("make " + path + ": " + std::generic_category().message(why));
}

}  // namespace

/// What runs; in the order in which it is made.
struct Migration::Parts {
  std::unique_ptr<OldLink> link;
  std::unique_ptr<migrated::ImportedUsers> imported;
  std::unique_ptr<AffectedUsers> affected;
  std::unique_ptr<WriteQueue> queue;  // null: without dual_write
  Counters counters;
  Engine* engine = nullptr;
  std::unique_ptr<OldStore> old_store;
  std::unique_ptr<Importer> importer;
  std::unique_ptr<OldWriter> writer;  // null: without dual_write
  std::unique_ptr<Shadow> shadow;
};

Migration::Migration(ops::MigrationConfig config) : config_(std::move(config)) {}
Migration::~Migration() { Stop(); }

std::shared_ptr<Migration::Parts> Migration::parts() const {
  const MutexLock lock(parts_mutex_);
  return parts_;
}

/// What ran before ends here, or with the last call that uses it.
void Migration::SetParts(std::shared_ptr<Parts> parts) {
  const MutexLock lock(parts_mutex_);
  parts_.swap(parts);
}

Status Migration::Open(const std::string& db) {
  db_ = db;
  if (access(FinishedPath(db, config_.collection).c_str(), F_OK) == 0) {
    finished_ = true;
    return {};
  }
  auto parts = std::make_shared<Parts>();
  auto link = OldLink::Make(config_);
  if (!link.ok()) return link.status();
  parts->link = std::move(link).value();
  auto imported = migrated::ImportedUsers::Open(db, config_.collection, config_.key);
  if (!imported.ok()) return imported.status();
  parts->imported = std::move(imported).value();
  auto affected = AffectedUsers::Open(db, config_.collection);
  if (!affected.ok()) return affected.status();
  parts->affected = std::move(affected).value();
  if (config_.dual_write) {
    auto queue = WriteQueue::Open(db, config_.collection, config_.queue_bytes);
    if (!queue.ok()) return queue.status();
    parts->queue = std::move(queue).value();
  }
  opened_ = std::move(parts);
  return {};
}

void Migration::Start(Engine* engine) {
  const std::shared_ptr<Parts> running = std::exchange(opened_, nullptr);
  if (!running) return;
  running->engine = engine;
  running->old_store = std::make_unique<OldStore>(running->link.get(), &running->counters);
  running->importer = std::make_unique<Importer>(running->link.get(), engine, config_.collection,
                                                 running->imported.get(), &running->counters);
  if (running->queue) {
    running->writer =
        std::make_unique<OldWriter>(running->link.get(), running->queue.get(),
                                    running->affected.get(), &running->counters, config_.cap);
  }
  running->shadow = std::make_unique<Shadow>(running->link.get(), engine, config_.collection,
                                             &running->counters, config_.shadow);
  SetParts(running);
}

void Migration::Stop() { SetParts(nullptr); }

Migration::Need Migration::NeedOf(const FilterRequest& request) {
  // The old store knows of plays alone.
  if (config_.until_migrated == ops::UntilMigrated::kIgnore || (request.facts & kFactPlays) == 0) {
    return Need::kNothing;
  }
  const std::shared_ptr<Parts> running = parts();
  if (!running || running->imported->Has(request.user)) return Need::kNothing;
  running->importer->Want(request.user.ToString());
  return config_.until_migrated == ops::UntilMigrated::kOldStore ? Need::kOldStore
                                                                 : Need::kDegraded;
}

void Migration::Ask(Question question, OnAnswer on_answer) {
  if (const std::shared_ptr<Parts> running = parts()) {
    return running->old_store->Ask(std::move(question), std::move(on_answer));
  }
  on_answer(std::make_shared<const OldAnswer>());
}

Status Migration::NoteImported(std::string_view key, std::span<const IdRef> users) {
  const std::shared_ptr<Parts> running = parts();
  if (!running) return Status::Incompatible("the migration is finished", "/collection");
  if (key != config_.key) {
    return Status::Incompatible("the migration's keys are " + config_.key, "/key");
  }
  // Noted before, a power loss could take the plays and leave the note.
  const Status synced = running->engine->Sync();
  return synced.ok() ? running->imported->Add(users) : synced;
}

Status Migration::Forget(IdRef user) {
  const std::shared_ptr<Parts> running = parts();
  if (!running) return {};
  const std::string id = user.ToString();
  const OldWrite write{.kind = OldWrite::Kind::kDeleteKey, .user = id};
  if (running->queue && !running->queue->Append({&write, 1})) {
    return Status::Busy("the queue of writes to the old store is full");
  }
  return running->imported->Add({&user, 1});
}

Status Migration::ForgetAll() {
  const std::shared_ptr<Parts> running = parts();
  return running ? running->imported->Clear() : Status();
}

void Migration::ForgetItems(IdRef user, std::span<const IdRef> items) {
  const std::shared_ptr<Parts> running = parts();
  if (!running || !running->queue) return;
  const std::string id = user.ToString();
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const IdRef& item : items) texts.push_back(item.ToString());
  std::vector<OldWrite> writes;
  writes.reserve(texts.size());
  for (const std::string& text : texts) {
    writes.push_back({.kind = OldWrite::Kind::kDeleteItem, .user = id, .item = text});
  }
  if (!running->queue->Append(writes)) running->affected->Add(id);
}

void Migration::Took(std::span<const Play> plays, uint64_t refused,
                     std::span<const Refusal> refusals) {
  if (!config_.dual_write || plays.empty()) return;
  const std::shared_ptr<Parts> running = parts();
  if (!running) return;
  if (refused == 0) return Write(*running, plays);
  Write(*running, TakenOf(*running->engine, config_.collection, plays, refused, refusals));
}

/// Queues the plays; where that is full, says whose are lacking.
void Migration::Write(Parts& running, std::span<const Play> plays) {
  const int64_t now_ms = running.engine->NowMs();
  std::vector<std::string> texts;
  texts.reserve(2 * plays.size());  // so that they stay where they are
  std::vector<OldWrite> writes;
  writes.reserve(plays.size());
  for (const Play& play : plays) {
    const std::string& user = texts.emplace_back(play.user.ToString());
    const std::string& item = texts.emplace_back(play.item.ToString());
    writes.push_back({.at_ms = play.at_ms.value_or(now_ms), .user = user, .item = item});
  }
  if (writes.empty() || running.queue->Append(writes)) return;
  running.counters.Add(MigrationCount::kNotWritten, plays.size());
  for (const OldWrite& write : writes) running.affected->Add(write.user);
}

void Migration::Answered(const FilterRequest& request, const FilterResponse& response) {
  if (config_.shadow == 0 || response.degraded || (request.facts & kFactPlays) == 0) return;
  const std::shared_ptr<Parts> running = parts();
  if (!running) return;
  // Of who was not imported SeenDB's own answer is known to lack something.
  const bool ignored = config_.until_migrated == ops::UntilMigrated::kIgnore;
  if (!ignored && !running->imported->Has(request.user)) return;
  if (running->shadow->IsDue()) running->shadow->Offer(request, response);
}

Status Migration::Pause(bool paused) {
  const std::shared_ptr<Parts> running = parts();
  if (!running) return Status::Incompatible("the migration is finished", "/collection");
  paused_ = paused;
  running->importer->Pause(paused);
  running->shadow->Pause(paused);
  return {};
}

Status Migration::Finish() {
  if (finished_) return {};
  if (Status noted = MakeFile(FinishedPath(db_, config_.collection)); !noted.ok()) return noted;
  finished_ = true;
  Stop();
  ops::Log(ops::LogLevel::kInfo, "migration_finished", {{"collection", config_.collection}});
  Status removed = migrated::ImportedUsers::Remove(db_, config_.collection);
  if (removed.ok()) removed = WriteQueue::Remove(db_, config_.collection);
  return removed.ok() ? AffectedUsers::Remove(db_, config_.collection) : removed;
}

ops::MigrationState Migration::State() const {
  ops::MigrationState state;
  state.collection = config_.collection;
  state.key = config_.key;
  state.until_migrated = kUntilNames[static_cast<size_t>(config_.until_migrated)];
  state.dual_write = config_.dual_write;
  state.phase = finished_ ? "finished" : paused_ ? "paused" : "running";
  const std::shared_ptr<Parts> running = parts();
  if (!running) return state;
  state.redis = running->link->ToText();
  state.problem = running->link->problem();
  state.imported_users = running->imported->count();
  state.import_queue = running->importer->waiting();
  state.queue_bytes = running->queue ? running->queue->bytes() : 0;
  state.affected_users = running->affected->First(kAffectedShown);
  state.affected_count = running->affected->count();
  running->shadow->Samples(&state.missing_samples, &state.extra_samples);
  running->counters.Read(&state.counts);
  return state;
}

Migrations::Migrations(const std::vector<ops::MigrationConfig>& configs) {
  for (const ops::MigrationConfig& config : configs) {
    all_.emplace(config.collection, std::make_unique<Migration>(config));
  }
}

Status Migrations::Open(const std::string& db) {
  for (const auto& [collection, migration] : all_) {
    if (Status status = migration->Open(db); !status.ok()) {
      return {status.code(), "migration of " + collection + ": " + std::string(status.message()),
              "/migration/" + collection + std::string(status.field())};
    }
  }
  return {};
}

void Migrations::Start(Engine* engine) {
  for (const auto& [collection, migration] : all_) migration->Start(engine);
}

void Migrations::Stop() {
  for (const auto& [collection, migration] : all_) migration->Stop();
}

Migration* Migrations::Find(std::string_view collection) const {
  const auto found = all_.find(collection);
  return found == all_.end() ? nullptr : found->second.get();
}

Status Migrations::ForEach(std::string_view collection,
                           const std::function<Status(Migration&)>& change) {
  if (!collection.empty()) {
    Migration* const one = Find(collection);
    if (one != nullptr) return change(*one);
    return Status::NotFound("the settings have no migration of it", "/collection");
  }
  Status status;
  for (const auto& [name, migration] : all_) {
    if (status.ok()) status = change(*migration);
  }
  return status;
}

std::vector<ops::MigrationState> Migrations::States() const {
  std::vector<ops::MigrationState> states;
  for (const auto& [collection, migration] : all_) states.push_back(migration->State());
  return states;
}

}  // namespace seendb::migration
