"""POST /exposures, and questions that say which facts count (`not` of POST /filter)."""

import os
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

HOUR = 3_600_000
DAY = 24 * HOUR
NOW = 1_700_000_000_000


class ExposuresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def ask(self, user, items, no, **more):
        answer = self.server.post("/filter", {"user": user, "items": items, "not": no, **more})
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def expose(self, *events):
        answer = self.server.post("/exposures", {"events": list(events)})
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def test_a_question_says_what_counts(self):
        said = self.expose({"user": "q", "item": "v1", "at": NOW - HOUR, "surface": "home"},
                           {"user": "q", "item": 2})
        self.assertEqual((said["accepted"], said["refused"]), (2, 0))
        items = ["v1", 2, "v3"]
        self.assertEqual(self.server.post("/filter", {"user": "q", "items": items}).json["unseen"],
                         items)
        for no, unseen in [
                ([{"fact": "exposed"}], ["v3"]),
                ([{"fact": "exposed", "within": "7d"}], ["v3"]),
                ([{"fact": "exposed", "within": "60m"}], ["v3"]),
                ([{"fact": "exposed", "within": "3599s"}], ["v1", "v3"]),
                ([{"fact": "exposed", "surface": "home"}], [2, "v3"]),
                ([{"fact": "exposed", "last": 1}], ["v1", "v3"]),
                ([{"fact": "exposed", "surface": "search"}, {"fact": "played"}], items),
                ([], items)]:
            said = self.ask("q", items, no)
            self.assertEqual(said["unseen"], unseen, no)
            self.assertNotIn("coarse", said)
            self.assertNotIn("beyond", said)
        said = self.ask("q", items, [{"fact": "exposed"}], explain=True)
        self.assertEqual(said["reasons"], {"v1": "exposed", "2": "exposed"})

    def test_in_binary(self):
        binary = {"Content-Type": "application/octet-stream"}

        def post(query, body):
            return self.server.request("POST", "/exposures?" + query, body, binary)

        def text(value):
            return struct.pack("<I", len(value)) + value.encode()

        answer = post("user=b&ids=u64&surface=home&at=%d&count=2" % (NOW - HOUR), struct.pack("<QQ", 1, 2))
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 2), answer)
        rows = b"".join(text("b") + text(item) + struct.pack("<Q", at) for item, at in (("x", NOW - DAY), ("y", 0)))
        answer = post("ids=string", rows)
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 2), answer)
        items = [1, 2, "x", "y", "z"]
        for no, unseen in [([{"fact": "exposed"}], ["z"]),
                           ([{"fact": "exposed", "surface": "home"}], ["x", "y", "z"]),
                           ([{"fact": "exposed", "within": "2h"}], ["x", "z"])]:
            self.assertEqual(self.ask("b", items, no)["unseen"], unseen, no)
        for query, body, field in [("user=m&ids=u64&surface=", b"12345678", "/surface"),
                                   ("user=m&ids=u64&surface=" + "s" * 33, b"12345678", "/surface"),
                                   ("user=m&ids=u64&count=2", b"12345678", "/count"),
                                   ("user=m", b"12345678", "/ids"), ("ids=u64&at=5", b"", "/at")]:
            answer = post(query, body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), query)
        answer = self.server.post("/exposures?surface=home", {"events": [{"user": "m", "item": "v"}]})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/surface"))
        self.assertEqual(self.ask("m", ["v"], [{"fact": "exposed"}])["unseen"], ["v"])

    def test_the_policy_may_say_that_they_count(self):
        self.server.put("/collections/shown", {"exposed_is_seen": True,
                                               "exposures": {"recent": 2, "days": 7}})
        policy = self.server.get("/collections/shown").json
        self.assertEqual((policy["exposed_is_seen"], policy["exposures"]),
                         (True, {"recent": 2, "days": 7}))
        rows = [{"user": "p", "item": item, "at": NOW - at}
                for item, at in [("old", 8 * DAY), ("a", 3), ("b", 2), ("c", 1)]]
        self.server.post("/exposures", {"events": rows, "collection": "shown"})
        said = self.server.post("/filter", {"user": "p", "items": ["old", "a", "b", "c"],
                                            "collection": "shown"}).json
        self.assertEqual(said["unseen"], ["old", "a"])
        said = self.ask("p", ["a", "b"], [{"fact": "exposed", "within": "1h"}],
                        collection="shown")
        self.assertEqual((said["unseen"], said["beyond"]), (["a"], ["exposed"]))
        said = self.ask("p", ["a"], [{"fact": "played", "within": "36500d"}], collection="shown")
        self.assertEqual(said["beyond"], ["played"])

    def test_lines(self):
        lines = [{"user": "n", "item": "v%d" % i, "at": NOW - i, "surface": "s%d" % (i % 2)}
                 for i in range(9_000)]
        bad = [{"user": "n"}, b"no JSON", {"user": "n", "item": "x", "surface": ""},
               {"user": "n", "item": "x", "progress_s": 1}]
        said = self.server.ndjson("/exposures", lines[:10] + bad + lines[10:]).json
        self.assertEqual((said["accepted"], said["refused"]), (9_000, 4))
        self.assertEqual([one["index"] for one in said["refusals"]], [10, 11, 12, 13])
        self.assertEqual(said["refusals"][2]["error"]["field"], "/surface")
        items = ["v%d" % i for i in range(1_001)]
        self.assertEqual(self.ask("n", items, [{"fact": "exposed"}])["unseen"], ["v1000"])
        self.assertEqual(self.ask("n", items[:4], [{"fact": "exposed", "surface": "s1"}])["unseen"],
                         ["v0", "v2"])

    def test_refused_and_counted_as_plays_are(self):
        late = {"user": "r", "item": "v", "at": NOW - 400 * DAY}
        answer = self.server.post("/exposures", {"events": [late]})
        self.assertEqual(answer.status, 422)
        self.assertEqual(answer.json["refused_by"], {"too_old": 1})
        metrics = self.server.get("/metrics").body.decode()
        counted = re.search(r'^seendb_exposures_refused_by_reason_total\{collection="default",'
                            r'reason="too_old"\} (\d+)$', metrics, re.M)
        self.assertEqual(counted.group(1), "1")

    def test_what_is_malformed_names_its_field_and_changes_nothing(self):
        good = {"user": "m", "item": "v"}
        for body, field in [
                ({}, "/events"), ({"events": {}}, "/events"), ({"events": [1]}, "/events/0"),
                ({"events": [good, {"user": "m"}]}, "/events/1/item"),
                ({"events": [good, {"item": "v"}]}, "/events/1/user"),
                ({"events": [good, dict(good, surface="")]}, "/events/1/surface"),
                ({"events": [good, dict(good, surface="s" * 33)]}, "/events/1/surface"),
                ({"events": [good, dict(good, at="now")]}, "/events/1/at"),
                ({"events": [good, dict(good, day="2023-01-01")]}, "/events/1/day"),
                ({"events": [good], "user": "m"}, "/user"),
                ({"events": [good], "collection": "none"}, "/collection")]:
            answer = self.server.post("/exposures", body)
            self.assertEqual((answer.status, answer.error["field"]),
                             (404 if field == "/collection" else 400, field), body)
        self.assertEqual(self.ask("m", ["v"], [{"fact": "exposed"}])["unseen"], ["v"])
        nine = [{"fact": "played"}] * 9
        for no, field in [
                ({}, ""), ([1], "/0"), ([{}], "/0/fact"), ([{"fact": "liked"}], "/0/fact"),
                ([{"fact": "played", "window": 0}], "/0/window"),
                ([{"fact": "played", "window": 7}], "/0/window"),
                ([{"fact": "played"}, {"fact": "played", "within": "0s"}], "/1/within"),
                ([{"fact": "exposed", "within": "7"}], "/0/within"),
                ([{"fact": "exposed", "within": "-7d"}], "/0/within"),
                ([{"fact": "exposed", "within": "99999999999999999d"}], "/0/within"),
                ([{"fact": "exposed", "within": 7}], "/0/within"),
                ([{"fact": "played", "last": 3}], "/0/last"),
                ([{"fact": "exposed", "last": 0}], "/0/last"),
                ([{"fact": "exposed", "last": 1001}], "/0/last"),
                ([{"fact": "played", "surface": "home"}], "/0/surface"),
                ([{"fact": "exposed", "surface": ""}], "/0/surface"),
                ([{"fact": "exposed", "since": "7d"}], "/0/since"), (nine, "")]:
            answer = self.server.post("/filter", {"user": "m", "items": ["v"], "not": no})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/not" + field), no)
        answer = self.server.post("/filter", {"user": "m", "items": ["v"], "facts": ["plays"],
                                              "not": [{"fact": "exposed"}]})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/not"))
        self.assertEqual(self.server.put("/collections/m", {"exposures": {"days": 0}}).error["field"],
                         "/exposures/days")

    def test_a_span_of_plays_is_told_as_coarse(self):
        self.server.put("/collections/ten", {"bucket": "days:10", "window": 4})
        self.server.post("/plays", {"collection": "ten", "events": [
            {"user": "c", "item": "older", "at": NOW - 9 * DAY}, {"user": "c", "item": "now"}]})
        for drain in (False, True):
            if drain:
                self.server.post("/admin/drain")
            said = self.ask("c", ["older", "now", "never"], [{"fact": "played", "within": "1h"}],
                            collection="ten")
            self.assertEqual(said["coarse"], ["played"])
            self.assertIn("never", said["unseen"])
            said = self.ask("c", ["older", "now"], [{"fact": "played", "window": 4}],
                            collection="ten")
            self.assertEqual((said["unseen"], said.get("coarse")), ([], None))

    def test_a_history_knows_the_span_to_the_millisecond(self):
        self.server.put("/collections/whole", {"history": {"enabled": True}})
        self.server.post("/plays", {"collection": "whole", "events": [
            {"user": "w", "item": "before", "at": NOW - 5 * DAY - 1},
            {"user": "w", "item": "edge", "at": NOW - 5 * DAY}]})
        for drain in (False, True):
            if drain:
                self.server.post("/admin/drain")
            said = self.ask("w", ["before", "edge", "never"], [{"fact": "played", "within": "5d"}],
                            collection="whole")
            self.assertEqual((said["unseen"], said.get("coarse")), (["before", "never"], None))


class CrashTest(unittest.TestCase):
    def test_what_was_acknowledged_outlives_a_killed_process_and_a_drain(self):
        with CheckedServer(clock_ms=NOW) as server:
            no = [{"fact": "exposed", "within": "7d"}]

            def unseen(items):
                answer = server.post("/filter", {"user": "u", "items": items, "not": no})
                self.assertFalse(answer.json["degraded"])
                return answer.json["unseen"]

            items = []
            for round_number in range(4):
                item = "v%d" % round_number
                server.post("/exposures", {"events": [{"user": "u", "item": item}]})
                items.append(item)
                self.assertEqual(unseen(items + ["other"]), ["other"])
                if round_number % 2 == 0:
                    self.assertEqual(server.post("/admin/drain").status, 200)
                else:
                    server.kill()
                    server.start()
                self.assertEqual(unseen(items + ["other"]), ["other"])
            listed = server.get("/users/u").json["exposures"][0]["entries"]
            self.assertEqual(len(listed), 4)
            self.assertEqual(server.delete("/users/u").status, 200)
            server.kill()
            server.start()
            self.assertEqual(unseen(items), items)


if __name__ == "__main__":
    unittest.main()
