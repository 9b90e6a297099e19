"""GET /users/{user}/filter: dumps by parts, sets of ids; GET /admin/item-hash-key; who gets them."""

import hashlib
import json
import os
import socket
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import Client, Server, free_port

DAY = 86_400_000
NOW = 1_700_000_000_000  # 2023-11-14
RING, IMPRESSIONS, EXPOSURES, RECORD, MARKS, BUCKET = range(1, 7)
HEAD, ENTRY = "<6sBBqqqQQHHH", "<BBHIQqq"


def read(body):
    """(head, entries) of a dump: entries are (kind, sent, hash, begin, end, body)."""
    magic, version, flags, as_of, begin, until, key, frame, hashed, parts, labels = struct.unpack_from(HEAD, body)
    assert (magic, version) == (b"SeenFD", 1)
    at = struct.calcsize(HEAD)
    missing = []
    for _ in range(labels):
        missing.append(body[at + 1:at + 1 + body[at]].decode())
        at += 1 + body[at]
    directory = at
    at += parts * struct.calcsize(ENTRY)
    entries = []
    for i in range(parts):
        kind, sent, zero, size, of, first, last = struct.unpack_from(ENTRY, body, directory + i * 32)
        assert zero == 0 and (sent or not size)
        entries.append((kind, sent, of, first, last, body[at:at + size]))
        at += size
    assert at == len(body)
    return dict(flags=flags, as_of=as_of, begin=begin, until=until, key=key, frame=frame, hash=hashed,
                missing=missing), entries


def count_of(body):
    return struct.unpack_from("<I", body)[0]


def numbers_of(roaring):
    """The numbers of a 64-bit Roaring bitmap without runs, by the published format."""
    numbers = []
    (bitmaps,), at = struct.unpack_from("<Q", roaring), 8
    for _ in range(bitmaps):
        high, cookie, containers = struct.unpack_from("<III", roaring, at)
        assert cookie == 12346, cookie
        begin, at = at + 4, at + 12
        keys = [struct.unpack_from("<HH", roaring, at + 4 * i) for i in range(containers)]
        at += 4 * containers
        offsets = struct.unpack_from("<%dI" % containers, roaring, at)
        at += 4 * containers
        for (key, less_one), offset in zip(keys, offsets):
            assert begin + offset == at
            if less_one < 4096:
                low = struct.unpack_from("<%dH" % (less_one + 1), roaring, at)
                at += 2 * len(low)
            else:
                low = [i for i in range(65536) if roaring[at + i // 8] >> i % 8 & 1]
                at += 8192
            assert len(low) == less_one + 1
            numbers += [high << 32 | key << 16 | one for one in low]
    assert at == len(roaring)
    return numbers


class DumpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)
        for name, policy in (("kept", {"history": {"enabled": True}, "impression_ids": True}),
                             ("played", {"history": {"enabled": True}}), ("screen", {"exposed_is_seen": True})):
            answer = cls.server.put("/collections/" + name, policy)
            assert answer.status == 200, answer

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def record(self, path, body, collection="default"):
        answer = self.server.post(path + "?collection=" + collection, body)
        self.assertEqual(answer.status, 200, answer)

    def dump(self, user, status=200, have=None, **query):
        query = "&".join("%s=%s" % item for item in query.items())
        headers = {"If-None-Match": have} if have else None
        answer = self.server.get("/users/%s/filter?%s" % (user, query), headers)
        self.assertEqual(answer.status, status, answer)
        return answer

    def test_only_parts_that_differ_are_sent(self):
        empty = self.dump("u")
        self.assertEqual(read(empty.body)[1], [])
        self.record("/plays", {"events": [{"user": "u", "item": "v%d" % i} for i in range(3)]})
        self.record("/impressions", {"user": "u", "items": ["s1", "s2"]})
        first = self.dump("u")
        self.assertEqual(first.headers["content-type"], "application/octet-stream")
        head, entries = read(first.body)
        self.assertEqual([(kind, sent, count_of(body)) for kind, sent, _, _, _, body in entries],
                         [(RING, 1, 3), (IMPRESSIONS, 1, 2)])
        self.assertEqual((head["flags"], head["as_of"], head["missing"]), (0, NOW, []))
        self.assertLess(head["begin"], NOW)
        self.assertGreater(head["until"], NOW)
        tag = first.headers["etag"]
        self.assertEqual(tag, '"%s"' % "-".join("%016x" % one for one in [head["frame"]] + [e[2] for e in entries]))
        same = self.dump("u", 304, have=tag)
        self.assertEqual((same.body, same.headers["etag"]), (b"", tag))
        self.record("/plays", {"events": [{"user": "u", "item": "v9"}]})
        second = self.dump("u", have=tag)
        _, entries = read(second.body)
        self.assertEqual([(kind, sent) for kind, sent, _, _, _, _ in entries], [(RING, 1), (IMPRESSIONS, 0)])
        self.dump("u", 304, have='"x", ' + second.headers["etag"])
        self.assertEqual(self.server.post("/admin/drain", {}).status, 200)
        _, entries = read(self.dump("u", have=tag).body)
        self.assertEqual([(kind, sent) for kind, sent, _, _, _, _ in entries], [(IMPRESSIONS, 0), (BUCKET, 1)])
        _, _, _, begin, end, body = entries[1]
        self.assertLessEqual(begin, NOW)
        self.assertGreater(end, NOW)
        self.assertEqual(struct.unpack_from("<II", body), (4, 0))
        self.assertEqual(self.server.delete("/users/u").status, 200)
        self.assertEqual(read(self.dump("u", have=tag).body)[1], [])

    def test_marks_exposures_and_overrides(self):
        self.assertEqual(self.server.post("/users/m/marks", {"marks": [
            {"group": "channel:9", "until": "always"}, {"group": "author:1", "until": NOW - 5}]}).status, 200)
        self.record("/exposures", {"events": [{"user": "m", "item": "e", "at": NOW - DAY}]}, "screen")
        self.record("/plays", {"events": [{"user": "m", "item": "p"}]}, "screen")
        _, entries = read(self.dump("m", collection="screen").body)
        self.assertEqual([entry[0] for entry in entries], [RING, EXPOSURES, MARKS])
        marks = entries[2][5]
        self.assertEqual(marks, struct.pack("<IBq", 2, 8, NOW - 5) + b"author:1"
                         + struct.pack("<Bq", 9, 2**63 - 1) + b"channel:9")
        self.record("/plays", {"events": [{"user": "m", "item": "p", "at": NOW - 1}]}, "played")
        self.assertEqual(self.server.put("/collections/lifted", {
            "history": {"enabled": True, "deleted_items": "recommend_again"}}).status, 200)
        self.record("/plays", {"events": [{"user": "m", "item": "p", "at": NOW - 1}]}, "lifted")
        self.assertEqual(self.server.post("/users/m/history/delete", {"items": ["p"], "collection": "lifted"}).status, 200)
        _, entries = read(self.dump("m", collection="lifted").body)
        self.assertIn(RECORD, [entry[0] for entry in entries])

    def test_the_key(self):
        answer = self.server.get("/admin/item-hash-key")
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["cache-control"], "no-store")
        key = answer.json
        self.assertEqual((key["version"], len(key["secret"])), (2, 384))
        self.assertEqual("%016x" % read(self.dump("u0").body)[0]["key"], key["id"])

    def test_refusals(self):
        for query, field in (("format=pdf", "/format"), ("newest=0&format=ids", "/newest"), ("newest=3", "/newest"),
                             ("collections=kept", "/collections"), ("format=ids&newest=x", "/newest"),
                             ("format=ids&collections=kept&collection=kept", "/collection"),
                             ("format=ids&collections=kept,", "/collections/1"), ("ids=u64", "/ids"),
                             ("format=roaring&fpr=0.01", "/fpr"), ("format=mbf1&ids=text", "/ids"),
                             ("format=mbf1&fpr=0.5", "/fpr"), ("format=mbf1&fpr=nan", "/fpr"), ("format=mbf1&fpr=", "/fpr")):
            answer = self.server.get("/users/u/filter?" + query)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), query)
        self.dump("u", 404, collection="none")
        self.dump("u", 404, collection="none", format="ids")
        self.assertEqual(self.server.post("/users/u/filter", {}).status, 405)

    def test_ids(self):
        self.record("/plays", {"events": [{"user": "i", "item": "v%d" % i, "at": NOW - 100 + i} for i in range(5)]},
                    "kept")
        self.record("/impressions", {"user": "i", "items": ["s1", "v0"], "at": NOW - 50}, "kept")
        self.record("/plays", {"events": [{"user": "i", "item": "o", "at": NOW - 10}]}, "played")
        self.record("/plays", {"events": [{"user": "i", "item": "late", "at": NOW - 120 * DAY}]}, "kept")
        answer = self.dump("i", collection="kept", format="ids")
        self.assertEqual(answer.json, {"ids": ["s1", "v0", "v4", "v3", "v2", "v1"], "degraded": False, "lacks": []})
        self.assertEqual(answer.headers["seendb-false-positive-rate"], "0")
        self.dump("i", 304, have=answer.headers["etag"], collection="kept", format="ids")
        self.assertEqual(self.dump("i", collection="kept", format="ids", newest=3).json["ids"], ["s1", "v0", "v4"])
        both = self.dump("i", collections="kept,played", format="ids", newest=2)
        self.assertEqual(both.json, {"ids": ["o", "s1"], "degraded": False, "lacks": ["served"]})
        self.assertEqual(both.headers["seendb-lacks"], "served")
        refused = self.dump("i", 409, format="ids")
        self.assertIn("keeps no ids", refused.error["message"])
        self.assertIn("text", self.dump("i", 409, collection="kept", format="roaring").error["message"])

    def test_roaring(self):
        wanted = sorted({0, 1, 65_535, 65_536, 2**32 - 1, 2**32, 2**63 + 5, 2**64 - 1}
                        | set(range(3_000_000, 3_010_000, 2)))
        self.record("/plays", {"events": [{"user": "n", "item": one} for one in wanted]}, "kept")
        answer = self.dump("n", collection="kept", format="roaring")
        self.assertEqual(answer.headers["content-type"], "application/octet-stream")
        self.assertEqual(numbers_of(answer.body), wanted)
        self.assertEqual(self.dump("nobody", collection="kept", format="roaring").body, bytes(8))

    def test_bytes_of_a_published_bitmap(self):
        # As CRoaring and RoaringBitmap write {1, 2, 3, 1000}: a cookie, a container with the key 0 and 4 values.
        self.record("/plays", {"events": [{"user": "b", "item": one} for one in (1000, 3, 2, 1)]}, "kept")
        body = self.dump("b", collection="kept", format="roaring").body
        self.assertEqual(body.hex(), "0100000000000000" "00000000" "3a300000" "01000000" "00000300" "10000000"
                         "010002000300e803")


    def test_bytes_of_an_idset_of_pinot(self):
        # As Roaring64NavigableMap.serializeLegacy writes {1, 2, 3, 1000, 2^32}, behind the type of the IdSet.
        self.record("/plays", {"events": [{"user": "p", "item": one} for one in (1000, 3, 2, 1, 2**32)]}, "kept")
        body = self.dump("p", collection="kept", format="idset").body
        self.assertEqual(body.hex(), "02" "00" "00000002" "00000000" "3a300000" "01000000" "00000300" "10000000"
                         "010002000300e803" "00000001" "3a300000" "01000000" "00000000" "10000000" "0000")
        self.dump("p", 409, format="idset")

    def test_filters_of_milvus(self):
        # As pymilvus 3.0.2 builds them of the same ids.
        self.record("/plays", {"events": [{"user": "mv", "item": one} for one in (1, 2, 2**53 + 1)]}, "kept")
        answer = self.dump("mv", collection="kept", format="mbf1")
        self.assertEqual(answer.body.hex(), "4d4246310100010003000000000000007b14ae47e17a743f0100000001000000"
                         "0000500800080402000600020000060010004004002000884400002020210000")
        self.assertEqual(answer.headers["seendb-false-positive-rate"], "0.005")
        self.dump("mv", 304, have=answer.headers["etag"], collection="kept", format="mbf1")
        texts = self.dump("mv", collection="kept", format="mbf1", ids="string", fpr="0.01")
        self.assertEqual((texts.body[28], texts.headers["seendb-false-positive-rate"]), (2, "0.01"))
        self.assertEqual(len(self.dump("mv", collection="kept", format="mbf1", newest=1).body), 64)
        self.record("/plays", {"events": [{"user": "mv", "item": 2**63}]}, "kept")
        self.assertIn("2^63-1", self.dump("mv", 409, collection="kept", format="mbf1").error["message"])
        self.record("/plays", {"events": [{"user": "mv", "item": "v"}]}, "kept")
        self.assertIn("text", self.dump("mv", 409, collection="kept", format="mbf1").error["message"])


class WayTest(unittest.TestCase):
    """Who gets dumps, and by which way."""

    def tokens(self):
        folder = tempfile.mkdtemp(prefix="seendb-filters-")
        path = os.path.join(folder, "tokens.json")
        entries = [{"name": name, "sha256": hashlib.sha256(name.encode()).hexdigest(), "role": name}
                   for name in ("read", "write", "admin", "filters")]
        entries.append({"name": "some", "sha256": hashlib.sha256(b"some").hexdigest(), "role": "filters",
                        "collections": ["other"]})
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as out:
            json.dump(entries, out)
        return path

    def test_roles(self):
        with Server(config={"tokens_file": self.tokens()}) as server:
            ask = lambda path, name: server.get(path, {"Authorization": "Bearer " + name}).status
            for path in ("/users/u/filter", "/admin/item-hash-key"):
                self.assertEqual([ask(path, name) for name in ("read", "write", "admin", "filters")],
                                 [403, 403, 403, 200], path)
                self.assertEqual(server.get(path).status, 401)
            self.assertEqual(ask("/admin/stats", "filters"), 403)
            self.assertEqual(ask("/users/u", "filters"), 200)
            self.assertEqual(ask("/users/u/filter", "some"), 403)
            self.assertEqual(ask("/users/u/filter?collection=other", "some"), 404)

    def test_not_from_elsewhere_in_the_clear(self):
        address = own_address()
        if address is None:
            self.skipTest("this machine has no address but loopback")
        for config in ({}, {"tokens_file": self.tokens()}):
            port = free_port()
            with Server(config=dict(config, admin_listen="0.0.0.0:%d" % port)) as server:
                client = Client(address, port)
                headers = {"Authorization": "Bearer filters"} if config else {}
                for path in ("/users/u/filter", "/admin/item-hash-key"):
                    self.assertEqual(client.request("GET", path, headers=headers).status, 403, path)
                local = Client("127.0.0.1", port)
                self.assertEqual(local.request("GET", "/admin/item-hash-key", headers=headers).status, 200)
                local.close()
                client.close()


def own_address():
    """An address of this machine that is not loopback; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = probe.getsockname()[0]
        return None if found.startswith("127.") else found


class SizeTest(unittest.TestCase):
    def test_too_large(self):
        with Server(config={"limits": {"answer_bytes": 1 << 20}}) as server:
            policy = {"representation": "exact", "max_filter_bytes": 16 << 20}
            self.assertEqual(server.put("/collections/e", policy).status, 200)
            for at in range(0, 200_000, 10_000):
                rows = b"".join(struct.pack("<Q", one) for one in range(at, at + 10_000))
                answer = server.request("POST", "/plays?collection=e&user=1&ids=u64&count=10000", rows,
                                        {"Content-Type": "application/octet-stream"})
                self.assertEqual(answer.status, 200, answer)
            answer = server.get("/users/1/filter?collection=e")
            self.assertEqual((answer.status, answer.error["code"]), (413, "too_large"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
