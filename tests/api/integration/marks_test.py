"""/users/{user}/marks, and candidates of POST /filter with groups."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

HOUR = 3_600_000
NOW = 1_700_000_000_000


class MarksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def mark(self, user, group, until, **more):
        answer = self.server.post("/users/%s/marks" % user, dict(group=group, until=until, **more))
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json["accepted"], 1)

    def ask(self, user, items, **more):
        answer = self.server.post("/filter", dict(user=user, items=items, **more))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def marks(self, user, query=""):
        answer = self.server.get("/users/%s/marks%s" % (user, query))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def test_all_of_a_group_up_to_a_time_is_seen(self):
        self.mark("a", "channel:9", 5_000)
        self.mark("a", "author:3", "always")
        self.server.post("/plays", {"events": [{"user": "a", "item": "played"}]})
        items = ["plain", {"id": "v1", "of": ["channel:9"], "at": 5_000},
                 {"id": "v2", "of": ["channel:9"], "at": 5_001}, 17,
                 {"id": 18, "of": ["channel:8", "author:3"]}, {"id": "v3", "of": ["channel:9"]},
                 "played", {"id": "v4"}]
        said = self.ask("a", items, explain=True)
        self.assertEqual(said["unseen"], ["plain", "v2", 17, "v3", "v4"])
        self.assertEqual(said["reasons"], {"v1": "mark:channel:9", "18": "mark:author:3",
                                           "played": "ring"})
        self.assertEqual((said["seen"], said["examined"], said["undated"]), (3, 8, 1))
        self.assertNotIn("undated", self.ask("a", ["plain", "played"]))
        self.assertEqual(self.ask("b", items)["seen"], 0, "another user's")
        answer = self.server.ndjson("/filter", [{"user": user, "items": items}
                                                for user in ("a", "b")])
        first, second = [json.loads(line) for line in answer.body.splitlines()]
        self.assertEqual(first["unseen"], ["plain", "v2", 17, "v3", "v4"])
        self.assertEqual(second["seen"], 0)

    def test_recorded_and_counted_with_others(self):
        self.mark("c", "g\"1\"", 10)
        items = [{"id": "x", "of": ["g\"1\""], "at": 1}, {"id": "y", "of": ["g\"1\""], "at": 1},
                 {"id": "y"}, {"id": "z", "of": ["h"], "at": 1}]
        said = self.ask("c", items, exclude=["x"], explain=True, record=True, verify=True)
        self.assertEqual((said["unseen"], said["seen"], said["excluded"], said["duplicates"]),
                         (["z"], 1, 1, 1))
        self.assertEqual(said["reasons"], {"y": "mark:g\"1\""})
        self.assertEqual(self.ask("c", ["z"])["unseen"], [])
        said = self.ask("c", items, **{"not": [{"fact": "played"}]})
        self.assertEqual(said["unseen"], ["x", "z"][1:])
        skipped = [None, {"id": None, "of": ["h"]}, {"id": "", "of": ["h"]}, {"id": "w"}]
        said = self.ask("c", skipped[2:], invalid="skip")
        self.assertEqual((said["unseen"], said["invalid"]), (["w"], 1))

    def test_are_listed_by_group_and_deleted(self):
        for group, until in (("b", 5), ("a/1", "always"), ("c", 7)):
            self.mark("d", group, until, at=NOW - 10)
        self.mark("d", "c", 6)
        page = self.marks("d", "?limit=2")
        self.assertEqual(page, {"marks": [{"group": "a/1", "until": "always", "at": NOW - 10},
                                          {"group": "b", "until": 5, "at": NOW - 10}],
                                "cursor": "b"})
        self.assertEqual(self.marks("d", "?limit=2&cursor=b"),
                         {"marks": [{"group": "c", "until": 7, "at": NOW}]})
        self.assertEqual(self.server.get("/users/d").json["marked_groups"], 3)
        self.assertEqual(self.server.delete("/users/d/marks/a%2F1").json, {"deleted": True})
        self.assertEqual(self.server.delete("/users/d/marks/a%2F1").json, {"deleted": False})
        self.mark("d", "a/1", "always", at=NOW - 10)
        self.mark("d", "a/1", "always", at=NOW)
        self.assertEqual([one["group"] for one in self.marks("d")["marks"]], ["b", "c"])
        self.mark("d", "a/1", 3, at=NOW + 1)
        exported = self.server.get("/users/d/export").body.decode().splitlines()
        told = [json.loads(line) for line in exported]
        self.assertEqual([one for one in told if one["type"] == "mark"],
                         [{"type": "mark", "group": "a/1", "until": 3, "at": NOW + 1},
                          {"type": "mark", "group": "b", "until": 5, "at": NOW - 10},
                          {"type": "mark", "group": "c", "until": 7, "at": NOW}])
        for query, field in (("?limit=0", "/limit"), ("?limit=1001", "/limit"), ("?cursor=", "/cursor")):
            answer = self.server.get("/users/d/marks" + query)
            self.assertEqual((answer.status, answer.error["field"]), (400, field))

    def test_lists_and_lines(self):
        said = self.server.post("/users/e/marks", {"marks": [
            {"group": "g%d" % i, "until": i} for i in range(1_000)]}).json
        self.assertEqual((said["accepted"], said["refused"]), (1_000, 0))
        lines = [{"group": "h%d" % i, "until": i} for i in range(2_500)]
        bad = [{"group": ""}, b"no JSON", {"group": "x", "until": "never"},
               {"group": "x", "until": 1, "at": NOW + HOUR + 1}]
        said = self.server.ndjson("/users/e/marks", lines[:10] + bad + lines[10:]).json
        self.assertEqual((said["accepted"], said["refused"]), (2_500, 4))
        self.assertEqual([one["index"] for one in said["refusals"]], [10, 11, 12, 13])
        self.assertEqual([one["error"].get("field") for one in said["refusals"]][2:],
                         ["/until", "/at"])
        self.assertEqual(self.server.get("/users/e").json["marked_groups"], 3_500)
        metrics = self.server.get("/metrics").body.decode()
        self.assertIn("\nseendb_marks_accepted_total ", metrics)

    def test_one_group_too_many_is_refused(self):
        lines = [{"group": "g%d" % i, "until": 1} for i in range(10_000)]
        self.assertEqual(self.server.ndjson("/users/f/marks", lines).json["accepted"], 10_000)
        answer = self.server.post("/users/f/marks", {"group": "more", "until": 1})
        self.assertEqual((answer.status, answer.error["field"]), (409, "/group"))
        answer = self.server.post("/users/f/marks", {"marks": [{"group": "g1", "until": 2},
                                                               {"group": "more", "until": 1}]})
        self.assertEqual((answer.status, answer.error["field"]), (409, "/marks/1/group"))
        self.assertEqual(self.marks("f", "?limit=2")["marks"][1]["until"], 1)
        said = self.server.ndjson("/users/f/marks", [{"group": "more", "until": 1},
                                                     {"group": "g1", "until": 3}]).json
        self.assertEqual((said["accepted"], said["refused"]), (1, 1))

    def test_what_is_malformed_names_its_field_and_changes_nothing(self):
        good = {"group": "g", "until": 5}
        for body, field in [
                ({}, "/group"), ({"group": "g"}, "/until"), (dict(good, group=""), "/group"),
                (dict(good, group="g" * 65), "/group"), (dict(good, group=7), "/group"),
                (dict(good, until="never"), "/until"), (dict(good, until=-1), "/until"),
                (dict(good, until=10**17), "/until"), (dict(good, until=[]), "/until"),
                (dict(good, at=NOW + HOUR + 1), "/at"), (dict(good, since=5), "/since"),
                (dict(good, marks=[good]), "/group"), ({"marks": good}, "/marks"),
                ({"marks": [good, 1]}, "/marks/1"), ({"marks": [good, {"group": "g"}]}, "/marks/1/until"),
                ({"marks": [good, dict(good, group="")]}, "/marks/1/group"),
                ({"marks": [good, dict(good, at=NOW + HOUR + 1)]}, "/marks/1/at"),
                ({"marks": [good] * 1_001}, "/marks")]:
            answer = self.server.post("/users/m/marks", body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), body)
        self.assertEqual(self.marks("m"), {"marks": []})
        for item, field in [
                ({"of": ["g"]}, "/id"), ({"id": [], "of": ["g"]}, "/id"),
                ({"id": "v", "of": "g"}, "/of"), ({"id": "v", "of": [""]}, "/of/0"),
                ({"id": "v", "of": ["g", "g" * 65]}, "/of/1"), ({"id": "v", "of": ["g", 1]}, "/of/1"),
                ({"id": "v", "of": ["g"] * 17}, "/of"), ({"id": "v", "at": "now"}, "/at"),
                ({"id": "", "of": ["g"]}, "/id"), ({"id": "v", "by": ["g"]}, "/by"), ([], "")]:
            answer = self.server.post("/filter", {"user": "m", "items": ["x", item]})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/items/1" + field), item)
        answer = self.server.post("/filter", {"user": "m", "items": ["x"], "exclude": [{"id": "v"}]})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/exclude/0"))
        self.assertEqual(self.server.delete("/users/m/marks/" + "g" * 65).status, 400)


class CrashTest(unittest.TestCase):
    def test_what_was_acknowledged_outlives_a_killed_process_and_a_drain(self):
        with CheckedServer(clock_ms=NOW) as server:
            def unseen():
                items = [{"id": "v%d" % i, "of": ["channel:%d" % i], "at": 5} for i in range(6)]
                answer = server.post("/filter", {"user": "u", "items": items})
                self.assertFalse(answer.json["degraded"])
                return answer.json["unseen"]

            left = ["v%d" % i for i in range(6)]
            for turn in range(4):
                server.post("/users/u/marks", {"group": "channel:%d" % turn, "until": 5, "at": NOW - 9})
                left.pop(0)
                self.assertEqual(unseen(), left)
                if turn % 2 == 0:
                    self.assertEqual(server.post("/admin/drain").status, 200)
                else:
                    server.kill()
                    server.start()
                self.assertEqual(unseen(), left)
            self.assertEqual(server.delete("/users/u/marks/channel:0").json, {"deleted": True})
            server.kill()
            server.start()
            self.assertEqual(unseen(), ["v0"] + left)
            server.post("/users/u/marks", {"group": "channel:0", "until": 5, "at": NOW - 9})
            self.assertEqual(unseen(), ["v0"] + left, "said before the deletion")
            self.assertEqual(server.delete("/users/u").json["known"], True)
            server.kill()
            server.start()
            self.assertEqual(unseen(), ["v%d" % i for i in range(6)])
            answer = server.post("/users/u/marks", {"group": "channel:0", "until": 5, "at": NOW - 9})
            self.assertEqual((answer.status, answer.json["refused_by"]), (422, {"erased": 1}))


if __name__ == "__main__":
    unittest.main()
