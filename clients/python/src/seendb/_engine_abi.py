"""Made by generate_engine.py of engine/include/seendb/seendb.h: change that."""

VERSION = 0x00000001
DECLARATIONS = """
uint32_t seendb_abi_version(void);
typedef enum seendb_code {
  SEENDB_OK = 0,
  SEENDB_INVALID_ARGUMENT = 1,
  SEENDB_NOT_FOUND = 2,
  SEENDB_INCOMPATIBLE = 3,
  SEENDB_CORRUPTION = 4,
  SEENDB_BUSY = 5,
  SEENDB_IO_ERROR = 6,
  SEENDB_UNAVAILABLE = 7,
  SEENDB_CLOSED = 8,
  SEENDB_INTERNAL = 100
} seendb_code;
typedef struct seendb_error seendb_error;
const char* seendb_code_name(int code);
seendb_code seendb_error_code(const seendb_error* error);
const char* seendb_error_message(const seendb_error* error);
const char* seendb_error_field(const seendb_error* error);
void seendb_error_free(seendb_error* error);
void seendb_free(char* text);
enum seendb_id_kind { SEENDB_ID_TEXT = 1, SEENDB_ID_NUMBER = 2 };
typedef struct seendb_id {
  const char* text;
  uint64_t number;
  uint32_t size;
  uint32_t kind;
} seendb_id;
seendb_id seendb_text(const char* text);
seendb_id seendb_number(uint64_t number);
typedef struct seendb_db seendb_db;
seendb_code seendb_open(const char* path, const char* options_json, seendb_db** db,
                                   seendb_error** error);
seendb_code seendb_close(seendb_db* db, seendb_error** error);
seendb_code seendb_put_collection(seendb_db* db, const char* collection,
                                             const char* policy_json, seendb_error** error);
seendb_code seendb_delete_collection(seendb_db* db, const char* collection,
                                                seendb_error** error);
seendb_code seendb_collections(seendb_db* db, char** json, seendb_error** error);
enum seendb_says { SEENDB_SAYS_PROGRESS = 1, SEENDB_SAYS_DURATION = 2 };
typedef struct seendb_play {
  seendb_id user;
  seendb_id item;
  int64_t at_ms;
  uint32_t says;
  int32_t progress_s;
  int32_t duration_s;
  uint32_t reserved;
  const char* device;
  const char* fields;
} seendb_play;
typedef struct seendb_recorded {
  size_t size;
  uint64_t accepted;
  uint64_t refused;
  uint64_t outside_window;
  uint64_t beyond_cap;
} seendb_recorded;
seendb_code seendb_record_plays(seendb_db* db, const char* collection,
                                           const seendb_play* plays, size_t count,
                                           seendb_recorded* recorded, char** refusals,
                                           seendb_error** error);
seendb_code seendb_record_impressions(seendb_db* db, const char* collection,
                                                 seendb_id user, const seendb_id* items,
                                                 size_t count, int64_t at_ms,
                                                 seendb_recorded* recorded, char** refusals,
                                                 seendb_error** error);
enum seendb_filter_flags {
  SEENDB_FILTER_RECORD = 1,
  SEENDB_FILTER_VERIFY = 2,
  SEENDB_FILTER_FAIL = 4,
  SEENDB_FILTER_NO_PLAYS = 8,
  SEENDB_FILTER_NO_IMPRESSIONS = 16
};
typedef struct seendb_filter_options {
  size_t size;
  const char* collection;
  const seendb_id* exclude;
  size_t exclude_count;
  uint32_t limit;
  uint32_t flags;
  int64_t deadline_us;
} seendb_filter_options;
typedef struct seendb_filtered {
  size_t size;
  uint32_t unseen;
  uint32_t seen;
  uint32_t examined;
  uint32_t excluded;
  uint32_t duplicates;
  uint32_t refuted;
  uint32_t degraded;
  uint32_t recorded;
  char missing[128];
} seendb_filtered;
seendb_code seendb_filter(seendb_db* db, seendb_id user, const seendb_id* items,
                                     size_t count, const seendb_filter_options* options,
                                     uint8_t* unseen, size_t unseen_bytes,
                                     seendb_filtered* filtered, seendb_error** error);
seendb_code seendb_filter_u64(seendb_db* db, seendb_id user, const uint64_t* items,
                                         size_t count, const seendb_filter_options* options,
                                         uint8_t* unseen, size_t unseen_bytes,
                                         seendb_filtered* filtered, seendb_error** error);
seendb_code seendb_history(seendb_db* db, seendb_id user, const char* const* collections,
                                      size_t count, uint32_t limit, const char* cursor, char** json,
                                      seendb_error** error);
seendb_code seendb_look_up_history(seendb_db* db, seendb_id user, const char* collection,
                                              const seendb_id* items, size_t count, char** json,
                                              seendb_error** error);
seendb_code seendb_delete_history(seendb_db* db, seendb_id user, const char* collection,
                                             const seendb_id* items, size_t count,
                                             seendb_error** error);
seendb_code seendb_clear_history(seendb_db* db, seendb_id user,
                                            const char* const* collections, size_t count,
                                            int filter, seendb_error** error);
seendb_code seendb_set_recording(seendb_db* db, seendb_id user, int paused,
                                            seendb_error** error);
seendb_code seendb_inspect(seendb_db* db, seendb_id user, const char* collection,
                                      char** json, seendb_error** error);
seendb_code seendb_erase(seendb_db* db, seendb_id user, int* known,
                                    seendb_error** error);
seendb_code seendb_drain(seendb_db* db, seendb_error** error);
seendb_code seendb_sync(seendb_db* db, seendb_error** error);
seendb_code seendb_checkpoint(seendb_db* db, const char* dir, seendb_error** error);
seendb_code seendb_stats(seendb_db* db, char** json, seendb_error** error);
"""
