"""Everything in the product that reads from outside, and the lies that it is told.

LIES are the kinds of lie. READERS are the parts that read from outside the process: a peer, a topic,
an old store, a file that somebody names, an answer of a server. Each reader is told every lie (a script
in integration/ or kafka/ plays it, see player.py, or a test in C++ that the row names), or its row says
why nobody can tell it that one.
tests/lint/readers_test.py finds the sources that read from outside, and asks for a row.
"""

import dataclasses

LIES = {
    "too_deep": "values that are nested deeper than any format has them",
    "too_long": "a text, a list or a whole message beyond its limit",
    "dense": "as many values as its bytes can say, each as small as can be",
    "wrong_type": "a value of another type, or something else altogether",
    "negative_length": "a length or a number below zero",
    "huge_length": "a length that says far more than comes, or than memory has",
    "slow": "a few bytes, then nothing, or bytes that bring nothing, for ever",
    "cut": "a beginning without its end",
    "twice": "what may be there once, twice",
    "out_of_order": "the parts in another order",
    "swollen": "a few compressed bytes that stand for very many",
    "noise": "random bytes",
}


@dataclasses.dataclass(frozen=True)
class Reader:
    """`files`: the sources that read it. `cannot`: lies that it can't be told, and why. `by`: the test in C++
    that plays it, over nodes in one process, and the header of its lies; without it a script here does."""
    name: str
    files: tuple
    cannot: dict = dataclasses.field(default_factory=dict)
    by: tuple = ()


PLAIN = "it is not compressed"
WAITS = "it is read from a disk: whoever names a file that gives nothing waits for it, as cat does"
ONE_VALUE = "it is one text without parts"
NO_NESTING = "nothing in it can be nested"
NO_LENGTHS = "it has no lengths or numbers"
FLAT = "its parts may come in any order"
LIBRDKAFKA = "librdkafka asks the brokers, with limits of its own"
ANSWERS = "tests/support/answer_lies.h"

READERS = (
    Reader("HTTP heads", (
        "server/http/request_parser.cc", "server/http/request_parser.h", "server/http/stream.h",
        "server/http/chunk_decoder.cc", "server/http/door_thread.cc", "server/http/transport.cc",
        "server/api/access.cc"),
        {"swollen": PLAIN}),
    Reader("HTTP bodies: JSON", (
        "common/wire/json_read.cc", "common/wire/json_read.h", "common/wire/json_syntax.cc",
        "common/wire/events_json.cc", "common/wire/events_json.h", "common/wire/exposures_json.cc",
        "common/wire/exposures_json.h", "common/wire/filter_json.cc", "common/wire/groups_json.cc",
        "common/wire/groups_json.h", "common/wire/items_json.cc",
        "common/wire/items_json.h", "common/wire/item_rules_json.cc", "common/wire/item_rules_json.h",
        "common/wire/marks_json.cc", "common/wire/marks_json.h",
        "common/wire/sets_json.cc", "common/wire/sets_json.h",
        "common/wire/caps_json.cc", "common/wire/caps_json.h", "common/wire/reserve_json.cc",
        "common/wire/history_json.cc", "common/wire/repeats_json.cc", "common/wire/repeats_json.h", "server/api/admin.cc", "server/api/backup.cc", "server/api/checkpoint.cc",
        "server/api/audit.cc", "server/api/degrade.cc", "server/api/migration.cc", "server/router/user_of.cc"),
        {"swollen": "the reader of compressed bodies is told so",
         "out_of_order": FLAT}),
    Reader("HTTP bodies: NDJSON", ("common/wire/lines.cc",),
        {"swollen": "the reader of compressed bodies is told so",
         "out_of_order": FLAT}),
    Reader("HTTP bodies: binary", ("server/api/binary_body.cc",),
        {"swollen": "the reader of compressed bodies is told so", "too_deep": NO_NESTING,
         "dense": "an id has its length: 5 bytes are the fewest, which are `too_long`"}),
    Reader("HTTP bodies: Connect", (
        "server/connect/codec.cc", "server/connect/event_methods.cc"),
        {"swollen": "the reader of compressed bodies is told so", "slow": "the readers of other bodies are told so",
         "twice": "the last one counts, as protobuf has it", "out_of_order": FLAT}, by=("tests/connect/unit/lies_test.cc",)),
    Reader("HTTP bodies: compressed", ("server/http/decoder.cc",),
        {"too_deep": "what comes out is a body like others", "wrong_type": "`noise` is that",
         "negative_length": "its formats have none that is signed"}),
    Reader("TLS of clients", ("server/http/tls.cc", "server/http/tls_greeting.cc"),
        {"too_deep": NO_NESTING, "swollen": PLAIN, "dense": NO_NESTING}),
    Reader("files of settings", (
        "server/ops/config.cc", "server/ops/environment.cc", "server/files/json_keys.cc",
        "server/ops/command_line.cc"),
        {"slow": WAITS, "swollen": PLAIN, "out_of_order": FLAT,
         "negative_length": "a number in it is; `wrong_type` has one"}),
    Reader("files of tokens", ("server/files/tokens.cc", "server/files/token_file.cc"),
        {"slow": WAITS, "swollen": PLAIN, "out_of_order": FLAT}),
    Reader("files of certificates, keys and secrets", (
        "server/http/tls.cc", "common/net/client_tls.cc", "server/membership/node.cc",
        "server/migration/old_client.cc", "server/discovery/consul_agent.cc"),
        {"slow": WAITS, "swollen": PLAIN, "too_deep": NO_NESTING, "negative_length": NO_LENGTHS}),
    Reader("answers of an old store, to the server", (
        "common/redis/connection.cc", "common/redis/connection.h", "common/redis/client.cc",
        "server/migration/old_store.cc", "server/migration/shadow.cc"),
        {"swollen": PLAIN}),
    Reader("answers of an old store, to the tool", (
        "common/redis/connection.cc", "common/redis/connection.h", "tools/seendb/key_source.cc"),
        {"swollen": PLAIN}),
    Reader("answers of a server, to the tool", (
        "engine/base/outside_json.h", "common/net/http_connection.cc",
        "common/net/http_connection.h", "common/net/client_stream.h",
        "common/net/client_stream.cc", "tools/seendb/http_client.cc",
        "tools/seendb/http_client.h", "tools/seendb/user_query.cc")),
    Reader("logs of plays", (
        "tools/seendb/byte_source.cc", "tools/seendb/ndjson_reader.cc", "tools/seendb/watch_fields.cc")),
    Reader("small files of the tool", (
        "tools/seendb/server_address.cc", "tools/seendb/state_file.cc", "server/cluster/topics.cc",
        "common/net/client_tls.cc", "engine/base/whole_file.cc", "engine/base/whole_file.h"),
        {"slow": WAITS, "swollen": PLAIN, "twice": "the first or the last counts: a token, a property",
         "out_of_order": FLAT}),
    Reader("folders of databases", (
        "engine/store/files.cc", "engine/store/collections_file.cc", "engine/store/inventory.cc",
        "engine/store/log_file.cc", "engine/store/shard_logs.cc", "engine/store/copy_file.cc",
        "engine/store/shard_identity.cc", "engine/recovery/check.cc", "engine/recovery/files.cc",
        "engine/recovery/repair.cc", "engine/recovery/beside.cc", "engine/base/policy_json.cc"),
        {"slow": WAITS, "swollen": PLAIN}),
    Reader("the schema of items", ("engine/items/schema.cc",),
        {"slow": WAITS, "swollen": PLAIN, "out_of_order": "fields may be in any order"},
        by=("tests/items/unit/schema_lies_test.cc",)),
    Reader("messages of a topic", (
        "server/ingest/decoder.cc", "server/ingest/decoder.h", "server/ingest/session.cc",
        "server/kafka/handle.cc"),
        {"slow": LIBRDKAFKA, "out_of_order": FLAT}),
    Reader("records of a cluster: X.meta", (
        "server/cluster/meta_record.cc", "server/cluster/meta_json.cc", "server/cluster/meta_log.cc",
        "server/cluster/topic_reader.cc"),
        {"slow": LIBRDKAFKA, "swollen": "`messages of a topic` is told so: librdkafka unpacks both"}),
    Reader("records of a cluster: X.log", (
        "server/replica/applier.cc", "server/replica/reader.cc", "server/replica/user_facts.cc"),
        {"slow": LIBRDKAFKA, "swollen": "`messages of a topic` is told so: librdkafka unpacks both"}),
    Reader("records of a cluster: X.sets", (
        "server/cluster/topic_follower.cc", "engine/sets/log_store.cc", "engine/sets/piece_codec.cc"),
        {"slow": LIBRDKAFKA, "too_deep": NO_NESTING, "swollen": "`messages of a topic` is told so: librdkafka unpacks both"},
        by=("tests/sets/integration/lies_test.cc",)),
    Reader("answers of a node, to another", (
        "server/peers/peer_connection.cc", "server/peers/peer_connection.h",
        "server/cluster/node_report.cc")),
    Reader("answers of a node to what was passed on", (
        "server/router/read.cc", "common/wire/appended.cc", "common/wire/failure_json.cc"),
        {"swollen": PLAIN}, by=("tests/router/unit/lies_test.cc", ANSWERS)),
    Reader("answers of a Consul agent", ("server/discovery/consul_agent.cc",),
        {"swollen": PLAIN}, by=("tests/discovery/unit/lies_test.cc", ANSWERS)),
    Reader("copies of a shard, from another node", (
        "server/transfer/copy.cc", "server/transfer/peer.cc"),
        {"swollen": PLAIN}, by=("tests/transfer/integration/lies_test.cc", ANSWERS)),
)
