"""GET /users/{user}/counts: events that were recorded with groups (`of`)."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

HOUR = 3_600_000
DAY = 24 * HOUR
NOW = 1_700_000_000_000
NONE = {"1h": 0, "1d": 0, "7d": 0, "30d": 0}


class CountsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def record(self, path, body):
        answer = self.server.post(path, body)
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def counts(self, user, of="author", **more):
        query = "".join("&%s=%s" % item for item in more.items())
        answer = self.server.get("/users/%s/counts?of=%s%s" % (user, of, query))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def test_facts_and_spans(self):
        for _ in range(2):  # a repeat counts once
            self.record("/impressions", {"user": "f", "at": NOW - 2 * HOUR, "surface": "home", "items": [
                {"id": "s0", "of": ["author:0"]}, "s1", {"id": 2, "of": ["author:0", "topic:7"]}, {"id": "s3"}]})
            self.record("/exposures", {"events": [
                {"user": "f", "item": "s0", "at": NOW - 3 * DAY, "surface": "home", "of": ["author:0"]}]})
            self.record("/plays", {"events": [
                {"user": "f", "item": "s0", "at": NOW - 20 * DAY, "of": ["author:1"]},
                {"user": "f", "item": "s0", "at": NOW - 31 * DAY, "of": ["author:2"]}]})
        self.assertEqual(self.counts("f"), {"counts": [
            {"key": "author:0", "served": {"1h": 0, "1d": 2, "7d": 2, "30d": 2},
             "exposed": {"1h": 0, "1d": 0, "7d": 1, "30d": 1}, "played": NONE},
            {"key": "author:1", "served": NONE, "exposed": NONE,
             "played": {"1h": 0, "1d": 0, "7d": 0, "30d": 1}}]})
        self.assertEqual([one["key"] for one in self.counts("f", "topic")["counts"]], ["topic:7"])
        self.assertEqual(self.counts("f", "none"), {"counts": []})
        said = self.record("/filter", {"user": "f", "items": ["s0"],
                                       "not": [{"fact": "served", "surface": "home"}]})
        self.assertEqual(said["unseen"], [], "the surface of the impressions is kept")

    def test_lines(self):
        served = [{"user": "l", "item": "v%d" % i, "at": NOW - i, "of": ["author:%d" % (i % 3)]}
                  for i in range(9_000)]
        bad = [{"user": "l", "item": "x", "of": [""]}, {"user": "l", "item": "x", "of": "a"}]
        said = self.server.ndjson("/impressions", served[:10] + bad + served[10:]).json
        self.assertEqual((said["accepted"], said["refused"]), (9_000, 2))
        self.assertEqual([one["error"]["field"] for one in said["refusals"]], ["/of/0", "/of"])
        said = self.server.ndjson("/plays", served[:4]).json
        self.assertEqual(said["accepted"], 4)
        said = self.server.ndjson("/exposures", [dict(one, surface="home") for one in served[:2]]).json
        self.assertEqual(said["accepted"], 2)
        counts = {one["key"]: one for one in self.counts("l")["counts"]}
        self.assertEqual(sorted(counts), ["author:0", "author:1", "author:2"])
        self.assertEqual(counts["author:0"]["served"]["1h"], 255)
        self.assertIs(counts["author:0"]["at_least"], True)
        self.assertEqual([counts["author:%d" % i]["played"]["1h"] for i in range(3)], [2, 1, 1])
        self.assertEqual([counts["author:%d" % i]["exposed"]["1h"] for i in range(3)], [1, 1, 0])

    def test_a_filter_that_records_counts(self):
        items = [{"id": "v%d" % i, "of": ["author:%d" % (i % 2)]} for i in range(5)]
        said = self.record("/filter", {"user": "r", "items": items, "record": True, "limit": 3})
        self.assertNotIn("recorded", said)
        counts = {one["key"]: one["served"]["1h"] for one in self.counts("r")["counts"]}
        self.assertEqual(counts, {"author:0": 2, "author:1": 1})

    def test_drain_and_kill(self):
        self.record("/impressions", {"user": "k", "at": NOW - 1, "items": [{"id": "v", "of": ["author:1"]}]})
        before = self.counts("k")
        self.assertEqual(before["counts"][0]["served"]["1h"], 1)
        self.server.post("/admin/drain", {})
        self.assertEqual(self.counts("k"), before)
        self.server.kill()
        self.server.start()
        self.assertEqual(self.counts("k"), before)
        self.record("/impressions", {"user": "k", "at": NOW - 1, "items": [{"id": "v", "of": ["author:1"]}]})
        self.assertEqual(self.counts("k"), before)
        self.assertEqual(self.server.delete("/users/k").status, 200)
        self.assertEqual(self.counts("k"), {"counts": []})

    def test_a_collection_of_its_own(self):
        self.server.put("/collections/shorts", {})
        self.record("/impressions", {"user": "c", "collection": "shorts", "items": [{"id": "v", "of": ["author:1"]}]})
        self.assertEqual(self.counts("c"), {"counts": []})
        self.assertEqual(len(self.counts("c", collection="shorts")["counts"]), 1)

    def test_items_are_counted_where_the_policy_names_them(self):
        self.server.put("/collections/items", {"counts": {"item": "30d", "author": "1d"}})
        event = {"user": "i", "item": "v1", "at": NOW - 2 * DAY, "of": ["author:1"]}
        for path in ("/plays", "/exposures"):
            self.record(path, {"events": [event, dict(event, item=7)], "collection": "items"})
        self.record("/impressions", {"user": "i", "items": ["v1"], "at": NOW, "collection": "items"})
        self.assertEqual(self.counts("i", collection="items"), {"counts": []}, "kept for a day")
        counts = {one["key"]: one for one in self.counts("i", "item", collection="items")["counts"]}
        self.assertEqual(sorted((key, one["item"]) for key, one in counts.items()), [("item:7", 7), ("item:v1", "v1")])
        self.assertEqual([counts["item:v1"][fact]["7d"] for fact in ("served", "exposed", "played")], [1, 1, 1])
        lines = [json.loads(line) for line in self.server.get("/users/i/export").body.splitlines()]
        self.assertEqual([one["key"] for one in lines if one["type"] == "count"], ["item:7", "item:v1"])
        self.server.put("/collections/items", {"counts": {}})
        self.assertEqual(self.counts("i", "item", collection="items"), {"counts": []})
        self.assertEqual(len(self.counts("i", collection="items")["counts"]), 1)

    def test_the_export_has_all_of_them(self):
        self.record("/impressions", {"user": "x", "items": [
            {"id": "v%d" % i, "of": ["author:%03d" % i, "topic"]} for i in range(150)]})
        lines = [json.loads(line) for line in self.server.get("/users/x/export").body.splitlines()]
        told = [one for one in lines if one["type"] == "count"]
        self.assertEqual([one["key"] for one in told], ["author:%03d" % i for i in range(150)] + ["topic"])
        self.assertEqual((told[-1]["collection"], told[-1]["served"]["1h"]), ("default", 150))
        self.assertEqual(lines[-1]["type"], "end")

    def test_what_is_malformed_names_its_field_and_changes_nothing(self):
        for path, body, field in [
                ("/impressions", {"user": "m", "items": [{"id": "v", "of": ["a", ""]}]}, "/items/0/of/1"),
                ("/impressions", {"user": "m", "items": ["v", {"id": "v", "of": ["g" * 65]}]}, "/items/1/of/0"),
                ("/impressions", {"user": "m", "items": ["v", {"id": "v", "of": ["g"] * 17}]}, "/items/1/of"),
                ("/impressions", {"user": "m", "items": [{"of": ["a"]}]}, "/items/0/id"),
                ("/impressions", {"user": "m", "items": [{"id": "v", "by": ["a"]}]}, "/items/0/by"),
                ("/impressions", {"user": "m", "items": ["v"], "surface": ""}, "/surface"),
                ("/plays", {"events": [{"user": "m", "item": "v", "of": ["a", 1]}]}, "/events/0/of/1"),
                ("/plays", {"events": [{"user": "m", "item": "v", "of": {}}]}, "/events/0/of"),
                ("/exposures", {"events": [{"user": "m", "item": "v", "of": ["a", ""]}]}, "/events/0/of/1")]:
            answer = self.server.post(path, body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), body)
        self.assertEqual(self.counts("m", "a"), {"counts": []})
        for query, status, field in [("", 400, "/of"), ("?of=", 400, "/of"), ("?of=" + "g" * 65, 400, "/of"),
                                     ("?of=a&limit=3", 400, "/limit"), ("?of=a&collection=none", 404, "/collection")]:
            answer = self.server.get("/users/m/counts" + query)
            self.assertEqual((answer.status, answer.error["field"]), (status, field), query)


if __name__ == "__main__":
    unittest.main()
