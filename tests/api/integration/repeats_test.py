"""`unseen_share` of POST /filter, and `when_short`: what comes back where a page runs dry."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import binary_filter
from openapi_check import CheckedServer

HOUR = 3_600_000
DAY = 24 * HOUR
NOW = 1_700_000_000_000  # 2023-11-14 22:13 UTC
SHORT = {"need": 20, "reuse": "oldest", "gap": "14d", "max": 9}


class RepeatsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def ask(self, user, items, when_short=None, **more):
        asked = {"user": user, "items": items, **more}
        if when_short is not None:
            asked["when_short"] = when_short
        answer = self.server.post("/filter", asked)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json["seen"] + answer.json.get("excluded", 0) +
                         answer.json.get("duplicates", 0) + len(answer.json["unseen"]),
                         answer.json["examined"])
        return answer.json

    def record(self, path, user, *items_at, **more):
        rows = [{"user": user, "item": item, "at": at} for item, at in items_at]
        answer = self.server.post(path, {"events": rows, **more})
        self.assertEqual((answer.status, answer.json["refused"]), (200, 0), answer)

    def serve(self, user, items, at):
        answer = self.server.post("/impressions", {"user": user, "items": items, "at": at})
        self.assertEqual(answer.status, 200, answer)

    def test_every_answer_says_how_dry_it_runs(self):
        self.record("/plays", "share", ("a", NOW), ("b", NOW))
        for items, more, share in [(["a", "b", "c"], {}, 1 / 3), (["a", "b"], {}, 0), ([], {}, 1),
                                   (["c", "c", "d", "a"], {}, 0.5),
                                   (["c", "d"], {"exclude": ["d"]}, 0.5),
                                   (["a", "c", "d"], {"limit": 1}, 0.5),
                                   (["c", None], {"invalid": "skip"}, 0.5)]:
            answer = self.server.post("/filter", {"user": "share", "items": items, **more})
            self.assertEqual(answer.json["unseen_share"], share, items)
            self.assertNotIn("repeats", answer.json)

    def test_the_one_longest_ago_comes_first(self):
        user = "order"
        self.record("/plays", user, (60, NOW - 60 * DAY), ("p30", NOW - 30 * DAY), ("p0", NOW))
        self.serve(user, ["s20"], NOW - 20 * DAY)
        self.serve(user, ["s14"], NOW - 14 * DAY)
        self.serve(user, ["s13"], NOW - 14 * DAY + 1)
        items = ["s13", "p0", "s14", "new", "p30", "s20", 60]
        for drained in (False, True):
            if drained:
                self.assertEqual(self.server.post("/admin/drain").status, 200)
            said = self.ask(user, items, SHORT, explain=True)
            self.assertEqual(said["repeats"], [60, "s20", "s14"], "October ended 13.9 days ago")
            self.assertEqual((said["unseen"], said["seen"]), (["new"], 6))
            self.assertEqual(set(said["reasons"]), set(map(str, items)) - {"new"})
            said = self.ask(user, items, {"need": 2, "gap": "13d", "max": 4})
            self.assertEqual(said["repeats"], [60, "s20", "s14", "s13"])
            said = self.ask(user, items, {"need": 20, "gap": "13d", "max": 9})
            self.assertEqual(said["repeats"], [60, "s20", "s14", "s13", "p30"])
            self.assertEqual(self.ask(user, items, dict(SHORT, need=1))["repeats"], [])
            self.assertEqual(self.ask(user, items, dict(SHORT, max=1))["repeats"], [60])
            self.assertEqual(self.ask(user, items + [60], dict(SHORT, max=1), limit=1)["repeats"],
                             [], "the limit was reached")

    def test_by_the_facts_that_are_asked(self):
        user = "facts"
        self.record("/plays", user, ("v", NOW - 60 * DAY))
        self.record("/exposures", user, ("v", NOW - 20 * DAY), ("w", NOW - 20 * DAY))
        self.serve(user, ["v"], NOW - HOUR)
        self.assertEqual(self.ask(user, ["v", "w"], SHORT)["repeats"], [])
        for no, repeats in [([{"fact": "played"}], ["v"]),
                            ([{"fact": "exposed"}], ["v", "w"]),
                            ([{"fact": "exposed", "within": "19d"}], []),
                            ([{"fact": "played"}, {"fact": "exposed"}], ["v", "w"]),
                            ([{"fact": "played"}, {"fact": "served"}], [])]:
            self.assertEqual(self.ask(user, ["v", "w"], SHORT, **{"not": no})["repeats"], repeats)

    def test_never_what_a_mark_or_the_caller_took(self):
        user = "marks"
        self.record("/plays", user, *[(item, NOW - 60 * DAY) for item in ("m", "x", "v")])
        self.server.post("/users/%s/marks" % user, {"group": "author:1", "until": "always"})
        said = self.ask(user, [{"id": "m", "of": ["author:1"]}, "x", {"id": "v", "of": ["g"]}],
                        SHORT, exclude=["x"])
        self.assertEqual((said["repeats"], said["seen"], said["excluded"]), (["v"], 2, 1))

    def test_a_degraded_answer_has_none(self):
        self.record("/plays", "late", ("v", NOW - 60 * DAY))
        said = self.ask("late", ["v"], SHORT, deadline_ms=0)
        self.assertEqual((said["degraded"], said["repeats"]), (True, []))

    def test_they_are_recorded(self):
        self.record("/plays", "rec", ("a", NOW - 60 * DAY), ("b", NOW - 60 * DAY))
        pages = [self.ask("rec", ["a", "b", "c"], dict(SHORT, max=1), record=True)
                 for _ in range(3)]
        self.assertEqual([(page["unseen"], page["repeats"]) for page in pages],
                         [(["c"], ["a"]), ([], ["b"]), ([], [])])

    def test_history_knows_the_time(self):
        self.server.put("/collections/watched", {"history": {"enabled": True}})
        self.record("/plays", "h", ("v", NOW - 20 * DAY), collection="watched")
        for drained in (False, True):
            if drained:
                self.server.post("/admin/drain")
            for gap, repeats in [("20d", ["v"]), ("1728000001ms", [])]:
                said = self.ask("h", ["v"], dict(SHORT, gap=gap), collection="watched")
                self.assertEqual(said["repeats"], repeats, gap)

    def test_lines(self):
        self.record("/plays", "n", ("v", NOW - 60 * DAY))
        lines = self.server.ndjson("/filter", [
            {"user": "n", "items": ["v"], "when_short": SHORT}, {"user": "n", "items": ["v"]},
            {"user": "n", "items": ["v"], "when_short": dict(SHORT, max=0)}]).lines
        self.assertEqual(lines[0]["repeats"], ["v"])
        self.assertNotIn("repeats", lines[1])
        self.assertEqual(lines[2]["error"]["field"], "/when_short/max")

    def test_what_is_malformed_names_its_field(self):
        good = {"need": 3, "gap": "14d", "max": 2}
        self.ask("m", ["v"], good)
        for wrong, field in [
                ([], ""), ("oldest", ""), ({}, "/need"), ({"need": 3, "max": 2}, "/gap"),
                ({"need": 3, "gap": "1d"}, "/max"), (dict(good, need=0), "/need"),
                (dict(good, need=100_001), "/need"), (dict(good, need=2**40), "/need"),
                (dict(good, need="3"), "/need"), (dict(good, need=-1), "/need"),
                (dict(good, max=0), "/max"), (dict(good, max=1_001), "/max"),
                (dict(good, gap="0d"), "/gap"), (dict(good, gap="14"), "/gap"),
                (dict(good, gap=14), "/gap"), (dict(good, reuse="newest"), "/reuse"),
                (dict(good, reuse=1), "/reuse"), (dict(good, since="1d"), "/since")]:
            answer = self.server.post("/filter", {"user": "m", "items": ["v"], "record": True,
                                                  "when_short": wrong})
            self.assertEqual((answer.status, answer.error["field"]),
                             (400, "/when_short" + field), wrong)
        self.assertEqual(self.ask("m", ["v"])["unseen"], ["v"], "nothing was recorded")
        refused = binary_filter.ask(self.server, [1], user="m", when_short="3")
        self.assertEqual((refused.status, refused.error["field"]), (400, "/when_short"))


class LoadTest(unittest.TestCase):
    def test_an_answer_that_load_cut_has_none(self):
        with CheckedServer(clock_ms=NOW) as server:
            server.put("/collections/default", {"on_load": {"min_share": 0.5}})
            server.post("/plays", {"events": [{"user": "u", "item": 0, "at": NOW - 60 * DAY}]})
            asked = {"user": "u", "items": list(range(10)), "when_short": SHORT}
            self.assertEqual(server.post("/filter", asked).json["repeats"], [0])
            server.post("/admin/degrade", {"level": 3, "for_s": 60})
            said = server.post("/filter", asked).json
            self.assertEqual((said["missing"], said["repeats"]), (["load"], []))
            self.assertEqual(said["unseen_share"], len(said["unseen"]) / said["examined"])

    def test_load_cuts_neither_sets_nor_caps(self):
        with CheckedServer(clock_ms=NOW) as server:
            server.put("/collections/default", {"on_load": {"min_share": 0.5}})
            server.put("/sets/blocked", {"items": ["0"]})
            items = [{"id": str(i), "of": ["author:%d" % (i % 2)]} for i in range(10)]
            asked = {"user": "u", "items": items, "exclude_sets": ["blocked"],
                     "caps": [{"of": "author", "n": 1, "within": "1d"}]}
            server.post("/admin/degrade", {"level": 3, "for_s": 60})
            for more in ({}, {"when_short": SHORT}):
                said = server.post("/filter", dict(asked, **more)).json
                self.assertEqual((said["missing"], said["unseen"]), (["load"], ["1", "2"]))


class CrashTest(unittest.TestCase):
    def test_the_same_before_and_after_a_killed_process_and_a_drain(self):
        with CheckedServer(clock_ms=NOW) as server:
            rows = [{"user": "u", "item": "p%d" % days, "at": NOW - days * DAY}
                    for days in (0, 30, 60, 90)]
            self.assertEqual(server.post("/plays", {"events": rows}).json["accepted"], 4)
            server.post("/impressions", {"user": "u", "items": ["s20"], "at": NOW - 20 * DAY})
            server.post("/exposures", {"events": [
                {"user": "u", "item": item, "at": NOW - 16 * DAY} for item in ("e16", "p90")]})
            asked = {"user": "u", "items": ["p0", "p30", "p60", "p90", "s20", "e16", "new"],
                     "not": [{"fact": "played"}, {"fact": "served"}, {"fact": "exposed"}],
                     "when_short": SHORT}
            for step in ("", "kill", "drain", "kill"):
                if step == "kill":
                    server.kill()
                    server.start()
                elif step == "drain":
                    self.assertEqual(server.post("/admin/drain").status, 200)
                said = server.post("/filter", asked).json
                self.assertEqual((said["unseen"], said["repeats"]),
                                 (["new"], ["p60", "s20", "p90", "e16"]), step)


if __name__ == "__main__":
    unittest.main()
