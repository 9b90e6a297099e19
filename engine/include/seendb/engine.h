// seendb/engine.h: the embeddable SeenDB engine.
//
// An Engine remembers, for every user, which items were served and which were watched, and answers
// which of a few thousand candidates a user has not seen. It owns a directory: a RocksDB a shard.
//
//   auto engine = seendb::Engine::Open("/var/lib/seendb", {}).value();
//   seendb::Play play{seendb::IdRef("u1"), seendb::IdRef("v1")};
//   auto recorded = engine->RecordPlays({&play, 1});
//   seendb::IdRef items[] = {seendb::IdRef("v1"), seendb::IdRef("v2")};
//   seendb::FilterRequest request{.user = play.user, .items = items};
//   seendb::FilterResponse answer;
//   seendb::Status s = engine->Filter(request, &answer);  // answer.unseen == {1}
//
// Promises. A play that RecordPlays accepted is visible to the next Filter and survives a killed
// process; against power loss the collection's durability decides (see consistency.md). An item
// played within the window is never answered unseen, unless the answer says `degraded` or the
// user's ceiling was reached. False positives stay within the policy's fpr over the window.
//
// Threads: every member function may be called from any thread at once; Close and the destructor
// only when no other call runs. Errors: each function's Status; kClosed after Close. A shard whose
// disk failed is closed and opened anew: calls for its users wait for 250 ms, and answer
// kUnavailable then, with nothing written in that shard; Filter is answered from memory,
// `degraded`. A shard that is not among Options::owned, or was detached, is absent: calls for its
// users, Filter too, answer kUnavailable; calls for several users do so before anything is
// written; calls for no user concern the other shards, unless they say otherwise.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/attach.h"
#include "seendb/counts.h"
#include "seendb/cxx20.h"
#include "seendb/events.h"
#include "seendb/filter_dump.h"
#include "seendb/history.h"
#include "seendb/ingest.h"
#include "seendb/marks.h"
#include "seendb/options.h"
#include "seendb/policy.h"
#include "seendb/report.h"
#include "seendb/status.h"
#include "seendb/user_sets.h"

namespace seendb {
struct Seams;  // engine/seams.h, not installed: injected clock and file system

/// The database: see the head of this file.
class Engine : public UserMarks, public UserCounts, public UserSets, public FilterDumps {
 public:
  /// Opens or makes the database in `path` and replays its journal. Blocks until every shard is
  /// replayed (but see Options::open_later). kNotFound: none there and !create_if_missing. kBusy:
  /// another process has it open. kIncompatible: made with other shards, hash, operators or a newer
  /// format. kCorruption: synced records are missing and !open_damaged.
  static Result<std::unique_ptr<Engine>> Open(const std::string& path, const Options& options);
  /// The same with an injected clock or file system, which must outlive the engine.
  static Result<std::unique_ptr<Engine>> Open(const std::string& path, const Options& options,
                                              const Seams& seams);
  /// After an Open with Options::open_later, once: opens the shards and replays their journals, as
  /// many at once as there are processors, at least four, and blocks until it is done. A shard
  /// answers as soon as it is replayed; until then calls that need it are kUnavailable, and
  /// AttachedShards does not name it. A collection that is not known is kUnavailable too: a shard
  /// may know it. Collections, and which shards there are, can't be changed before it has returned
  /// (kUnavailable). On failure the engine is to be closed.
  virtual Status FinishOpening() = 0;

  /// Closes, if Close was not called; a failure is lost.
  virtual ~Engine() = default;

  /// Records a batch of plays of one collection. An ill-formed id anywhere: kInvalidArgument
  /// with field "/<index>/user" or "/<index>/item", nothing changed. A play outside retention,
  /// beyond max_future or not after its user's erasure, or the clearing of the user's filter, is
  /// refused and counted. kUnavailable: a play is older than retention by a clock in doubt
  /// (ConfirmClock), nothing changed. kBusy: the ring is full, nothing changed (of a batch of more
  /// than 65,536, a first part may be recorded). kIOError: part may be recorded. Repeating a batch
  /// is harmless. Where the policy says first_of_day a malformed Play::day is kInvalidArgument too
  /// ("/<index>/day"); where it keeps history a malformed Watch ("/<index>/progress_s", and so on
  /// for duration_s, device, fields), which is not looked at elsewhere. Cost: one log write a shard
  /// touched; no reads, but with first_of_day one point read a user whose plays don't carry today
  /// and who is not known to be active.
  virtual Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                           const RecordOptions& options = {}) = 0;
  /// Records served items, visible at once; the newest Policy::impressions are kept, newest by
  /// time, then by call, then by position. With served_is_seen they are recorded as plays too.
  /// Errors and durability as RecordPlays; a malformed surface too ("/<index>/surface").
  virtual Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                                 const RecordOptions& options = {}) = 0;
  /// The same of items that were on screen; Policy::exposures says which are kept. kIncompatible:
  /// the first of a collection would need more than Options::max_column_families.
  virtual Result<RecordResult> RecordExposures(std::span<const Exposure> exposures,
                                               const RecordOptions& options = {}) = 0;

  /// Records events out of a log and how far it was read: each shard in one write, leaving out
  /// what it has (see ingest.h). kInvalidArgument: an ill-formed id or step, too many events,
  /// nothing changed. kBusy: the ring is full, the outbox is (Options::outbox_max), or a shard
  /// comes back from a failure, nothing changed. kIncompatible (field "/sources/<index>/from"): a
  /// shard stored less than SourceStep::from, nothing changed; read again from what Sources() says.
  /// kUnavailable: an event is too old by a clock in doubt, nothing changed. kIOError: some shards
  /// may have it. After any failure repeating the same call, in this process or after a restart,
  /// counts nothing twice. Durability as RecordPlays: after a power loss a shard has a prefix of
  /// its calls, offsets included. kUnavailable: a shard that the batch goes to is absent, nothing
  /// changed. With partition_is_shard it goes to the shards of its partitions alone; an event of
  /// another shard's user is kInvalidArgument ("/<index>/user"). Cost: one log write a shard.
  virtual Result<IngestResult> Ingest(const IngestBatch& batch) = 0;
  /// Every source, by topic and partition. Waits for no shard.
  virtual std::vector<SourceInfo> Sources() = 0;
  /// Forgets all sources of a topic, what they counted and its rows of the outbox, synced: for a
  /// topic that was made anew. kNotFound: none known. kUnavailable: a shard is absent (not with
  /// Options::as_found), or is being opened anew; nothing changed, unless that began meanwhile:
  /// then the same call forgets the rest. Not while the topic is being ingested.
  virtual Status ForgetTopic(std::string_view topic) = 0;
  /// Sources with rows in the outbox (seendb/ingest.h), by shard, topic and partition. Reads no
  /// disk; a shard that is being opened anew is left out.
  virtual std::vector<OutboxSource> OutboxSources() = 0;
  /// Reads rows of `source` with an offset beyond `after` (-1: all), ascending, into `*rows`
  /// (cleared first), until they have `limit` first plays. No play of a user that was erased since
  /// is among them. The rows stay. kUnavailable: the shard is being opened anew. Cost: one seek.
  virtual Status ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                            std::vector<OutboxRow>* rows) = 0;
  /// Deletes rows that were told; those that are gone are passed over. Not synced: after a power
  /// loss they may be there again. Failures as those of RecordPlays: some may be deleted. Cost: a
  /// look-up per row, and one log write per shard.
  virtual Status DeleteOutbox(std::span<const OutboxRow> told) = 0;
  /// Answers which of request.items are unseen, into `*response` (cleared first). kInvalidArgument:
  /// an empty or over-long id (field "/items/3"), too many items, no facts, or a question for what
  /// there is not ("/not/0/window"). kUnavailable: on_error is kFail and something could not be
  /// read in time. With `record`: waits for other recording requests of the same user, up to the
  /// deadline; where that ends before the turn came the answer is that of a deadline, and nothing
  /// is recorded. Where recording fails (the ring is full, or the disk fails) the answer stands and
  /// `recorded` is false: part of it may be recorded. kBusy: 64 of the user (or 4,096 of the shard)
  /// wait. Candidates are checked for length only: bytes that are not UTF-8 can't have been
  /// recorded. Cost: one point read a bucket of the window, one for impressions; then 2-10 ns a
  /// candidate and bucket. With `verify`, items that the ring, a list or a Bloom filter has as
  /// played are looked up in the collection's history. Such a hit is overruled only if history is
  /// complete for its bucket, and has the item neither there nor in a newer one (consistency.md,
  /// "Verified answers"): `verify` never turns a played item into an unseen one. Impressions that
  /// keep ids are compared with them. Cost: one batched read of those items a bucket of history,
  /// about as many point reads as items are seen; none once the deadline has passed.
  virtual Status Filter(const FilterRequest& request, FilterResponse* response) = 0;
  /// Everything held about a user, in one collection or (empty name) in all.
  virtual Result<UserReport> Inspect(IdRef user, std::string_view collection = {}) = 0;

  /// Forgets a user everywhere, ring included, synced before it returns. Plays whose time is not
  /// after the erasure are refused from then on. If known plays lie ahead of the clock, the newest
  /// of them is the time of the erasure, at most the longest max_future ahead (Erasure::until_ms).
  /// If nothing is held of the user (plays, impressions, staged or drained, history, settings, an
  /// earlier erasure), nothing is written, and no play is refused. That is decided while nobody
  /// else writes into the shard. The erasure is written all the same where something can't be read
  /// or was lost; where the database knows offsets of a log (Sources), which may still have plays
  /// of the user; and with EraseOptions::always. `erasure` may be null. Cost: two point reads per
  /// bucket; for an unknown user once more, in memory, while the shard's writers wait.
  virtual Status EraseUser(IdRef user, const EraseOptions& options = {},
                           Erasure* erasure = nullptr) = 0;

  /// What the user watched, newest first, merged over collections, into `*page` (cleared first).
  /// kInvalidArgument: limit, cursor (field "/limit", "/cursor"). kNotFound: an unknown collection,
  /// or one without history ("/collections/0"). Cost: an iterator a bucket until the page is full,
  /// and point reads a row. kBusy: what is staged changes faster than the page is read.
  virtual Status ReadHistory(const HistoryRequest& request, HistoryPage* page) = 0;
  /// The states of up to kMaxHistoryItems items ("/items/3"), into `*found` (cleared first).
  /// kNotFound as above ("/collection"). Cost: one batched read a bucket for what newer ones lack.
  virtual Status LookupHistory(IdRef user, std::string_view collection,
                               std::span<const IdRef> items, HistoryLookup* found) = 0;
  /// Deletes up to kMaxHistoryItems items from the history, synced: every play up to now, or up to
  /// the newest known where that is later, is gone for good; a newer one counts again. Whether the
  /// filter goes on saying seen is the policy's deleted_items; where that lifts the items, it lifts
  /// those groups of theirs that `same_as` names ("/same_as/0"), at most kMaxCandidateGroups.
  /// kInvalidArgument: see CallTime.
  virtual Status DeleteHistory(IdRef user, std::string_view collection,
                               std::span<const IdRef> items, CallTime at_ms = {},
                               EventGroups same_as = {}) = 0;
  /// Deletes everything in the same sense from the history of some collections, or of all. Filters
  /// stay as they are unless `clear.filter`: then everything played or served there up to now is
  /// unseen again, and plays and impressions whose time is not after it are refused from then on.
  /// Synced. Cost: a piece of 1,000 rows at a time; of filters a deletion a bucket.
  virtual Status ClearHistory(IdRef user, const HistoryClear& clear = {}) = 0;
  /// Pauses or resumes the user's history from now on, synced. A play whose time lies in a pause
  /// never enters history, however late it comes; the filter goes by the policy's when_paused.
  virtual Status SetRecording(IdRef user, bool paused, CallTime at_ms = {}) = 0;
  /// Whether it is paused. kCorruption: that can't be read; nothing is recorded in history then.
  virtual Result<Recording> GetRecording(IdRef user) = 0;

  /// Creates a collection or changes its policy, synced. Fields fixed at creation may change while
  /// the collection holds no play, impression or row of history; writes to it are kBusy for that
  /// moment. kInvalidArgument: a value out of range. kIncompatible: a fixed field would change, or
  /// there would be more than Options::max_collections (field "/engine/max_collections"), or they
  /// would need more than Options::max_column_families ("/engine/max_column_families").
  /// kUnavailable: a fixed field would change while a shard is absent. Of all else an absent shard
  /// hears when it is opened or attached.
  /// `making`: the number of this collection among those that had the name. A number above the
  /// present one deletes the present collection and makes the next; one below it is kIncompatible;
  /// nothing: the present one. Databases with the same numbers take each other's shards.
  virtual Status PutCollection(std::string_view name, const PolicyPatch& patch,
                               std::optional<uint64_t> making = {}) = 0;
  /// Deletes a collection with all that it holds, synced. One that is made again under its name
  /// begins empty: what users' records and journals say of the former does not count for it.
  /// kNotFound; kIncompatible: it is "default", and holds something. kUnavailable: a shard takes no
  /// writes, or it is "default" and a shard is absent; nothing has changed. An absent shard deletes
  /// it when it is opened or attached. kIOError: the outcome is open; once the shard has
  /// been opened anew, the collection is there as before, or gone.
  /// Cost: its column families are dropped, users with marks of it rewritten.
  virtual Status DeleteCollection(std::string_view name) = 0;
  /// All collections by name.
  virtual std::vector<CollectionInfo> Collections() = 0;
  /// Closes the current slots and drains everything staged into the seen filters; then removes from
  /// disk what users had who were erased since the last time. kBusy: a call that writes into one
  /// of the slots has not ended for 2 s; nothing is lost, drain again.
  virtual Status Drain() = 0;
  /// Drains, then re-encodes a bucket (label) compactly; the current one included. Late plays
  /// still go in. kNotFound: unknown collection or bucket. kIOError: too little free disk.
  virtual Status Seal(std::string_view collection, std::string_view bucket) = 0;
  /// Seals every closed bucket that is not sealed yet or has grown since.
  virtual Status SealClosed() = 0;
  /// Drops every bucket past retention, whatever the maintenance window says. kUnavailable: the
  /// clock is in doubt.
  virtual Status DropExpired() = 0;
  /// Compacts every family; erased users' bytes are gone afterwards.
  virtual Status Compact() = 0;
  /// Makes everything acknowledged so far survive power loss.
  virtual Status Sync() = 0;
  /// The machine's clock is right: ends its doubt, if it is in doubt (consistency.md, "A clock in
  /// doubt"), and notes the present, synced. The present.
  virtual Result<int64_t> ConfirmClock() = 0;
  /// Makes in the new folder `dir` a database that can be opened, of everything acknowledged
  /// before the call (what comes during it may be in it): all shards, policies, journals. Writes
  /// and reads go on; files are hard-linked where `dir` is on the same file system. The copy is
  /// opened and checked before it gets its name, and survives power loss. kInvalidArgument: `dir`
  /// is there already, lies inside the database, or in no folder. kIncompatible: `<dir>.tmp`,
  /// where the copy is made, is there and was not begun by a checkpoint. kUnavailable: a shard is
  /// absent, unless the database has what was found (Options::as_found). Restore: open it. Cost: a
  /// sync and a copy of the live log (up to twice write_buffer_bytes a shard). `also` adds what
  /// lies beside the shards, before the copy gets its name; its failures as they are.
  virtual Result<CheckpointReport> Checkpoint(const std::string& dir,
                                              const CheckpointAlso& also = {}) = 0;
  /// Copies one shard, in the same way, into the new folder `dir`: AttachShard takes it, here or in
  /// another database of the same identity (a checkpoint restored elsewhere). `dir` may lie in the
  /// database's folder `tmp`, which the caller makes. kInvalidArgument: no such shard ("/shard"),
  /// or `dir` as above. kUnavailable: it is absent.
  virtual Result<CheckpointReport> CheckpointShard(uint32_t shard, const std::string& dir) = 0;

  /// The numbers of the shards that are attached, ascending.
  virtual std::vector<uint32_t> AttachedShards() const = 0;
  /// Takes in an absent shard: moves `folder` (a copy of CheckpointShard, or what DetachShard kept)
  /// to the shard's place by renaming it, opens it, replays its journals, brings its policies in
  /// line with the database's. The others go on meanwhile. `folder` may be that place already, or
  /// empty: then a new shard is made, which holds nothing (see AttachOptions::former_lost). On
  /// failure it lies where it lay, and nothing else has changed. kInvalidArgument: no such
  /// shard ("/shard"); no folder, a link, or one inside the database but for its folder `tmp`
  /// ("/folder"). kIncompatible: the shard is attached, or its place is taken ("/shard"); the
  /// folder is another shard's or another database's, or knows a later collection or policy
  /// (AttachOptions) ("/folder"). kIOError: it lies on another file system, or can't be opened. One
  /// shard comes or goes at a time.
  virtual Status AttachShard(uint32_t shard, const std::string& folder,
                             const AttachOptions& options = {}) = 0;
  /// Replaces an attached shard, which is deleted, by the one in `folder` (attach.h). Failures as
  /// those of DetachShard and AttachShard; kIOError or kUnavailable, nothing changed: the former
  /// one's disk failed, and memory alone has some of what it acknowledged (AttachOptions).
  virtual Status ReplaceShard(uint32_t shard, const std::string& folder,
                              const AttachOptions& options = {}) = 0;
  /// Lets a shard go: calls for its users are kUnavailable from then on; those that are in it are
  /// waited for, then it is synced and closed. Options::owned has to leave it out at the next
  /// opening. kUnavailable: it is absent. kIncompatible: a folder that was kept is there already.
  /// kBusy: calls were still in it after 30 s; it takes no more, and is synced; call again. On
  /// another failure it serves as before, or comes back. One to be kept must take writes (status).
  virtual Status DetachShard(uint32_t shard, Detached folder) = 0;
  /// Runs everything that fell due up to the clock's present: rotation, drain, bucket creation,
  /// seal, drop. Answers when it has run.
  virtual Status RunDue() = 0;

  /// Counters and gauges. Waits for no shard: one that is being opened anew is a problem, and not
  /// in the gauges. Cost: some RocksDB properties per family; not for a hot path.
  virtual EngineStats Stats() = 0;
  /// Every bucket, newest first within a collection; without the shards being opened anew.
  virtual std::vector<BucketInfo> Buckets() = 0;
  /// Every slot of every shard that is not being opened anew.
  virtual std::vector<SlotInfo> Ring() = 0;
  /// Reads, decodes and checks every value.
  virtual Result<VerifyReport> Verify() = 0;
  /// Calls `row` for each key of the families whose name starts with `family_prefix`, in key
  /// order a family and shard, until it returns false.
  virtual Status Scan(std::string_view family_prefix,
                      const std::function<bool(const ScanRow&)>& row) = 0;

  /// The present by the engine's clock, ms since 1970.
  virtual int64_t NowMs() const = 0;
  /// The shard that owns a user.
  virtual uint32_t ShardOf(IdRef user) const = 0;
  /// Stops background work, syncs, closes. Staged plays stay in the journal and are replayed by
  /// the next Open. Idempotent.
  virtual Status Close() = 0;
};

}  // namespace seendb
