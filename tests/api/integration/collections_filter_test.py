"""`collections` of POST /filter: what was seen in any of them counts."""

import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

NOW = 1_700_000_000_000
BINARY = {"Content-Type": "application/octet-stream"}


class CollectionsFilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)
        cls.server.put("/collections/short", {})
        cls.server.put("/collections/live", {})

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def play(self, collection, user, *items):
        answer = self.server.post("/plays", {"collection": collection, "events": [
            {"user": user, "item": item, "at": NOW} for item in items]})
        self.assertEqual(answer.status, 200, answer)

    def ask(self, user, items, **more):
        answer = self.server.post("/filter", dict(user=user, items=items, **more))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def refused(self, status, field, **more):
        answer = self.server.post("/filter", dict(user="u", items=["a"], **more))
        self.assertEqual((answer.status, answer.error.get("field", "")), (status, field), answer)

    def test_the_union_is_read(self):
        self.play("default", "u1", "d")
        self.play("short", "u1", "s")
        self.play("live", "u1", "l")
        items = ["d", "s", "l", "x"]
        self.assertEqual(self.ask("u1", items)["unseen"], ["s", "l", "x"])
        said = self.ask("u1", items, collections=["short", "live"], explain=True)
        self.assertEqual((said["unseen"], said["seen"]), (["d", "x"], 2))
        self.assertEqual(said["reasons"], {"s": "ring", "l": "ring"})
        self.assertEqual(self.ask("u1", items, collections=["default", "live"])["unseen"],
                         ["s", "x"])
        self.assertEqual(self.ask("u1", items, collections=[])["unseen"], ["s", "l", "x"])
        self.assertEqual(self.server.post("/admin/drain").status, 200)
        said = self.ask("u1", items, collections=["short", "live"], explain=True)
        self.assertEqual(said["reasons"], {"s": "play:2023-11", "l": "play:2023-11"})
        answer = self.server.ndjson("/filter", [
            {"user": "u1", "items": items, "collections": ["short"]},
            {"user": "u1", "items": items, "collections": ["no"]}, {"user": "u1", "items": items}])
        first, second, third = answer.lines
        self.assertEqual((first["unseen"], third["unseen"]), (["d", "l", "x"], ["s", "l", "x"]))
        self.assertEqual(second["error"]["field"], "/collections/0")

    def test_it_is_recorded_in_the_requests_own(self):
        said = self.ask("u2", ["a"], collection="live", collections=["short", "live"], record=True)
        self.assertEqual(said["unseen"], ["a"])
        self.assertEqual(self.ask("u2", ["a"], collection="live")["unseen"], [])
        self.assertEqual(self.ask("u2", ["a"], collection="short")["unseen"], ["a"])
        self.assertEqual(self.ask("u2", ["a"], collections=["short", "live"])["unseen"], [])

    def test_in_binary(self):
        self.play("short", "u3", "7")
        self.play("live", "u3", "8")
        body = struct.pack("<3Q", 7, 8, 9)
        answer = self.server.request("POST", "/filter?user=u3&ids=u64&collections=short,live", body,
                                     BINARY)
        self.assertEqual((answer.status, answer.body), (200, b"\x04"))
        answer = self.server.request("POST", "/filter?user=u3&ids=u64&collections=short,no", body,
                                     BINARY)
        self.assertEqual((answer.status, answer.error["field"]), (404, "/collections/1"))

    def test_refusals(self):
        self.refused(404, "/collections/1", collections=["short", "none"])
        self.refused(400, "/collections/1", collections=["short", "short"])
        self.refused(400, "/collections", collections=["c%d" % i for i in range(9)])
        self.refused(400, "/collections/0", collections=[7])
        self.refused(400, "/collections", collections="short")


if __name__ == "__main__":
    unittest.main()
