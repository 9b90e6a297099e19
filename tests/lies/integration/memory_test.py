"""Memory that the server holds for a request, by route and kind of body: of the largest body that is
accepted, so many bytes for each byte that came. A route of the documents without a row fails."""

import json
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB

from openapi_check import whole_document
from process_memory import Memory
from seendb_client import Server

JSON, NDJSON, BINARY = "application/json", "application/x-ndjson", "application/octet-stream"
BODY_MOST = 8 * MB         # limits.body_bytes
CANDIDATES_MOST = 100_000  # limits.candidates
LOOKUP_MOST = 1_000        # items of a look-up or a deletion of history
ITEM_FIELDS_MOST = 1_024
ITEM_SCHEMA = {"fields": [{"name": "author", "type": "text"}, {"name": "score", "type": "f32"},
                          {"name": "tags", "type": "list_text"}]}
SMALL = 64 << 10           # what the allocator and a page of the stack may add to a body of no size


def texts(count, size=70):
    return ["%0*d" % (size, i) for i in range(count)]


def whole(rows, most=BODY_MOST, member="events"):
    """As many rows as a body of JSON may have: {"events":[...]}."""
    one = len(json.dumps(rows(0)).encode()) + 3
    return json.dumps({member: [rows(i) for i in range(most // one)]}).encode()


def lines(rows, bytes_most):
    one = len(json.dumps(rows(0)).encode()) + 3
    return b"".join(json.dumps(rows(i)).encode() + b"\n" for i in range(bytes_most // one))


def play(i):
    return {"user": "u%d" % (i % 50), "item": "item-%07d" % i}


def exposure(i):
    return dict(play(i), surface="home-%d" % (i % 7))


def item(i):
    return {"id": "item-%07d" % i, "version": 7, "set": {"author": "author-%07d" % i, "score": 0.5, "tags": ["a", "b"]}}


def mark(i):
    return {"group": "group-%04d" % (i % 9_000), "until": i + 1}


def impressions():
    return json.dumps({"user": "u", "items": texts(CANDIDATES_MOST)}).encode()


def padded(body):
    """The same with as many blanks as a body may have: the routes without a list."""
    text = json.dumps(body).encode()
    return text + b" " * (BODY_MOST - len(text))


# (method, path, kind): (the path that is asked, the body, status, bytes held for each byte that came).
# What a route records stays: of plays and impressions the ring holds some tens of bytes each.
ROWS = {
    ("post", "/filter", JSON): ("/filter", lambda: json.dumps({"user": "u", "items": texts(CANDIDATES_MOST)}).encode(),
                                (200,), 6),
    ("post", "/filter", NDJSON): ("/filter", lambda: lines(
        lambda i: {"user": "u%d" % i, "items": texts(20, 8)}, MB), (200,), 6),  # its answer is not read meanwhile
    ("post", "/filter", BINARY): ("/filter?user=u&ids=u64", lambda: struct.pack(
        "<%dQ" % CANDIDATES_MOST, *range(CANDIDATES_MOST)), (200,), 12),
    ("post", "/plays", JSON): ("/plays", lambda: whole(play), (200,), 16),
    ("post", "/plays", NDJSON): ("/plays", lambda: lines(play, 2 * BODY_MOST), (200,), 8),
    ("post", "/plays", BINARY): ("/plays?user=u&ids=u64", lambda: struct.pack(
        "<%dQ" % CANDIDATES_MOST, *range(CANDIDATES_MOST)), (200,), 60),
    ("post", "/impressions", JSON): ("/impressions", impressions, (200,), 12),
    ("post", "/impressions", NDJSON): ("/impressions", lambda: lines(play, 2 * BODY_MOST), (200,), 8),
    ("post", "/impressions", BINARY): ("/impressions?user=u&ids=u64", lambda: struct.pack(
        "<%dQ" % CANDIDATES_MOST, *range(CANDIDATES_MOST)), (200,), 60),
    ("post", "/exposures", JSON): ("/exposures", lambda: whole(exposure), (200,), 16),
    ("post", "/exposures", NDJSON): ("/exposures", lambda: lines(exposure, 2 * BODY_MOST), (200,), 8),
    ("post", "/exposures", BINARY): ("/exposures?user=u&ids=u64", lambda: struct.pack(
        "<%dQ" % CANDIDATES_MOST, *range(CANDIDATES_MOST)), (200,), 60),
    ("post", "/reserve", JSON): ("/reserve", lambda: json.dumps(
        {"user": "u", "caps": [{"of": "a", "n": 1, "within": "1d"}], "items": [
            {"id": "%0250d" % i, "of": ["a:%d" % i]} for i in range(1_000)]}).encode(), (200,), 30),
    ("put", "/items/schema", JSON): ("/items/schema", lambda: json.dumps({"fields": [
        {"name": "%0200d" % i, "type": "text"} for i in range(ITEM_FIELDS_MOST)]}).encode(), (200,), 30),  # it makes a database
    ("post", "/items", JSON): ("/items", lambda: whole(item, member="items"), (200,), 24),
    ("post", "/items", NDJSON): ("/items", lambda: lines(item, 2 * BODY_MOST), (200,), 8),
    ("post", "/items/get", JSON): (
        "/items/get", lambda: json.dumps({"ids": texts(LOOKUP_MOST, 250)}).encode(), (200,), 12),
    ("put", "/sets/{name}", JSON): ("/sets/a", lambda: whole(lambda i: "%08d" % i, member="items"), (200,), 16),
    ("put", "/sets/{name}", NDJSON): ("/sets/b", lambda: lines(lambda i: {"items": ["%012d-%03d" % (i, k) for k in range(1_000)]}, 2 * BODY_MOST), (200,), 10),
    ("post", "/users/{user}/marks", JSON): ("/users/u/marks", lambda: json.dumps(
        {"marks": [mark(i) for i in range(1_000)]}).encode(), (200,), 40),  # it makes a family
    ("post", "/users/{user}/marks", NDJSON): ("/users/w/marks", lambda: lines(mark, MB), (200,), 16),
    ("put", "/users/{user}/sets/{name}", JSON): ("/users/u/sets/s", lambda: json.dumps(
        {"items": texts(10_000, 250), "expires_ms": 60_000}).encode(), (200,), 16),
    ("post", "/users/{user}/history/lookup", JSON): (
        "/users/u/history/lookup", lambda: json.dumps({"items": texts(LOOKUP_MOST, 250)}).encode(), (200,), 12),
    ("post", "/users/{user}/history/delete", JSON): (
        "/users/u/history/delete", lambda: json.dumps({"items": texts(LOOKUP_MOST, 250)}).encode(), (200,), 12),
    ("post", "/users/{user}/history/clear", JSON): ("/users/u/history/clear", lambda: padded({}), (200,), 4),
    ("put", "/users/{user}/recording", JSON): ("/users/u/recording", lambda: padded({"paused": True}), (200,), 4),
    ("put", "/collections/{name}", JSON): ("/collections/c", lambda: padded({"window": 6}), (200, 201), 6),
    ("post", "/admin/degrade", JSON): ("/admin/degrade", lambda: padded({"level": 0}), (200, 400), 4),
    ("post", "/admin/migration/imported", JSON): (
        "/admin/migration/imported", lambda: json.dumps(
            {"collection": "default", "key": "w:{user}", "users": texts(4_096, 200)}).encode(), (200, 400), 12),
    ("post", "/internal/append", JSON): ("/internal/append", lambda: padded({}), (403,), 4),
    ("post", "/internal/shards/{partition}/snapshot", JSON): (
        "/internal/shards/0/snapshot", lambda: padded({"node": "n"}), (403,), 4),
    ("post", "/admin/backup/shards/{partition}", JSON): (
        "/admin/backup/shards/0", lambda: padded({"node": "n"}), (400,), 4),
    ("post", "/admin/backup", JSON): (
        "/admin/backup", lambda: padded({"id": 1, "bytes": 2, "new_bytes": 1, "took_ms": 5}), (200,), 4),
}
for _path in ("drain", "seal", "compact", "drop-expired", "checkpoint", "migration/pause", "migration/resume",
              "migration/finish", "clock", "clock/confirm"):
    ROWS["post", "/admin/" + _path, JSON] = ("/admin/" + _path, lambda: padded({}), (200, 202, 400, 404, 409), 4)


class MemoryTest(unittest.TestCase):

    def serve(self):
        """A server that holds nothing yet: memory that was freed would serve the next request."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Server(config={"core_dumps": True, "threads": 1, "engine": {"shards": 1}, "checkpoints": folder.name,
                              "default_policy": {"history": {"enabled": True}},
                              "migration": {"default": {"redis": "redis://127.0.0.1:9", "key": "w:{user}",
                                                        "until_migrated": "ignore"}}})

    def test_each_route_has_a_row(self):
        with self.serve() as server:
            document = whole_document(server.request)
        described = set()
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if not isinstance(operation, dict) or "requestBody" not in operation:
                    continue
                body = operation["requestBody"]
                if "$ref" in body:
                    body = document["components"]["requestBodies"][body["$ref"].rsplit("/", 1)[1]]
                described |= {(method, path, kind) for kind in body["content"]}
        self.assertEqual(described, set(ROWS))

    def test_memory_of_a_byte(self):
        for (method, path, kind), (target, body_of, statuses, most) in ROWS.items():
            with self.subTest(method=method, path=path, kind=kind):
                body = body_of()
                with self.serve() as server:
                    if path in ("/items", "/items/get"):
                        self.assertEqual(server.put("/items/schema", ITEM_SCHEMA).status, 200)
                    memory = Memory(server.process.pid)
                    answer = server.request(method.upper(), target, body, {"Content-Type": kind})
                    self.assertIn(answer.status, statuses, answer)
                    grown, sanitized = memory.grown(), memory.sanitized()
                factor = max(0, grown - SMALL) / len(body)
                print("%-5s %-40s %-26s %5.1f MB sent, %6.1f MB held: %.1f bytes a byte, at most %d" % (
                    method.upper(), path, kind, len(body) / MB, grown / MB, factor, most), flush=True)
                if not sanitized:
                    self.assertLess(factor, most)


if __name__ == "__main__":
    unittest.main()
