"""LocalFilter against the server that SEENDB_URL names, and what it reads by itself."""

import asyncio
import json
import os
import random
import threading
import time
import types
import unittest
import unittest.mock
import uuid

from support import URL, seendb

from seendb import _xxh3
from seendb.dump import Dump, Key

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
GOLDEN = os.path.join(ROOT, "tests", "golden", "dump")
NO_KEY = {"version": 1, "id": "0" * 16, "secret": ""}


class Fixed:
    """A client whose server answers every question by one dump."""

    def __init__(self, body):
        answer = types.SimpleNamespace(status=200, headers={}, body=body)
        self._caller = types.SimpleNamespace(ask=lambda *_, **more: answer)


class LocalTest(unittest.TestCase):
    def setUp(self):
        self.c = seendb.Client(URL, timeout=30)
        self.addCleanup(self.c.close)
        self.user = "user-" + uuid.uuid4().hex

    def collection(self, **policy):
        name = "c-" + uuid.uuid4().hex[:12]
        self.c.put_collection(name, policy)
        self.addCleanup(lambda: self.c.delete_collection(name))
        return name

    def compare(self, local, items):
        asked = self.c.filter(self.user, items, collection=local._collection)
        local.refresh()
        found = local.filter(items)
        self.assertEqual(found.unseen, asked.unseen)
        self.assertEqual((found.seen, found.examined, found.duplicates, found.undated, found.degraded),
                         (asked.seen, asked.examined, asked.duplicates, asked.undated, asked.degraded))
        return found

    def test_answers_as_the_server(self):
        chosen = random.Random(7)
        for policy in ({}, {"representation": "exact"}, {"max_filter_bytes": 4096}):
            policy = dict(policy, history={"enabled": True, "deleted_items": "recommend_again"}, exposed_is_seen=True)
            name = self.collection(**policy)
            local = self.c.local_filter(self.user, collection=name, refresh=None)
            some = lambda n: [chosen.choice([one, "v%d" % one, 2**63 + one]) for one in
                              (chosen.randrange(20_000) for _ in range(n))]
            self.assertEqual(self.compare(local, some(100)).seen, 0)
            for _ in range(2):
                self.c.record_plays([(self.user, one) for one in some(6_000)], collection=name)
                self.compare(local, some(3_000))
                self.c.call("POST", "/admin/drain", {})
                self.compare(local, some(3_000))
                self.c.record_impressions(self.user, some(50), collection=name)
                self.c.record_exposures([(self.user, one) for one in some(50)], collection=name)
                self.c.delete_history(self.user, some(100), collection=name)
            self.assertGreater(self.compare(local, some(9_000)).seen, 200)
            self.c.call("POST", "/admin/seal", {"collection": name, "bucket": time.strftime("%Y-%m", time.gmtime())})
            self.compare(local, some(9_000))

    def test_marks(self):
        local = self.c.local_filter(self.user, refresh=None)
        self.c.mark(self.user, "channel:1", "always")
        self.c.mark(self.user, "channel:2", until=1_000)
        of = lambda item, group, at=None: seendb.Candidate(item, ["other", group], at)
        found = self.compare(local, [of("a", "channel:1"), of("b", "channel:1", 5), of("c", "channel:2"),
                                     of("d", "channel:2", 1_000), of("e", "channel:2", 1_001), of("a", "none")])
        self.assertEqual(found.unseen, ["c", "e"])

    def test_what_the_caller_noted(self):
        local = self.c.local_filter(self.user, refresh=None, keep=0.5)
        local.note_served(["s", 5])
        local.note_played(["p"])
        self.assertEqual(local.filter(["s", "5", "p", "q"]).unseen, ["q"])
        local.refresh()
        self.assertEqual(local.filter(["s"]).unseen, [])
        time.sleep(0.6)
        self.assertEqual(local.filter(["s"]).unseen, ["s"])

    def test_a_limit(self):
        local = self.c.local_filter(self.user, refresh=None)
        found = local.filter(["a", "b", "c"], limit=2)
        self.assertEqual((found.unseen, found.examined), (["a", "b"], 2))

    def test_refreshes_behind_its_answers(self):
        local = self.c.local_filter(self.user, refresh=0.05)
        self.c.record_plays([(self.user, "v1")])
        self.assertEqual(local.filter(["v1"]).unseen, ["v1"])
        end = time.monotonic() + 20
        while local.filter(["v1"]).unseen and time.monotonic() < end:
            time.sleep(0.02)
        found = local.filter(["v1"])
        self.assertEqual(found.unseen, [])
        self.assertLess(found.more["age_s"], 20)
        self.assertIsNone(local.error)

    def test_without_a_server_the_former_dump_stays(self):
        local = self.c.local_filter(self.user, refresh=None)
        self.c.close()
        self.assertRaises(seendb.Error, local.refresh)
        self.assertEqual(local.error.code, "closed")
        self.assertEqual(local.filter(["v1"]).unseen, ["v1"])

    def test_many_threads(self):
        local = self.c.local_filter(self.user, refresh=0.001)
        self.c.record_plays([(self.user, "v1")])
        local.refresh()
        wrong = []

        def ask():
            for i in range(300):
                local.note_served(["n%d" % i])
                if local.filter(["v1", "v2", "n%d" % i]).unseen != ["v2"]:
                    wrong.append(i)
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(wrong, [])


class AsyncLocalTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.c = seendb.AsyncClient(URL, timeout=30)
        self.addCleanup(self.c.close)
        self.user = "user-" + uuid.uuid4().hex

    async def test_answers_as_the_server(self):
        local = await self.c.local_filter(self.user, refresh=None)
        chosen = random.Random(7)
        some = lambda n: [chosen.choice([one, "v%d" % one]) for one in (chosen.randrange(5_000) for _ in range(n))]
        for _ in range(2):
            await self.c.record_plays([(self.user, one) for one in some(2_000)])
            await self.c.record_impressions(self.user, some(50))
            items = some(3_000)
            asked = await self.c.filter(self.user, items)
            await asyncio.gather(local.refresh(), local.refresh())
            self.assertEqual(local.filter(items).unseen, asked.unseen)
            await self.c.call("POST", "/admin/drain", {})
        local.note_served(["new"])
        self.assertEqual(local.filter(["new", "other"]).unseen, ["other"])

    async def test_refreshes_behind_its_answers(self):
        local = await self.c.local_filter(self.user, refresh=0.05)
        await self.c.record_plays([(self.user, "v1")])
        self.assertEqual(local.filter(["v1"]).unseen, ["v1"])
        end = time.monotonic() + 20
        while local.filter(["v1"]).unseen and time.monotonic() < end:
            await asyncio.sleep(0.02)
        self.assertEqual(local.filter(["v1"]).unseen, [])
        self.assertIsNone(local.error)

    async def test_without_a_server_the_former_dump_stays(self):
        local = await self.c.local_filter(self.user, refresh=0.0)
        self.c.close()
        end = time.monotonic() + 20
        while local.error is None and time.monotonic() < end:
            self.assertEqual(local.filter(["v1"]).unseen, ["v1"])
            await asyncio.sleep(0.02)
        self.assertEqual(local.error.code, "closed")
        with self.assertRaises(seendb.Error):
            await local.refresh()


class ReadTest(unittest.TestCase):
    def golden(self):
        with open(os.path.join(GOLDEN, "filter_dump.hex"), encoding="ascii") as file:
            return bytes.fromhex(file.read())

    def test_the_golden_dump(self):
        dump, key = Dump(self.golden()), Key(NO_KEY)
        self.assertEqual([one for one in range(1, 8) if dump.seen(key.of("v%d" % one))], [1, 3, 4, 5])
        self.assertEqual((dump.degraded, dump.missing, dump.as_of), (True, ["2026-10"], 1_795_694_400_000))
        self.assertEqual(dump.marks, {"channel:9": 1_795_694_300_000})

    def test_dumps_of_the_engine(self):
        with open(os.path.join(ROOT, "clients", "conformance", "local", "vectors.json"), encoding="utf-8") as file:
            vectors = json.load(file)
        self.assertEqual(len(vectors), 4)
        for vector in vectors:
            body, key = bytes.fromhex(vector["dump"]), vector["key"]
            local = seendb.LocalFilter(Fixed(body), "u", key=key, refresh=None)
            found = local.filter([seendb.Candidate(one["id"], one.get("of", ()), one.get("at"))
                                  for one in vector["candidates"]])
            self.assertEqual(found.unseen, [vector["candidates"][at]["id"] for at in vector["unseen"]], vector["name"])
            self.assertEqual(Dump(body).etag, vector["etag"])

    def test_so_many_are_noted_at_most(self):
        with open(os.path.join(ROOT, "clients", "conformance", "local", "vectors.json"), encoding="utf-8") as file:
            vector = json.load(file)[0]
        local = seendb.LocalFilter(Fixed(bytes.fromhex(vector["dump"])), "u", key=vector["key"], refresh=None)
        with unittest.mock.patch("seendb.local.NOTED_MOST", 3):
            local.note_served(["a", "b", "c", "d", "b"])
        self.assertEqual(local.filter(["a", "b", "c", "d"]).unseen, ["a"])

    def test_what_is_cut_or_longer_is_refused(self):
        whole = self.golden()
        for cut in range(len(whole)):
            self.assertRaises(seendb.Error, Dump, whole[:cut])
        self.assertRaises(seendb.Error, Dump, whole + b"x")

    def test_hashes(self):
        key = Key({"version": 2, "id": "1", "secret": bytes(range(192)).hex()})
        for number in (0, 1, 255, 2**32, 2**63, 2**64 - 1):
            data = b"\xff" + number.to_bytes(8, "little")
            self.assertEqual(key.of(number), _xxh3.hash_of(data, bytes(range(192))) >> 16)
            self.assertEqual(key.of(str(number)), key.of(number))
            self.assertEqual(Key(NO_KEY).of(number), _xxh3.hash_of(data, seed=0x5EE0DB015EE0DB01) >> 16)
        self.assertNotEqual(key.of("007"), key.of(7))


if __name__ == "__main__":
    unittest.main()
