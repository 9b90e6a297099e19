#include "migration/migration.h"

#include <algorithm>
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
#include "migration/write_queues.h"
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

namespace {

/// Plays as changes of keys, with the texts that they view. One without a time has `now_ms`.
struct PlayWrites {
  PlayWrites(std::span<const Play> plays, int64_t now_ms) {
    texts.reserve(2 * plays.size());  // so that they stay where they are
    writes.reserve(plays.size());
    for (const Play& play : plays) {
      const std::string& user = texts.emplace_back(play.user.ToString());
      const std::string& item = texts.emplace_back(play.item.ToString());
      writes.push_back({.at_ms = play.at_ms.value_or(now_ms), .user = user, .item = item});
    }
  }
  std::vector<std::string> texts;
  std::vector<OldWrite> writes;
};

}  // namespace

/// What runs; in the order in which it is made.
struct Migration::Parts {
  std::unique_ptr<OldLink> link;
  std::unique_ptr<migrated::ImportedUsers> imported;
  std::unique_ptr<AffectedUsers> affected;
  std::unique_ptr<WriteQueues> queues;  // null: without dual_write
  Counters counters;
  Engine* engine = nullptr;
  const ClusterNode* node = nullptr;  // null: a server by itself
  std::unique_ptr<OldStore> old_store;
  std::unique_ptr<Importer> importer;
  std::unique_ptr<OldWriter> writer;  // null: without dual_write
  std::unique_ptr<Shadow> shadow;

  /// Null: there is none.
  WriteQueue* QueueOf(const std::optional<LogPlace>& place) const {
    if (!queues) return nullptr;
    return queues->Of(place ? WriteQueue::Partition(place->partition) : std::nullopt);
  }
  bool Append(std::span<const OldWrite> writes, const std::optional<LogPlace>& place) const {
    WriteQueue* const queue = QueueOf(place);
    const bool taken = queue != nullptr && queue->Append(writes, place ? place->offset : 0);
    writer->Wake();
    return taken;
  }
  /// Queues the plays; where that is full, says whose are lacking.
  void Write(std::span<const Play> plays, const std::optional<LogPlace>& place) {
    if (plays.empty()) return;
    const PlayWrites all(plays, NowOf(place));
    if (!Append(all.writes, place)) SayNotWritten(plays);
  }
  void SayNotWritten(std::span<const Play> plays) {
    counters.Add(MigrationCount::kNotWritten, plays.size());
    for (const Play& play : plays) affected->Add(play.user.ToString());
  }
  int64_t NowOf(const std::optional<LogPlace>& place) const {
    return place ? place->arrival_ms : engine->NowMs();
  }
  // Noted before, a power loss could take the plays and leave the note.
  Status SyncAndNote(std::span<const IdRef> users) const {
    const Status synced = engine->Sync();
    return synced.ok() ? imported->Add(users) : synced;
  }
  Importer::Sink Sink(const ops::MigrationConfig& config) const {
    if (node != nullptr) {
      return {.record =
                  [this, &config](std::span<const Play> plays) {
                    return node->record(config.collection, plays);
                  },
              .note =
                  [this, &config](std::span<const IdRef> users) {
                    return node->note(config.collection, config.key, users);
                  }};
    }
    return {.record = [this, &config](std::span<const Play> plays) -> Result<uint64_t> {
              const auto recorded = engine->RecordPlays(plays, {.collection = config.collection});
              if (!recorded.ok()) return recorded.status();
              return recorded->refused;
            },
            .note = [this](std::span<const IdRef> users) { return SyncAndNote(users); }};
  }
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
    auto queues = WriteQueues::Open(db, config_.collection, config_.queue_bytes);
    if (!queues.ok()) return queues.status();
    parts->queues = std::move(queues).value();
  }
  opened_ = std::move(parts);
  return {};
}

void Migration::Start(Engine* engine, const ClusterNode* node) {
  const std::shared_ptr<Parts> running = std::exchange(opened_, nullptr);
  if (!running) return;
  running->engine = engine;
  running->node = node;
  running->old_store = std::make_unique<OldStore>(running->link.get(), &running->counters);
  running->importer =
      std::make_unique<Importer>(running->link.get(), running->Sink(config_), &running->counters);
  if (running->queues) {
    running->writer =
        std::make_unique<OldWriter>(OldWriter::Context{.link = running->link.get(),
                                                       .queues = running->queues.get(),
                                                       .affected = running->affected.get(),
                                                       .counters = &running->counters,
                                                       .engine = engine,
                                                       .collection = config_.collection,
                                                       .cap = config_.cap,
                                                       .node = node});
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

Status Migration::CheckKey(std::string_view key) const {
  if (finished_) return Status::Incompatible("the migration is finished", "/collection");
  if (key == config_.key) return {};
  return Status::Incompatible("the migration's keys are " + config_.key, "/key");
}

Status Migration::NoteImported(std::string_view key, std::span<const IdRef> users, bool everybody) {
  const std::shared_ptr<Parts> running = parts();
  if (const Status fits = CheckKey(key); !fits.ok() || !running) return fits;
  if (const ClusterNode* const node = running->node) {
    const Status noted = node->note(config_.collection, key, users);
    return noted.ok() && everybody ? node->note_everybody(config_.collection, key) : noted;
  }
  const Status noted = running->SyncAndNote(users);
  return noted.ok() && everybody ? running->imported->AddEverybody() : noted;
}

// The log has the plays, and before the note: what a power loss takes comes again from there.
Status Migration::NoteByLog(std::string_view key, std::span<const IdRef> users, bool everybody) {
  const std::shared_ptr<Parts> running = parts();
  if (const Status fits = CheckKey(key); !fits.ok() || !running) return fits;
  const Status noted = running->imported->Add(users, migrated::Survives::kKill);
  return noted.ok() && everybody ? running->imported->AddEverybody() : noted;
}

Status Migration::Forget(IdRef user, const std::optional<LogPlace>& place) {
  const std::shared_ptr<Parts> running = parts();
  if (!running) return {};
  const std::string id = user.ToString();
  const OldWrite write{
      .kind = OldWrite::Kind::kDeleteKey, .at_ms = place ? place->arrival_ms : 0, .user = id};
  if (running->queues && !running->Append({&write, 1}, place)) {
    return Status::Busy("the queue of writes to the old store is full");
  }
  return running->imported->Add({&user, 1});
}

Status Migration::ForgetAll() {
  const std::shared_ptr<Parts> running = parts();
  return running ? running->imported->Clear() : Status();
}

void Migration::ForgetItems(IdRef user, std::span<const IdRef> items,
                            const std::optional<LogPlace>& place) {
  const std::shared_ptr<Parts> running = parts();
  if (!running || !running->queues) return;
  const std::string id = user.ToString();
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const IdRef& item : items) texts.push_back(item.ToString());
  std::vector<OldWrite> writes;
  writes.reserve(texts.size());
  for (const std::string& text : texts) {
    writes.push_back({.kind = OldWrite::Kind::kDeleteItem, .user = id, .item = text});
  }
  if (!running->Append(writes, place)) running->affected->Add(id);
}

void Migration::Took(std::span<const Play> plays, uint64_t refused,
                     std::span<const Refusal> refusals) {
  if (!config_.dual_write || plays.empty()) return;
  const std::shared_ptr<Parts> running = parts();
  if (!running) return;
  if (refused == 0) return running->Write(plays, {});
  running->Write(TakenOf(*running->engine, config_.collection, plays, refused, refusals), {});
}

OnRecorded Migration::Stage(std::span<const Play> plays, const std::optional<LogPlace>& place) {
  if (!config_.dual_write || plays.empty()) return nullptr;
  const std::shared_ptr<Parts> running = parts();
  if (!running) return nullptr;
  WriteQueue* const queue = running->QueueOf(place);
  const PlayWrites all(plays, running->NowOf(place));
  const bool staged = queue != nullptr && queue->Stage(all.writes, place ? place->offset : 0);
  return [this, running, queue, plays, place, staged](const IngestResult* result) {
    const uint64_t others = result == nullptr ? 0 : result->refused + result->repeated;
    const bool recorded = result != nullptr && others == 0;
    if (recorded && !staged) running->SayNotWritten(plays);
    if (others > 0) {
      running->Write(TakenOf(*running->engine, config_.collection, plays, others, result->refusals),
                     place);
    }
    if (queue != nullptr) queue->Settle(recorded);
    running->writer->Wake();
  };
}

std::optional<int64_t> Migration::FirstToWrite(uint32_t partition) const {
  const std::shared_ptr<Parts> running = parts();
  if (!running || !running->queues) return std::nullopt;
  const WriteQueue* const queue = running->queues->Find(partition);
  return queue == nullptr ? std::nullopt : queue->front();
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

ops::MigrationLoss Migration::LossOf(const std::shared_ptr<Parts>& running) const {
  ops::MigrationLoss loss;
  if (!running) return loss;
  loss.queue_bytes = running->queues ? running->queues->bytes() : 0;
  loss.affected_users = running->affected->count();
  // Who is not to be asked for needs no past.
  if (config_.until_migrated == ops::UntilMigrated::kIgnore) return loss;
  loss.import_queue = running->importer->waiting();
  loss.not_everybody = !running->imported->everybody();
  return loss;
}

Status Migration::CheckFinished() const {
  const ops::MigrationLoss loss = LossOf(parts());
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  if (loss.queue_bytes > 0) {
    add(std::to_string(loss.queue_bytes) + " bytes of plays wait for the old store");
  }
  if (loss.affected_users > 0) {
    add("it lacks plays of " + std::to_string(loss.affected_users) +
        " users (affected_users), and will");
  }
  if (loss.import_queue > 0) {
    add(std::to_string(loss.import_queue) + " users are about to be imported");
  }
  if (loss.not_everybody) {
    add("no import (seendb redis import) has read all its keys to their end, with exit code 0: one "
        "that ended with 8 refused more than its --max-refused allows");
  }
  if (text.empty()) return {};
  return Status::Incompatible("collection \"" + config_.collection + "\": " + text +
                                  "; wait, or say \"force\":true (--force) to lose that",
                              "/force");
}

Status Migration::Finish() {
  if (finished_.exchange(true)) return {};
  if (Status noted = MakeFile(FinishedPath(db_, config_.collection)); !noted.ok()) {
    finished_ = false;
    return noted;
  }
  const std::shared_ptr<Parts> running = parts();
  Stop();
  const ops::MigrationLoss loss = LossOf(running);  // nothing comes to it any more
  {
    const MutexLock lock(parts_mutex_);
    dropped_ = loss;
  }
  ops::Log(ops::LogLevel::kInfo, "migration_finished",
           {{"collection", config_.collection},
            {"queue_bytes", loss.queue_bytes},
            {"affected_users", loss.affected_users},
            {"import_queue", loss.import_queue},
            {"not_everybody", loss.not_everybody}});
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
  {
    const MutexLock lock(parts_mutex_);
    state.dropped = dropped_;
  }
  const std::shared_ptr<Parts> running = parts();
  if (!running) return state;
  state.everybody_imported = running->imported->everybody();
  if (running->node == nullptr) state.notes = running->imported->id();
  state.redis = running->link->ToText();
  state.problem = running->link->problem();
  state.imported_users = running->imported->count();
  state.import_queue = running->importer->waiting();
  state.queue_bytes = running->queues ? running->queues->bytes() : 0;
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

void Migrations::Start(Engine* engine, const ClusterNode* node) {
  for (const auto& [collection, migration] : all_) migration->Start(engine, node);
}

void Migrations::Stop() {
  for (const auto& [collection, migration] : all_) migration->Stop();
}

Migration* Migrations::Find(std::string_view collection) const {
  const auto found = all_.find(collection);
  return found == all_.end() ? nullptr : found->second.get();
}

void Migrations::Passed(uint32_t partition, int64_t from, int64_t next) {
  const MutexLock lock(mutex_);
  Offsets& passed = passed_[partition];
  if (passed.to != from) passed.from = next - 1;  // what lies between was not passed on here
  passed.to = next;
}

// What was passed on is read first: a queue that is empty afterwards has had all of it.
std::map<uint32_t, Offsets> Migrations::Written() const {
  std::map<uint32_t, Offsets> written;
  {
    const MutexLock lock(mutex_);
    written = passed_;
  }
  for (const auto& [collection, migration] : all_) {
    for (auto& [partition, offsets] : written) {
      if (const auto first = migration->FirstToWrite(partition)) {
        offsets.to = std::min(offsets.to, *first);
      }
    }
  }
  return written;
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
