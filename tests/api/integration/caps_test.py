"""Caps of POST /filter, and POST /reserve."""

import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

DAY = 86_400_000
NOW = 1_700_000_000_000
TWO_OF_AN_AUTHOR = [{"of": "author", "n": 2, "within": "1d"}]
TWO_ADS = [{"of": "ad", "n": 2, "within": "1d"}]


def by_author(*items):
    return [{"id": item, "of": ["author:%d" % author]} for item, author in items]


class CapsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def call(self, path, body):
        answer = self.server.post(path, body)
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def served(self, user, of):
        counts = self.server.get("/users/%s/counts?of=%s" % (user, of)).json["counts"]
        return sum(one["served"]["1d"] for one in counts)

    def test_a_page_and_what_was_served_count(self):
        items = by_author(("s0", 0), ("s1", 0), ("s2", 0), ("t0", 1)) + ["plain"]
        said = self.call("/filter", {"user": "p", "items": items, "caps": TWO_OF_AN_AUTHOR, "explain": True})
        self.assertEqual(said["unseen"], ["s0", "s1", "t0", "plain"])
        self.assertEqual((said["seen"], said["excluded"], said["examined"]), (0, 1, 5))
        self.assertEqual(said["reasons"], {"s2": "cap:author:0"})
        self.call("/impressions", {"user": "p", "items": by_author(("s0", 0)), "at": NOW - DAY})
        for before in range(2):
            said = self.call("/filter", {"user": "p", "items": items, "caps": TWO_OF_AN_AUTHOR})
            self.assertEqual(said["unseen"], ["s1", "t0", "plain"])
            if before == 0:
                self.server.post("/admin/drain", {})
                self.server.kill()
                self.server.start()
        said = self.call("/filter", {"user": "p", "items": items,
                                     "caps": [dict(TWO_OF_AN_AUTHOR[0], within="23h")]})
        self.assertEqual(said["unseen"], ["s1", "s2", "t0", "plain"])
        said = self.call("/filter", {"user": "p", "items": items,
                                     "caps": [dict(TWO_OF_AN_AUTHOR[0], fact="played", n=1)]})
        self.assertEqual(said["unseen"], ["s1", "t0", "plain"])

    def test_limit_counts_what_is_left_and_record_counts_it(self):
        items = by_author(*[("v%d" % i, i // 10) for i in range(40)])
        body = {"user": "l", "items": items, "caps": TWO_OF_AN_AUTHOR, "limit": 5, "record": True}
        said = self.call("/filter", body)
        self.assertEqual(said["unseen"], ["v0", "v1", "v10", "v11", "v20"])
        self.assertEqual(self.served("l", "author"), 5)
        said = self.call("/filter", body)
        self.assertEqual(said["unseen"], ["v21", "v30", "v31"])
        self.assertEqual(self.call("/filter", body)["unseen"], [])

    def test_the_policys_caps_hold_besides(self):
        self.assertEqual(self.server.put("/collections/ads", {
            "counts": {"author": "7d", "item": "2d"}, "caps": TWO_OF_AN_AUTHOR}).status, 200)
        items = by_author(("a", 0), ("b", 0), ("c", 0))

        def left(**more):
            return self.call("/filter", {"user": "p2", "items": items, "collection": "ads", **more})["unseen"]

        self.assertEqual(left(), ["a", "b"])
        self.assertEqual(left(caps=[dict(TWO_OF_AN_AUTHOR[0], n=9)]), ["a", "b"])
        self.assertEqual(left(caps=[dict(TWO_OF_AN_AUTHOR[0], n=1)]), ["a"])
        answer = self.server.post("/filter", {"user": "p2", "items": items, "collection": "ads",
                                              "caps": [dict(TWO_OF_AN_AUTHOR[0], within="8d")]})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/caps/0/within"))
        said = self.call("/reserve", {"user": "p2", "items": items, "caps": [], "collection": "ads"})
        self.assertEqual(said, {"reserved": ["a", "b"], "refused": ["c"]})
        counts = self.server.get("/users/p2/counts?of=item&collection=ads").json["counts"]
        self.assertEqual(sorted((one["key"], one["item"]) for one in counts), [("item:a", "a"), ("item:b", "b")])
        said = self.call("/filter", {"user": "p2", "items": ["a", "z"], "collection": "ads", "explain": True,
                                     "caps": [{"of": "item", "n": 1, "within": "1d"}]})
        self.assertEqual((said["unseen"], said["reasons"]), (["z"], {"a": "cap:item"}))
        self.assertEqual(self.server.put("/collections/ads", {"caps": []}).status, 200)
        self.assertEqual(left(), ["a", "b", "c"])
        self.assertEqual(self.server.get("/collections/ads").json["counts"], {"author": "7d", "item": "2d"})
        for policy, field in [({"caps": [dict(TWO_OF_AN_AUTHOR[0], n=0)]}, "/caps/0/n"),
                              ({"caps": TWO_OF_AN_AUTHOR * 9}, "/caps"), ({"caps": {}}, "/caps"),
                              ({"caps": [dict(TWO_OF_AN_AUTHOR[0], within="8d")]}, "/caps/0/within"),
                              ({"counts": {"author": "31d"}}, "/counts/author"), ({"counts": []}, "/counts")]:
            answer = self.server.put("/collections/ads", policy)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), policy)

    def test_what_comes_back_is_within_caps(self):
        items = by_author(("a", 0), ("b", 0), ("c", 1), ("d", 1))
        self.call("/impressions", {"user": "w", "items": ["a", "b", "c"], "at": NOW - 20 * DAY})
        said = self.call("/filter", {"user": "w", "items": items, "caps": [dict(TWO_OF_AN_AUTHOR[0], n=1)],
                                     "when_short": {"need": 4, "reuse": "oldest", "gap": "14d", "max": 3}})
        self.assertEqual((said["unseen"], said["repeats"]), (["d"], ["a"]))

    def test_reservations(self):
        ads = [{"id": "a%d" % i, "of": ["ad:1"]} for i in range(3)]
        body = {"user": "r", "items": ads, "caps": TWO_ADS, "expires_ms": 60_000, "at": NOW - 1}
        for _ in range(2):  # a repeat promises the same
            self.assertEqual(self.call("/reserve", body), {"reserved": ["a0", "a1"], "refused": ["a2"]})
            self.assertEqual(self.served("r", "ad"), 2)
        said = self.call("/filter", {"user": "r", "items": ads, "caps": TWO_ADS})
        self.assertEqual(said["unseen"], [])
        self.call("/impressions", {"user": "r", "items": ads[:1]})
        self.assertEqual(self.served("r", "ad"), 2, "the impression takes the place of the promise")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.served("r", "ad"), 2)
        said = self.call("/reserve", {"user": "r", "items": ["plain", 7], "caps": TWO_ADS})
        self.assertEqual(said, {"reserved": ["plain", 7], "refused": []})
        ended = dict(body, user="e", at=NOW - 60_000)
        self.assertEqual(self.call("/reserve", ended)["reserved"], ["a0", "a1"])
        self.assertEqual(self.served("e", "ad"), 0)

    def test_many_at_once_never_exceed_a_cap(self):
        promised = []

        def ask(number):
            for i in range(10):
                body = {"user": "c", "items": [{"id": "a%d-%d" % (number, i), "of": ["ad:1"]}],
                        "caps": [dict(TWO_ADS[0], n=7)], "expires_ms": DAY, "at": NOW - number * 100 - i}
                promised.extend(self.server.post("/reserve", body).json["reserved"])
                self.server.post("/reserve", body)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(promised), 7)
        self.assertEqual(self.served("c", "ad"), 7)

    def test_what_is_malformed_names_its_field_and_changes_nothing(self):
        good = {"of": "ad", "n": 2, "within": "1d"}
        for cap, field in [(dict(good, n=0), "/0/n"), (dict(good, n=256), "/0/n"), (dict(good, n=-1), "/0/n"),
                           (dict(good, of=""), "/0/of"), (dict(good, of="g" * 65), "/0/of"),
                           (dict(good, within="59s"), "/0/within"), (dict(good, within="31d"), "/0/within"),
                           (dict(good, within=1), "/0/within"), (dict(good, fact="liked"), "/0/fact"),
                           (dict(good, more=1), "/0/more"), ({"of": "ad", "n": 1}, "/0/within"),
                           ({"of": "ad", "within": "1d"}, "/0/n"), ({"n": 1, "within": "1d"}, "/0/of"), (1, "/0")]:
            for path in ["/filter", "/reserve"]:
                answer = self.server.post(path, {"user": "m", "items": [{"id": "a", "of": ["ad:1"]}], "caps": [cap]})
                self.assertEqual((answer.status, answer.error["field"]), (400, "/caps" + field), cap)
        self.assertEqual(self.server.post("/filter", {"user": "m", "items": ["a"], "caps": [good] * 9}).error["field"],
                         "/caps")
        body = {"user": "m", "items": [{"id": "a", "of": ["ad:1"]}], "caps": [good]}
        for more, field in [({"expires_ms": 0}, "/expires_ms"), ({"expires_ms": 31 * DAY}, "/expires_ms"),
                            ({"at": NOW - 400 * DAY}, "/at"), ({"items": ["a", ""]}, "/items/1"),
                            ({"items": [{"id": "a", "of": [""]}]}, "/items/0/of/0"), ({"user": ""}, "/user"),
                            ({"record": True}, "/record")]:
            answer = self.server.post("/reserve", dict(body, **more))
            self.assertEqual((answer.status, answer.error["field"]), (400, field), more)
        for missing in ["user", "items", "caps"]:
            answer = self.server.post("/reserve", {key: body[key] for key in body if key != missing})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/" + missing))
        answer = self.server.post("/reserve", dict(body, collection="none"))
        self.assertEqual((answer.status, answer.error["field"]), (404, "/collection"))
        self.assertEqual(self.served("m", "ad"), 0)


if __name__ == "__main__":
    unittest.main()
