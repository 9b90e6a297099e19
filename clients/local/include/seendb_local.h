/* seendb_local.h: asks a user's filter in the caller's own process. It reads dumps
   (engine/doc/filter-dump.md), hashes ids and probes. No RocksDB, no threads, no sockets.

     seendb_local_filter* filter = NULL;
     if (seendb_local_parse(bytes, size, NULL, &filter) == SEENDB_LOCAL_OK) {
       uint64_t item = seendb_local_hash_text(&key, "v1", 2);
       uint8_t seen = 0;
       seendb_local_probe(filter, &item, 1, &seen);
       seendb_local_free(filter);
     }

   Threads: a filter is never changed; any number of them may ask it. Nothing is thrown. */

#ifndef SEENDB_LOCAL_H
#define SEENDB_LOCAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What comes of parsing a dump. */
enum {
  SEENDB_LOCAL_OK = 0,
  SEENDB_LOCAL_DAMAGED = 1, /* it is no dump, or not a whole one */
  SEENDB_LOCAL_NEWER = 2,   /* of a version that this library does not know */
  SEENDB_LOCAL_LACKS = 3,   /* a part is left out that `former` has not */
  SEENDB_LOCAL_NO_MEMORY = 4
};

/* What makes fingerprints out of ids: GET /admin/item-hash-key. */
typedef struct seendb_local_key {
  uint32_t version;    /* 1 or 2 */
  uint8_t secret[192]; /* of version 2 */
} seendb_local_key;

/* A user's filter in one collection. */
typedef struct seendb_local_filter seendb_local_filter;

/* What a dump says of itself. */
typedef struct seendb_local_info {
  int64_t as_of_ms;        /* the time of the dump */
  int64_t window_begin_ms; /* of the oldest bucket that counts */
  int64_t valid_until_ms;  /* from then on less may count */
  uint64_t key_id;         /* which key its fingerprints are of; 0: none */
  uint32_t hash_version;
  int degraded; /* something could not be read */
  size_t parts;
  size_t bytes; /* that the filter holds */
} seendb_local_info;

/* The fingerprint of an item. Text that is a canonical decimal (no sign, no leading zero, fits 64
   bits) is the number. */
uint64_t seendb_local_hash_number(const seendb_local_key* key, uint64_t number);
uint64_t seendb_local_hash_text(const seendb_local_key* key, const char* text, size_t size);
/* Those of many numbers. */
void seendb_local_hash_numbers(const seendb_local_key* key, const uint64_t* numbers, size_t count,
                               uint64_t* items);
/* That of a group of `same_as`. */
uint64_t seendb_local_hash_group(const seendb_local_key* key, const char* text, size_t size);

/* Reads a dump, whose bytes are copied. Parts that it leaves out are those of `former`, which may
   be freed afterwards; NULL: there is none. On failure *filter is NULL. */
int seendb_local_parse(const uint8_t* bytes, size_t size, const seendb_local_filter* former,
                       seendb_local_filter** filter);
void seendb_local_free(seendb_local_filter* filter);
seendb_local_info seendb_local_info_of(const seendb_local_filter* filter);
/* The ETag, for If-None-Match; ends with the filter. */
const char* seendb_local_etag(const seendb_local_filter* filter);

/* seen[i] becomes 1 where items[i] was served, exposed or played, else 0. */
void seendb_local_probe(const seendb_local_filter* filter, const uint64_t* items, size_t count,
                        uint8_t* seen);
/* Whether a group is marked far enough for a candidate that was published at `at_ms`; without
   `has_at`: for one of which the time is not known. */
int seendb_local_marked(const seendb_local_filter* filter, const char* group, size_t size,
                        int has_at, int64_t at_ms);

#ifdef __cplusplus
}
#endif

#endif
