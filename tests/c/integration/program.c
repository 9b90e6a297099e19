/* A program in C11 that embeds the engine: each call once, from several threads, and again after the
 * database was opened anew. program_test.py builds it against an installed prefix. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seendb/seendb.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);          \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define OK(call) succeeds(__LINE__, call, &error)
#define FAILS(code, field, call) fails(__LINE__, code, field, call, &error)

/* Programs are compiled with these numbers. */
_Static_assert(SEENDB_INVALID_ARGUMENT == 1 && SEENDB_NOT_FOUND == 2 && SEENDB_INCOMPATIBLE == 3, "");
_Static_assert(SEENDB_CORRUPTION == 4 && SEENDB_BUSY == 5 && SEENDB_IO_ERROR == 6, "");
_Static_assert(SEENDB_UNAVAILABLE == 7 && SEENDB_CLOSED == 8 && SEENDB_INTERNAL == 100, "");
_Static_assert(SEENDB_ID_TEXT == 1 && SEENDB_ID_NUMBER == 2, "");
_Static_assert(SEENDB_SAYS_PROGRESS == 1 && SEENDB_SAYS_DURATION == 2, "");
_Static_assert(SEENDB_FILTER_RECORD == 1 && SEENDB_FILTER_VERIFY == 2 && SEENDB_FILTER_FAIL == 4, "");
_Static_assert(SEENDB_FILTER_NO_PLAYS == 8 && SEENDB_FILTER_NO_IMPRESSIONS == 16, "");

static void succeeds(int line, seendb_code code, seendb_error** told) {
  seendb_error* const error = *told;  /* by then the call has set it */
  if (code == SEENDB_OK && error == NULL) return;
  fprintf(stderr, "line %d: %s: %s (%s)\n", line, seendb_code_name(code), seendb_error_message(error),
          seendb_error_field(error));
  exit(1);
}

static void fails(int line, seendb_code expected, const char* field, seendb_code code,
                  seendb_error** told) {
  seendb_error* const error = *told;
  if (code != expected || error == NULL || seendb_error_code(error) != expected ||
      strlen(seendb_error_message(error)) == 0 || strcmp(seendb_error_field(error), field) != 0) {
    fprintf(stderr, "line %d: %s: %s (%s)\n", line, seendb_code_name(code),
            seendb_error_message(error), seendb_error_field(error));
    exit(1);
  }
  seendb_error_free(error);
}

struct work {
  seendb_db* db;
  uint64_t user;
};

static void* play_and_ask(void* argument) {
  const struct work* work = argument;
  seendb_error* error;
  for (uint64_t item = 0; item < 200; ++item) {
    seendb_play play = {.user = seendb_number(work->user), .item = seendb_number(item)};
    OK(seendb_record_plays(work->db, NULL, &play, 1, NULL, NULL, &error));
    uint64_t items[2] = {item, item + 1};
    uint8_t unseen = 0;
    OK(seendb_filter_u64(work->db, seendb_number(work->user), items, 2, NULL, &unseen, 1, NULL,
                         &error));
    CHECK(unseen == 2);
  }
  return NULL;
}

static void record(seendb_db* db) {
  seendb_error* error;
  seendb_play plays[3] = {
      {.user = seendb_text("u1"), .item = seendb_text("v1")},
      {.user = seendb_text("u1"), .item = seendb_number(7), .says = SEENDB_SAYS_PROGRESS,
       .progress_s = 5, .device = "tv", .fields = "{\"a\":1}"},
      {.user = seendb_text("u1"), .item = seendb_text("old"), .at_ms = 5}};
  seendb_recorded recorded = SEENDB_INIT(seendb_recorded);
  char* refusals;
  OK(seendb_record_plays(db, NULL, plays, 3, &recorded, &refusals, &error));
  CHECK(recorded.accepted == 2 && recorded.refused == 1);
  CHECK(strstr(refusals, "\"index\":2") && strstr(refusals, "\"field\":\"/at\""));
  seendb_free(refusals);
  OK(seendb_record_plays(db, NULL, plays, 2, &recorded, &refusals, &error));
  CHECK(recorded.accepted == 2 && recorded.refused == 0 && refusals == NULL);
  plays[1].item = seendb_text("");
  FAILS(SEENDB_INVALID_ARGUMENT, "/plays/1/item",
        seendb_record_plays(db, NULL, plays, 2, NULL, NULL, &error));
  FAILS(SEENDB_NOT_FOUND, "/collection",
        seendb_record_plays(db, "nowhere", plays, 1, NULL, NULL, &error));
  OK(seendb_record_plays(db, NULL, NULL, 0, &recorded, NULL, &error));
  CHECK(recorded.accepted == 0);
}

static void filter(seendb_db* db) {
  seendb_error* error;
  seendb_id items[4] = {seendb_text("v1"), seendb_text("v2"), seendb_text("7"), seendb_number(8)};
  uint8_t unseen = 0xff;
  seendb_filtered filtered = SEENDB_INIT(seendb_filtered);
  OK(seendb_filter(db, seendb_text("u1"), items, 4, NULL, &unseen, 1, &filtered, &error));
  CHECK(unseen == 0x0a);
  CHECK(filtered.unseen == 2 && filtered.seen == 2 && filtered.examined == 4);
  CHECK(!filtered.degraded && filtered.missing[0] == '\0');
  seendb_filter_options options = SEENDB_INIT(seendb_filter_options);
  options.exclude = items + 1;
  options.exclude_count = 1;
  options.flags = SEENDB_FILTER_RECORD;
  OK(seendb_filter(db, seendb_text("u1"), items, 4, &options, &unseen, 1, &filtered, &error));
  CHECK(unseen == 0x08 && filtered.excluded == 1 && filtered.recorded);
  OK(seendb_filter(db, seendb_text("u1"), items, 4, NULL, &unseen, 1, &filtered, &error));
  CHECK(unseen == 0x02);
  options = (seendb_filter_options)SEENDB_INIT(seendb_filter_options);
  options.flags = SEENDB_FILTER_NO_IMPRESSIONS;
  OK(seendb_filter(db, seendb_text("u1"), items, 4, &options, &unseen, 1, NULL, &error));
  CHECK(unseen == 0x0a);
  options.flags = SEENDB_FILTER_NO_PLAYS;
  OK(seendb_filter(db, seendb_text("u1"), items, 4, &options, &unseen, 1, NULL, &error));
  CHECK(unseen == 0x07);
  options.limit = 1;
  options.flags = 0;
  OK(seendb_filter(db, seendb_text("u2"), items, 4, &options, &unseen, 1, &filtered, &error));
  CHECK(unseen == 0x01 && filtered.examined == 1);
  items[3] = seendb_text("");
  FAILS(SEENDB_INVALID_ARGUMENT, "/items/3",
        seendb_filter(db, seendb_text("u1"), items, 4, NULL, &unseen, 1, NULL, &error));
  CHECK(unseen == 0);
  seendb_id served = seendb_text("served");
  seendb_recorded recorded = SEENDB_INIT(seendb_recorded);
  OK(seendb_record_impressions(db, NULL, seendb_text("u1"), &served, 1, 0, &recorded, NULL, &error));
  CHECK(recorded.accepted == 1);
  OK(seendb_filter(db, seendb_text("u1"), &served, 1, NULL, &unseen, 1, NULL, &error));
  CHECK(unseen == 0);
}

static void history(seendb_db* db) {
  const char* video = "video";
  const char* plain = "default";
  seendb_error* error;
  char* json;
  OK(seendb_put_collection(db, "video", "{\"history\":{\"enabled\":true}}", &error));
  seendb_play plays[2] = {{.user = seendb_text("u1"), .item = seendb_text("h0")},
                          {.user = seendb_text("u1"), .item = seendb_text("h1"),
                           .says = SEENDB_SAYS_PROGRESS | SEENDB_SAYS_DURATION, .progress_s = 5,
                           .duration_s = 9, .device = "tv", .fields = "{\"a\":1}"}};
  OK(seendb_record_plays(db, "video", plays, 2, NULL, NULL, &error));
  OK(seendb_history(db, seendb_text("u1"), &video, 1, 10, NULL, &json, &error));
  CHECK(strstr(json, "\"item\":\"h1\"") && strstr(json, "\"progress_s\":5"));
  CHECK(strstr(json, "\"fields\":{\"a\":1}") && strstr(json, "\"degraded\":false"));
  seendb_free(json);
  OK(seendb_history(db, seendb_text("u1"), &video, 1, 1, NULL, &json, &error));
  char* cursor = strstr(json, "\"cursor\":\"");
  CHECK(cursor != NULL);
  cursor += strlen("\"cursor\":\"");
  cursor[strcspn(cursor, "\"")] = '\0';
  char* second;
  OK(seendb_history(db, seendb_text("u1"), &video, 1, 1, cursor, &second, &error));
  CHECK(strstr(second, "\"item\":\"h") != NULL);
  seendb_free(second);
  seendb_free(json);
  seendb_id asked[2] = {seendb_text("h1"), seendb_text("never")};
  OK(seendb_look_up_history(db, seendb_text("u1"), "video", asked, 2, &json, &error));
  CHECK(strstr(json, "\"progress_s\":5") && strstr(json, ",null]"));
  seendb_free(json);
  OK(seendb_delete_history(db, seendb_text("u1"), "video", asked, 1, &error));
  OK(seendb_history(db, seendb_text("u1"), NULL, 0, 10, NULL, &json, &error));
  CHECK(strstr(json, "h1") == NULL && strstr(json, "h0") != NULL);
  seendb_free(json);
  FAILS(SEENDB_NOT_FOUND, "/collections/0",
        seendb_history(db, seendb_text("u1"), &plain, 1, 10, NULL, &json, &error));
  OK(seendb_set_recording(db, seendb_text("u1"), 1, &error));
  OK(seendb_clear_history(db, seendb_text("u1"), NULL, 0, 0, &error));
  OK(seendb_collections(db, &json, &error));
  CHECK(strstr(json, "\"video\""));
  seendb_free(json);
  OK(seendb_delete_collection(db, "video", &error));
  FAILS(SEENDB_INVALID_ARGUMENT, "/fpr", seendb_put_collection(db, NULL, "{\"fpr\":7}", &error));
}

static void threads(seendb_db* db) {
  pthread_t threads[4];
  struct work works[4];
  for (size_t i = 0; i < 4; ++i) {
    works[i] = (struct work){db, 1000 + i};
    CHECK(pthread_create(&threads[i], NULL, play_and_ask, &works[i]) == 0);
  }
  for (size_t i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  CHECK(seendb_abi_version() == SEENDB_ABI_VERSION);
  char folder[4096], copy[4096];
  snprintf(folder, sizeof(folder), "%s/db", argv[1]);
  snprintf(copy, sizeof(copy), "%s/copy", argv[1]);
  seendb_error* error;
  seendb_db* db;
  char* json;
  FAILS(SEENDB_NOT_FOUND, "",
        seendb_open(folder, "{\"create_if_missing\":false}", &db, &error));
  CHECK(db == NULL);
  OK(seendb_open(folder, "{\"shards\":2,\"default_policy\":{\"fpr\":0.001}}", &db, &error));
  record(db);
  filter(db);
  history(db);
  threads(db);

  OK(seendb_drain(db, &error));
  OK(seendb_sync(db, &error));
  OK(seendb_checkpoint(db, copy, &error));
  FAILS(SEENDB_INVALID_ARGUMENT, "/dir", seendb_checkpoint(db, copy, &error));
  OK(seendb_inspect(db, seendb_text("u1"), NULL, &json, &error));
  CHECK(strstr(json, "\"user\":\"u1\""));
  seendb_free(json);
  OK(seendb_stats(db, &json, &error));
  CHECK(strstr(json, "\"plays_accepted\":"));
  seendb_free(json);
  int known = 0;
  OK(seendb_erase(db, seendb_text("u1"), &known, &error));
  CHECK(known == 1);
  seendb_db* other;
  FAILS(SEENDB_BUSY, "", seendb_open(folder, NULL, &other, &error));
  CHECK(other == NULL);
  OK(seendb_close(db, &error));

  OK(seendb_open(copy, NULL, &db, &error));
  seendb_id item = seendb_text("v1");
  uint8_t unseen = 1;
  OK(seendb_filter(db, seendb_text("u1"), &item, 1, NULL, &unseen, 1, NULL, &error));
  CHECK(unseen == 0);
  OK(seendb_close(db, &error));
  puts("all is so");
  return 0;
}
