// seendb/seendb.h: the embeddable SeenDB engine for C, and for every language that calls C. C11.
//
//   seendb_error* error;
//   seendb_db* db;
//   if (seendb_open("/var/lib/app/seen", NULL, &db, &error) != SEENDB_OK) {
//     fprintf(stderr, "%s\n", seendb_error_message(error));
//     seendb_error_free(error);
//     return 1;
//   }
//   seendb_play play = {.user = seendb_text("u1"), .item = seendb_number(7)};
//   seendb_record_plays(db, NULL, &play, 1, NULL, NULL, NULL);
//   uint64_t items[] = {7, 8};
//   uint8_t unseen[1];
//   seendb_filter_u64(db, seendb_text("u1"), items, 2, NULL, unseen, 1, NULL, NULL);
//   // unseen[0] is 0x02: item 8 alone
//   seendb_close(db, NULL);
//
// A call does, costs and promises the same as the function of seendb/engine.h with that name. This
// header says the rest; engine/doc/embedding.md has it at length.
//
// Errors: a call that can fail returns a code. `error` may be NULL; else the call sets `*error`, to
// NULL on success, to an error on failure, which the caller frees with seendb_error_free.
// SEENDB_INVALID_ARGUMENT names the argument at fault ("/items/3") and has changed nothing: a NULL
// where a pointer is needed, a wrong size, an unknown flag. No exception leaves a call.
// Ownership: arguments are borrowed for the call. A `char*` that a call gives is UTF-8, ends with a
// zero byte, and the caller frees it with seendb_free. On failure it is NULL.
// Threads: every function may be called from any thread at once, except seendb_close, which has to
// be the last call with its database. A thread must not be cancelled, nor leave by longjmp, within
// a call. After fork() the child must not use a database that the parent opened, and ends by
// _exit() or exec(): exit() runs destructors of RocksDB that wait for threads of the parent.
// Sizes: a structure that may grow begins with its size, which SEENDB_INIT sets (all else is 0).

#ifndef SEENDB_SEENDB_H_
#define SEENDB_SEENDB_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SEENDB_API __attribute__((visibility("default")))
#else
#define SEENDB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this header: (major << 16) + minor. A program goes with a library of the same
/// major and at least its minor number.
#define SEENDB_ABI_VERSION 0x00000001u
/// The library's.
SEENDB_API uint32_t seendb_abi_version(void);

/// The beginning of a structure that says its size: `seendb_filtered f =
/// SEENDB_INIT(seendb_filtered)`.
#define SEENDB_INIT(type) \
  { .size = sizeof(type) }

// ---- Codes and errors ----

/// The outcome of a call. Numbers never change their meaning; more may come.
typedef enum seendb_code {
  SEENDB_OK = 0,
  SEENDB_INVALID_ARGUMENT = 1,  ///< malformed; the same call fails again; nothing was changed
  SEENDB_NOT_FOUND = 2,         ///< no such collection or database
  SEENDB_INCOMPATIBLE = 3,      ///< the database or collection was made with other fixed settings
  SEENDB_CORRUPTION = 4,        ///< stored bytes failed a check; reads of the rest go on
  SEENDB_BUSY = 5,              ///< a limit is reached for the moment; repeat after a pause
  SEENDB_IO_ERROR = 6,     ///< the file system refused; part may be recorded; repeating is safe
  SEENDB_UNAVAILABLE = 7,  ///< a part that is needed can't answer now
  SEENDB_CLOSED = 8,       ///< the engine is closing
  SEENDB_INTERNAL = 100    ///< no memory, or a fault of the library
} seendb_code;

/// An error: a code, a message for people, and a field.
typedef struct seendb_error seendb_error;
/// The code's name ("invalid_argument"); of a number that is no code "internal". Static.
SEENDB_API const char* seendb_code_name(int code);
/// The code; of NULL SEENDB_OK.
SEENDB_API seendb_code seendb_error_code(const seendb_error* error);
/// One sentence; of NULL "". Lives as long as `error`.
SEENDB_API const char* seendb_error_message(const seendb_error* error);
/// A JSON pointer to the argument at fault, "/items/3", or "", as of NULL. Lives
/// as long as `error`.
SEENDB_API const char* seendb_error_field(const seendb_error* error);
/// Frees an error. NULL is allowed.
SEENDB_API void seendb_error_free(seendb_error* error);
/// Frees a text that a call gave. NULL is allowed.
SEENDB_API void seendb_free(char* text);

// ---- Ids ----

/// Values of seendb_id::kind; 0 is an id that nobody has set, which every call refuses.
enum seendb_id_kind { SEENDB_ID_TEXT = 1, SEENDB_ID_NUMBER = 2 };

/// A user or an item: `size` bytes of UTF-8 at `text`, 1-255, which need no zero byte behind them;
/// or a number. The text "42" and the number 42 are one id. `text` is borrowed as arguments are.
typedef struct seendb_id {
  const char* text;
  uint64_t number;
  uint32_t size;
  uint32_t kind;  ///< seendb_id_kind
} seendb_id;

/// An id of text that ends with a zero byte; of NULL the id that nobody has set.
SEENDB_API seendb_id seendb_text(const char* text);
/// An id of a number.
SEENDB_API seendb_id seendb_number(uint64_t number);

// ---- A database ----

/// An open database.
typedef struct seendb_db seendb_db;

/// Opens the database in the folder `path`, or makes one, into `*db` (NULL on failure). The caller
/// owns it: seendb_close. `options_json`: NULL, or an object with members of Options (options.h):
/// shards, create_if_missing, read_only, open_damaged, background, ring_slots, slot_ms,
/// slot_bytes_max, short_term_bytes, block_cache_bytes, user_cache_bytes, write_buffer_bytes,
/// background_threads, max_column_families, max_collections, list_limit, max_candidates,
/// sync_interval_ms, default_policy. A process opens a database once, and keeps it.
SEENDB_API seendb_code seendb_open(const char* path, const char* options_json, seendb_db** db,
                                   seendb_error** error);
/// Syncs, closes and frees it, whatever the code. NULL is allowed.
SEENDB_API seendb_code seendb_close(seendb_db* db, seendb_error** error);

/// Makes a collection or changes its policy: a JSON object of fields of Policy (policy.h); NULL: no
/// field. `collection` is "default" where it is NULL, here and below.
SEENDB_API seendb_code seendb_put_collection(seendb_db* db, const char* collection,
                                             const char* policy_json, seendb_error** error);
/// Deletes a collection with all that it holds.
SEENDB_API seendb_code seendb_delete_collection(seendb_db* db, const char* collection,
                                                seendb_error** error);
/// All collections with their policies: {"collections":[{"name":...}]}.
SEENDB_API seendb_code seendb_collections(seendb_db* db, char** json, seendb_error** error);

// ---- Recording ----

/// Most elements of an array.
#define SEENDB_MOST_ELEMENTS 10000000u

/// Bits of seendb_play::says: which numbers of a play count.
enum seendb_says { SEENDB_SAYS_PROGRESS = 1, SEENDB_SAYS_DURATION = 2 };

/// A user watched or read an item.
typedef struct seendb_play {
  seendb_id user;
  seendb_id item;
  int64_t at_ms;       ///< ms since 1970 UTC; 0: now
  uint32_t says;       ///< seendb_says
  int32_t progress_s;  ///< seconds into the item; -1: to its end
  int32_t duration_s;  ///< of the item, seconds
  uint32_t reserved;   ///< 0
  const char* device;  ///< NULL: not known
  const char* fields;  ///< a JSON object of at most 1,024 bytes; NULL: none
} seendb_play;

/// The outcome of a batch: accepted + refused is its size.
typedef struct seendb_recorded {
  size_t size;
  uint64_t accepted;        ///< recorded, or known already
  uint64_t refused;         ///< not recorded: too old, in the future, of an erased user
  uint64_t outside_window;  ///< of the accepted: so old that no filter counts them
  uint64_t beyond_cap;      ///< of impressions: more than the policy keeps
} seendb_recorded;

/// Records `count` plays. A malformed one ("/plays/3/item"): nothing is recorded. Refused ones are
/// no failure: `recorded` (may be NULL) counts them; `*refusals` (`refusals` may be NULL) is NULL
/// where there are none, else
/// [{"index":2,"code":...,"message":...,"field":"/at","reason":"too_old"}], at most 100 of them.
SEENDB_API seendb_code seendb_record_plays(seendb_db* db, const char* collection,
                                           const seendb_play* plays, size_t count,
                                           seendb_recorded* recorded, char** refusals,
                                           seendb_error** error);
/// Records that `user` was served `count` items ("/items/3"); `at_ms` as in seendb_play, the rest
/// as above.
SEENDB_API seendb_code seendb_record_impressions(seendb_db* db, const char* collection,
                                                 seendb_id user, const seendb_id* items,
                                                 size_t count, int64_t at_ms,
                                                 seendb_recorded* recorded, char** refusals,
                                                 seendb_error** error);

// ---- Filtering ----

/// Bits of seendb_filter_options::flags.
enum seendb_filter_flags {
  SEENDB_FILTER_RECORD = 1,          ///< the unseen become impressions, in the same step
  SEENDB_FILTER_VERIFY = 2,          ///< looks plays up in the history: none is falsely called seen
  SEENDB_FILTER_FAIL = 4,            ///< SEENDB_UNAVAILABLE where the answer would be degraded
  SEENDB_FILTER_NO_PLAYS = 8,        ///< plays don't count
  SEENDB_FILTER_NO_IMPRESSIONS = 16  ///< impressions don't count
};

/// How a filter is asked.
typedef struct seendb_filter_options {
  size_t size;
  const char* collection;
  const seendb_id* exclude;  ///< never unseen
  size_t exclude_count;
  uint32_t limit;       ///< stops at so many unseen ones; 0: no limit
  uint32_t flags;       ///< seendb_filter_flags
  int64_t deadline_us;  ///< from the call on; then the answer is degraded; 0: none
} seendb_filter_options;

/// Counts of an answer: unseen + seen + excluded + duplicates == examined.
typedef struct seendb_filtered {
  size_t size;
  uint32_t unseen;
  uint32_t seen;
  uint32_t examined;  ///< the items before it were decided; fewer than `count` at a limit
  uint32_t excluded;
  uint32_t duplicates;  ///< came before among the items
  uint32_t refuted;     ///< of the unseen: SEENDB_FILTER_VERIFY found them falsely called seen
  uint32_t degraded;    ///< 1: something could not be read; a seen item may be called unseen
  uint32_t recorded;    ///< 1: SEENDB_FILTER_RECORD was done; 0 where the disk refused
  char missing[128];    ///< names of the parts not read, "2026-11, deadline", cut at 127 bytes
} seendb_filtered;

/// Answers which of `count` items `user` has not seen: bit i % 8 of `unseen[i / 8]` is 1 for an
/// unseen item i. `unseen` has `unseen_bytes` bytes, at least (count + 7) / 8; the others are not
/// touched; on failure these are 0, as far as there are any. `options` and `filtered` may be NULL.
SEENDB_API seendb_code seendb_filter(seendb_db* db, seendb_id user, const seendb_id* items,
                                     size_t count, const seendb_filter_options* options,
                                     uint8_t* unseen, size_t unseen_bytes,
                                     seendb_filtered* filtered, seendb_error** error);
/// The same for items that are numbers.
SEENDB_API seendb_code seendb_filter_u64(seendb_db* db, seendb_id user, const uint64_t* items,
                                         size_t count, const seendb_filter_options* options,
                                         uint8_t* unseen, size_t unseen_bytes,
                                         seendb_filtered* filtered, seendb_error** error);

// ---- History and users ----

/// A page of what the user watched, newest first: {"entries":[{"collection","item","at",
/// "progress_s","duration_s","device","fields"}],"cursor","degraded","missing"}; without "cursor"
/// it is the last. `collections`: `count` names; 0: all that keep history. `limit`: 1-1,000.
/// `cursor`: NULL: the newest.
SEENDB_API seendb_code seendb_history(seendb_db* db, seendb_id user, const char* const* collections,
                                      size_t count, uint32_t limit, const char* cursor, char** json,
                                      seendb_error** error);
/// The entries of up to 1,000 items, as above; null: not watched.
SEENDB_API seendb_code seendb_look_up_history(seendb_db* db, seendb_id user, const char* collection,
                                              const seendb_id* items, size_t count, char** json,
                                              seendb_error** error);
/// Takes up to 1,000 items out of the history.
SEENDB_API seendb_code seendb_delete_history(seendb_db* db, seendb_id user, const char* collection,
                                             const seendb_id* items, size_t count,
                                             seendb_error** error);
/// Takes all out of the history of `count` collections, or of all (0). `filter` is not 0: what was
/// played or served is unseen again.
SEENDB_API seendb_code seendb_clear_history(seendb_db* db, seendb_id user,
                                            const char* const* collections, size_t count,
                                            int filter, seendb_error** error);
/// Pauses (not 0) or resumes the user's history.
SEENDB_API seendb_code seendb_set_recording(seendb_db* db, seendb_id user, int paused,
                                            seendb_error** error);
/// Everything held about a user, in one collection or in all (NULL).
SEENDB_API seendb_code seendb_inspect(seendb_db* db, seendb_id user, const char* collection,
                                      char** json, seendb_error** error);
/// Forgets a user. `*known` (`known` may be NULL): 1 where something was held, else 0.
SEENDB_API seendb_code seendb_erase(seendb_db* db, seendb_id user, int* known,
                                    seendb_error** error);

// ---- Upkeep ----

/// Merges everything staged into the filters.
SEENDB_API seendb_code seendb_drain(seendb_db* db, seendb_error** error);
/// Makes everything acknowledged so far survive power loss.
SEENDB_API seendb_code seendb_sync(seendb_db* db, seendb_error** error);
/// Makes in the new folder `dir` a copy that can be opened. Writes and reads go on.
SEENDB_API seendb_code seendb_checkpoint(seendb_db* db, const char* dir, seendb_error** error);
/// Counters and gauges, an object.
SEENDB_API seendb_code seendb_stats(seendb_db* db, char** json, seendb_error** error);

#ifdef __cplusplus
}
#endif

#endif  // SEENDB_SEENDB_H_
