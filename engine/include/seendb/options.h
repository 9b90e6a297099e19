// seendb/options.h: how an Engine is opened.
//
// Sizes are bytes, times milliseconds unless the name says otherwise. Threads: a plain value.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/policy.h"

namespace seendb {

/// Settings of one open Engine. Only `shards`, `item_hash` and `item_hash_key` are stored with the
/// database; everything else may differ from one opening to the next.
struct Options {
  /// Shards of a new database, 1-1,024; 0 adopts an existing database's number, or 4. Another
  /// number than the database was made with is refused with kIncompatible.
  uint32_t shards = 0;
  /// How a new database hashes items: 2, by a secret key of its own; or 1, without a key, as
  /// databases of version 0.1 do: there, a caller who chooses item ids can make one that looks seen
  /// because another was played. A database that exists keeps the hash that it was made with.
  uint32_t item_hash = 2;
  /// The key of a new database; nothing: 16 random bytes. An existing database with another key, or
  /// with none, is refused with kIncompatible. It is stored with the database. Keep it secret: a
  /// caller who knows it can choose item ids as said above.
  std::optional<std::array<uint8_t, 16>> item_hash_key{};
  /// Days, 1-3,650, until what was erased is gone from logs and tables too, where no Drain or
  /// Compact by hand comes first; but for a table that is being read or copied.
  uint32_t erase_within_days = 7;
  /// The shards to open, each once, at least one; nothing: all. The others are absent. A new
  /// database is made with all of its shards: kInvalidArgument where this names fewer.
  std::optional<std::vector<uint32_t>> owned{};
  /// In place of `owned`: opens the shards that the folder has, be it none. A new database is made
  /// without any; Engine::AttachShard makes them, or takes them in.
  bool as_found = false;
  /// The id of a new database, 1-64 letters, digits and '-'; nothing: a random one. An existing
  /// database of another id is refused with kIncompatible.
  std::optional<std::string> database_id{};
  /// Make the database where there is none; otherwise kNotFound.
  bool create_if_missing = true;
  /// Take no lock and write nothing: a snapshot as of Open beside a running engine, staged plays
  /// included. Every writing call answers kInvalidArgument.
  bool read_only = false;
  /// Open although synced log records are missing, and name them in Stats. With false Open answers
  /// kCorruption then.
  bool open_damaged = false;
  /// Open returns before the shards are opened: Engine::FinishOpening does that, and shards answer
  /// one after the other. If the file COLLECTIONS is missing, damaged, or announces a change that
  /// was not finished, Open itself opens the shards, and leaves only the replay of their journals:
  /// it takes all shards then to find out which collections there are. Likewise of a new database.
  bool open_later = false;
  /// Rotate, drain, sync, seal and drop from background threads. With false, nothing of this
  /// happens but in RunDue(), Drain(), Seal() and DropExpired().
  bool background = true;

  /// Ring slots a shard, 2-64, and the span of one.
  uint32_t ring_slots = 6;
  int64_t slot_ms = 3'600'000;
  /// When the staged plays of a shard's current slot reach this size, the slot closes before its
  /// time is over; at least 1. With less than some MB slots close so often that plays are kBusy
  /// while they are drained. About 65,000 plays of one user in one bucket close it, too.
  uint64_t slot_bytes_max = 256ULL << 20;
  /// Budget a shard for drained slots kept readable (the short-term store).
  uint64_t short_term_bytes = 64ULL << 20;

  /// Shared by all shards; write buffers at least 64 KB.
  uint64_t block_cache_bytes = 512ULL << 20;
  uint64_t write_buffer_bytes = 256ULL << 20;
  /// Memory for a cache of user records, divided among the shards. A user with an erasure, a clear,
  /// a pause or an override has one. Each record, cached or not, takes 2 to 4 bytes more.
  uint64_t user_cache_bytes = 32ULL << 20;
  /// RocksDB's, 1-256.
  int background_threads = 2;
  /// Families a shard may hold, at least 1; a collection that needs more is kIncompatible.
  uint32_t max_column_families = 400;
  /// Collections that may be made, at least 1; one more is kIncompatible. A database that has more
  /// keeps them.
  uint32_t max_collections = 32;
  /// The policy of the collection `default`, where the database is made; else without effect.
  PolicyPatch default_policy{};

  /// A user's list in an open bucket becomes a Bloom layer beyond this many items, 16-65,535.
  uint32_t list_limit = 4096;
  /// Candidates (and excluded ids) a filter request may name.
  uint32_t max_candidates = 100'000;
  /// For Durability::kInterval: the longest time an acknowledged play stays unsynced.
  int64_t sync_interval_ms = 1'000;
  /// Rows that the outbox may hold (first plays of the day that wait to be told, about 150 bytes
  /// each): Ingest of further plays that may add some is kBusy.
  uint64_t outbox_max = 10'000'000;
  /// The machine's clock is in doubt where an opening finds it so much later than the newest time
  /// that the database noted: nothing expires until it is confirmed (Engine::ConfirmClock).
  int64_t clock_jump_ms = 3 * 86'400'000;
  /// The clock is right, whatever was noted.
  bool confirm_clock = false;
  /// Minutes of the day, policy time zone, in which buckets are sealed and dropped. May wrap
  /// around midnight; equal values mean the whole day.
  int32_t maintenance_begin_minute = 0;
  int32_t maintenance_end_minute = 300;
};

}  // namespace seendb
