"""POST /filter as its callers see it."""

import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import binary_filter
from openapi_check import CheckedServer
from seendb_client import Server

DAY = 86_400_000
NOW = 1_700_000_000_000  # 14 November 2023


class FilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)
        cls.user = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        FilterTest.user += 1
        self.me = "user-%d" % FilterTest.user

    def play(self, *items, at=NOW):
        events = [{"user": self.me, "item": item, "at": at} for item in items]
        answer = self.server.post("/plays", {"events": events})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, len(items)), answer)

    def filter(self, items, **options):
        answer = self.server.post("/filter", dict(user=self.me, items=items, **options))
        self.assertEqual(answer.status, 200, answer)
        said = answer.json
        self.assertEqual(said["seen"] + said.get("excluded", 0) + said.get("duplicates", 0) +
                         len(said["unseen"]), said["examined"])
        return said

    def refuse(self, body, field, status=400):
        answer = self.server.post("/filter", body)
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.error["field"], field, answer)
        return answer

    def test_binary_says_the_same_as_json(self):
        numbers = list(range(1, 21))
        texts = ["v%d" % i for i in range(1, 21)]
        self.play(3, 8, 20, "v1", "v9", "v17")
        for ids in (numbers, texts):
            said = self.filter(ids)
            answer = binary_filter.ask(self.server, ids, user=self.me, collection="default")
            self.assertEqual((answer.status, answer.headers["content-type"]),
                             (200, binary_filter.BITMAP), answer)
            self.assertEqual(binary_filter.unseen(answer, ids), said["unseen"])
            self.assertEqual((len(answer.body), answer.headers["seendb-seen"],
                              answer.headers["seendb-degraded"]), (3, "3", "0"))
            self.assertNotIn("seendb-refuted", answer.headers)
            indexes = binary_filter.ask(self.server, ids, binary_filter.INDEXES, user=self.me)
            self.assertEqual(indexes.headers["content-type"], binary_filter.INDEXES)
            self.assertEqual(binary_filter.unseen(indexes, ids), said["unseen"])
        kind, body = binary_filter.body_of(texts)
        target = binary_filter.target_of(kind, user=self.me)
        refused = self.server.post(target, body + b"\1", {"Content-Type": binary_filter.BITMAP})
        self.assertEqual((refused.status, refused.error["field"]), (400, "/body"), refused)
        refused = binary_filter.ask(self.server, texts, "text/html", user=self.me)
        self.assertEqual((refused.status, refused.error["code"]), (406, "not_acceptable"), refused)

    def test_the_example(self):
        self.play("v3")
        answer = self.server.post("/filter", {"user": self.me, "items": ["v1", 2, "v3"],
                                              "collection": "default"})
        self.assertEqual(answer.body, b'{"unseen":["v1",2],"seen":1,"examined":3,'
                                      b'"unseen_share":0.6666666666666666,"degraded":false}')

    def test_order_and_spelling_are_kept_and_each_item_comes_once(self):
        self.play(7)
        body = ('{"user":"%s","items":["b","a","b", 7,"7","\\u0061",8,"caf\\u00e9","\xe9",'
                '18446744073709551615,"007"]}' % self.me)
        # Not checked against the document, whose numbers end at 2^63: it asks for text beyond.
        answer = Server.request(self.server, "POST", "/filter", body)
        self.assertEqual(
            answer.body.decode(),
            '{"unseen":["b","a",8,"caf\\u00e9","\xe9",18446744073709551615,"007"],'
            '"seen":1,"duplicates":3,"examined":11,'
            '"unseen_share":0.6363636363636364,"degraded":false}')

    def test_a_limit_counts_distinct_items_and_each_is_recorded_once(self):
        said = self.filter(["d1", "d1", "d2", "d1", "d3", "d4"], limit=3, record=True)
        self.assertEqual((said["unseen"], said["duplicates"], said["examined"]),
                         (["d1", "d2", "d3"], 2, 5))
        said = self.filter(["d1", "d4", 4, "d1", "4"])
        self.assertEqual((said["unseen"], said["seen"], said["duplicates"]), (["d4", 4], 1, 2))
        self.assertNotIn("duplicates", self.filter(["d4"]))

    def test_in_binary_the_first_of_them_has_the_bit(self):
        self.play(8)
        answer = binary_filter.ask(self.server, [7, 8, 7, 9, 8, 9], user=self.me)
        self.assertEqual(answer.body, b"\x09")
        self.assertEqual([answer.headers["seendb-" + name] for name in
                          ("seen", "duplicates", "examined")], ["1", "3", "6"])
        refused = binary_filter.ask(self.server, [7, 8], user=self.me, count=4)
        self.assertEqual((refused.status, refused.error["field"]), (400, "/count"), refused)

    def test_number_and_decimal_text_are_one_id(self):
        self.play("42", 18446744073709551615)
        self.assertEqual(self.filter([42, "42", "042", 18446744073709551615,
                                      "18446744073709551615"])["unseen"], ["042"])
        FilterTest.user += 1
        self.server.post("/plays", {"events": [{"user": 1000 + FilterTest.user, "item": "x"}]})
        self.me = str(1000 + FilterTest.user)
        self.assertEqual(self.filter(["x", "y"])["unseen"], ["y"])

    def test_reasons_in_their_order(self):
        self.play("old", at=NOW - 40 * DAY)
        self.play("both", "drained")
        self.server.post("/admin/drain")
        self.play("drained", "staged", "old-and-new")
        self.server.post("/impressions", {"user": self.me, "items": ["both", "served"]})
        said = self.filter(["old", "both", "drained", "staged", "served", "new", "staged"],
                           explain=True)
        self.assertEqual(said["reasons"], {"old": "play:2023-10", "both": "impression",
                                           "drained": "ring", "staged": "ring",
                                           "served": "impression"})
        self.server.post("/admin/drain")
        said = self.filter(["drained", "staged"], explain=True)
        self.assertEqual(said["reasons"], {"drained": "play:2023-11", "staged": "play:2023-11"})

    def test_facts(self):
        self.play("p")
        self.server.post("/impressions", {"user": self.me, "items": ["i"]})
        self.assertEqual(self.filter(["p", "i"], facts=["plays"])["unseen"], ["i"])
        self.assertEqual(self.filter(["p", "i"], facts=["impressions"])["unseen"], ["p"])
        self.assertEqual(self.filter(["p", "i"], facts=["plays", "impressions"])["unseen"], [])

    def test_limit_decides_a_prefix(self):
        self.play("s1", "s2")
        said = self.filter(["s1", "a", "s2", "b", "c"], limit=2)
        self.assertEqual((said["unseen"], said["seen"], said["examined"]), (["a", "b"], 2, 4))
        self.assertEqual(self.filter(["a"], limit=2**64 - 1)["unseen"], ["a"])

    def test_exclude(self):
        self.play("s")
        said = self.filter(["a", "s", "x", 5, "a"], exclude=["x", "5"])
        self.assertEqual((said["unseen"], said["seen"], said["excluded"]), (["a"], 1, 2))
        self.assertEqual(self.filter(["a"], exclude=[])["excluded"], 0)
        self.assertNotIn("excluded", self.filter(["a"]))

    def test_record_makes_impressions_at_once(self):
        self.assertEqual(self.filter(["a", "b", "c"], limit=2, record=True)["unseen"], ["a", "b"])
        self.assertEqual(self.filter(["a", "b", "c"], record=True)["unseen"], ["c"])
        self.assertEqual(self.filter(["a", "b", "c"])["unseen"], [])

    def test_a_passed_deadline_degrades_or_fails(self):
        self.play(*["v%d" % i for i in range(50)])
        said = self.filter(["v%d" % i for i in range(50)], deadline_ms=0)
        self.assertTrue(said["degraded"])
        self.assertIn("deadline", said["missing"])
        answer = self.server.post("/filter", {"user": self.me, "items": ["v1"], "deadline_ms": 0,
                                              "on_error": "fail"})
        self.assertEqual((answer.status, answer.error["code"]), (503, "unavailable"))
        said = self.filter(["v1"], deadline_ms=60_000, on_error="fail")
        self.assertEqual((said["degraded"], said["unseen"]), (False, []))

    def test_nothing_asked_nothing_answered(self):
        self.assertEqual(self.filter([]), {"unseen": [], "seen": 0, "examined": 0,
                                           "unseen_share": 1, "degraded": False})

    def test_ids_of_every_kind(self):
        ids = ["x" * 255, "\u6f22" * 85, "\U0001f600", "a\"b\\c/d\n\t\u0000", " ", 0, 2**64 - 1]
        self.play(*ids)
        said = self.filter(ids + ["other"], explain=True)
        self.assertEqual(said["unseen"], ["other"])
        self.assertEqual(set(said["reasons"]), {str(i) for i in ids})

    def test_a_hundred_thousand_candidates_and_no_more(self):
        items = list(range(100_000))
        self.play(5, 99_999)
        self.assertEqual(self.filter(items)["seen"], 2)
        self.refuse({"user": self.me, "items": items + [1]}, "/items")

    def test_refusals_name_the_field(self):
        me = json.dumps(self.me)
        for body, field in [
                (b"", ""), (b"{", ""), (b"[]", ""), (b'{"user":%s,"items":[]}x', ""),
                (b'{"items":[]}', "/user"), (b'{"user":%s}', "/items"),
                (b'{"user":"","items":[]}', "/user"), (b'{"user":null,"items":[]}', "/user"),
                (b'{"user":%s,"items":["a",""]}', "/items/1"),
                (b'{"user":%s,"items":["a","b","c",null]}', "/items/3"),
                (b'{"user":%s,"items":[-1]}', "/items/0"),
                (b'{"user":%s,"items":[1.0]}', "/items/0"),
                (b'{"user":%s,"items":[1e2]}', "/items/0"),
                (b'{"user":%s,"items":[18446744073709551616]}', "/items/0"),
                (b'{"user":%s,"items":["\\ud800"]}', "/items/0"),
                (b'{"user":%s,"items":["' + b"x" * 256 + b'"]}', "/items/0"),
                (b'{"user":%s,"items":["\xff"]}', ""),
                (b'{"user":%s,"items":[],"item":[]}', "/item"),
                (b'{"user":%s,"items":[],"items":[]}', "/items"),
                (b'{"user":%s,"items":[],"limit":0}', "/limit"),
                (b'{"user":%s,"items":[],"facts":["likes"]}', "/facts/0"),
                (b'{"user":%s,"items":[],"on_error":"x"}', "/on_error"),
                (b'{"user":%s,"items":[],"explain":"x"}', "/explain"),
                (b'{"user":%s,"items":[],"exclude":[{}]}', "/exclude/0"),
                (b'{"user":%s,"items":[],"deadline_ms":-1}', "/deadline_ms"),
                (b'{"user":%s,"items":' + b"[" * 9_999 + b"]" * 9_999 + b"}", "/items/0"),
                (b'{"user":%s,"items":' + b"[" * 100_000, "")]:
            self.refuse(body.replace(b"%s", me.encode()), field)
        self.refuse({"user": self.me, "items": [1], "collection": "nope"}, "/collection", 404)

    def test_a_refused_request_changes_nothing(self):
        self.refuse({"user": self.me, "items": ["a", ""], "record": True}, "/items/1")
        self.assertEqual(self.filter(["a"])["unseen"], ["a"])


if __name__ == "__main__":
    unittest.main()
