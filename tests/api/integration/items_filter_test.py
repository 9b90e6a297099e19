"""Rules on items in /filter: where, at_most, unknown and fields, over a server that may be killed."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

NOW = 1_700_000_000_000
SCHEMA = {"fields": [{"name": "author", "type": "text", "column": True},
                     {"name": "state", "type": "text"},
                     {"name": "published_at", "type": "i64"},
                     {"name": "score", "type": "f32"},
                     {"name": "public", "type": "bool"},
                     {"name": "tags", "type": "list_text"},
                     {"name": "numbers", "type": "list_i64"}]}
ITEMS = [
    {"id": "v1", "version": 1, "set": {"author": "a1", "state": "public", "published_at": 500_000,
                                       "score": 0.1, "tags": ["cats"]}},
    {"id": "v2", "version": 1, "set": {"author": "a1", "state": "public", "published_at": 499_999}},
    {"id": "v3", "version": 1, "set": {"author": "a1", "state": "hidden", "published_at": 900_000}},
    {"id": "v4", "version": 1, "set": {"author": "a2", "state": "public", "published_at": 900_000,
                                       "tags": ["dogs", "birds"], "numbers": [1, -5]}},
    {"id": "v5", "version": 1, "set": {"author": "a1", "state": "public", "published_at": 900_000}},
    {"id": 6, "version": 1, "set": {"author": "a1", "state": "public", "published_at": 900_000}},
    {"id": "bare", "version": 1},
    {"id": "gone", "version": 1, "set": {"state": "public"}, "expires_at": NOW},
]
WHERE = [{"field": "state", "eq": "public"}, {"field": "published_at", "ge": 500_000}]
ALL = ["v1", "v2", "v3", "v4", "v5", 6, "bare", "gone", "new"]


def ask(server, user, items=None, status=200, **more):
    answer = server.post("/filter", {"user": user, "items": ALL if items is None else items, **more})
    if answer.status != status:
        raise AssertionError(answer)
    if status != 200:
        return answer
    said = answer.json
    total = (said["seen"] + said.get("excluded", 0) + said.get("duplicates", 0) + said.get("invalid", 0)
             + len(said["unseen"]))
    if total != said["examined"]:
        raise AssertionError(said)
    return said


class ItemsFilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)
        assert cls.server.put("/items/schema", SCHEMA).status == 200
        answer = cls.server.post("/items", {"items": ITEMS})
        assert answer.json["accepted"] == len(ITEMS), answer

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_all_conditions_must_hold(self):
        said = ask(self.server, "u1", where=WHERE, explain=True)
        self.assertEqual(said["unseen"], ["v1", "v4", "v5", 6, "gone", "new"])
        self.assertEqual((said["seen"], said["excluded"], said["examined"]), (0, 3, 9))
        self.assertEqual(said["reasons"], {"v2": "where:1", "v3": "where:0", "bare": "where:0"})
        said = ask(self.server, "u1", where=WHERE, unknown="drop", explain=True)
        self.assertEqual(said["unseen"], ["v1", "v4", "v5", 6])
        self.assertEqual((said["reasons"]["gone"], said["reasons"]["new"]), ("unknown", "unknown"))
        said = ask(self.server, "u1", unknown="drop")
        self.assertEqual(said["unseen"], ["v1", "v2", "v3", "v4", "v5", 6, "bare"])

    def test_every_operator(self):
        known = ["v1", "v2", "v3", "v4", "v5", 6, "bare"]
        for entry, passes in [
                ({"field": "author", "ne": "a1"}, ["v4", "bare"]),
                ({"field": "author", "in": ["a2", "a3"]}, ["v4"]),
                ({"field": "author", "in": []}, []),
                ({"field": "published_at", "ge": 500_000, "le": 500_000}, ["v1"]),
                ({"field": "score", "eq": 0.1}, ["v1"]),
                ({"field": "score", "exists": False}, ["v2", "v3", "v4", "v5", 6, "bare"]),
                ({"field": "score", "exists": True}, ["v1"]),
                ({"field": "public", "ne": True}, known),
                ({"field": "public", "eq": False}, []),
                ({"field": "tags", "any_of": ["birds", "cats"]}, ["v1", "v4"]),
                ({"field": "numbers", "any_of": [-5]}, ["v4"]),
                ({"field": "author", "le": "a1"}, ["v1", "v2", "v3", "v5", 6])]:
            self.assertEqual(ask(self.server, "u1", known, where=[entry])["unseen"], passes, entry)

    def test_fields_of_the_unseen_are_told(self):
        said = ask(self.server, "u1", where=WHERE, fields=["author", "tags"])
        self.assertEqual(said["fields"], {"v1": {"author": "a1", "tags": ["cats"]},
                                          "v4": {"author": "a2", "tags": ["dogs", "birds"]},
                                          "v5": {"author": "a1"}, "6": {"author": "a1"}})
        said = ask(self.server, "u1", ["v1", "new", "bare"], fields=["author"])
        self.assertEqual(said["unseen"], ["v1", "new", "bare"])
        self.assertEqual(said["fields"], {"v1": {"author": "a1"}, "bare": {}})
        self.assertNotIn("excluded", said)
        many = ["m%d" % i for i in range(5_000)]
        said = ask(self.server, "u1", many + ["v4"], fields=["numbers"])  # a worker answers that
        self.assertEqual((len(said["unseen"]), said["fields"]), (5_001, {"v4": {"numbers": [1, -5]}}))

    def test_a_page_is_diverse(self):
        said = ask(self.server, "u1", at_most={"field": "author", "n": 2}, explain=True)
        self.assertEqual(said["unseen"], ["v1", "v2", "v4", "bare", "gone", "new"])
        self.assertEqual(said["reasons"], {"v3": "at_most:author", "v5": "at_most:author",
                                           "6": "at_most:author"})
        said = ask(self.server, "u1", at_most={"field": "author", "n": 2}, where=WHERE, limit=3)
        self.assertEqual(said["unseen"], ["v1", "v4", "v5"])
        # What was seen takes nobody's place.
        played = self.server.post("/plays", {"events": [{"user": "u2", "item": "v1"}]})
        self.assertEqual(played.json["accepted"], 1)
        said = ask(self.server, "u2", at_most={"field": "author", "n": 1}, explain=True)
        self.assertEqual(said["unseen"], ["v2", "v4", "bare", "gone", "new"])
        self.assertEqual((said["seen"], said["excluded"]), (1, 3))

    def test_limit_counts_what_passes_and_record_records_it(self):
        crowd = ["bare", "v2", "v3"] * 1_000 + ["v1", "v4", "v5"]
        said = ask(self.server, "u3", crowd, where=WHERE, limit=2, record=True)
        self.assertEqual(said["unseen"], ["v1", "v4"])
        self.assertEqual((said["examined"], said["excluded"], said["duplicates"]), (3_002, 3, 2_997))
        said = ask(self.server, "u3", explain=True)
        self.assertEqual(said["unseen"], ["v2", "v3", "v5", 6, "bare", "gone", "new"])

    def test_exclude_marks_and_collections_go_together_with_it(self):
        self.assertEqual(self.server.put("/collections/short", {"window": 2}).status, 200)
        mark = self.server.post("/users/u4/marks", {"group": "channel:9", "until": 1_000})
        self.assertEqual(mark.status, 200, mark)
        candidates = ["v1", {"id": "v4", "of": ["channel:9"], "at": 7},
                      {"id": "v2", "of": ["channel:9"], "at": 7}, {"id": "v5", "of": ["channel:8"]}, 6]
        said = ask(self.server, "u4", candidates, collection="short", where=WHERE, exclude=["v1"],
                   explain=True, fields=["author"])
        self.assertEqual(said["unseen"], ["v5", 6])
        self.assertEqual((said["seen"], said["excluded"]), (1, 2))
        self.assertEqual(said["reasons"], {"v4": "mark:channel:9", "v2": "where:1"})
        self.assertEqual(set(said["fields"]), {"v5", "6"})

    def test_a_bad_rule_names_its_place_and_records_nothing(self):
        good = {"field": "state", "eq": "public"}
        for member, field in [
                ({"where": [good, {"field": "nobody", "ge": 1}]}, "/where/1/field"),
                ({"where": [good, {"field": "published_at", "ge": "x"}]}, "/where/1/ge"),
                ({"where": [good, {"field": "published_at", "ge": 2 ** 63}]}, "/where/1/ge"),
                ({"where": [good, {"field": "published_at", "gt": 1}]}, "/where/1/gt"),
                ({"where": [good, {"field": "author", "in": ["a", 1]}]}, "/where/1/in/1"),
                ({"where": [good, {"field": "tags", "eq": "cats"}]}, "/where/1/eq"),
                ({"where": [good, {"field": "author", "any_of": ["a1"]}]}, "/where/1/any_of"),
                ({"where": [good, {"field": "author"}]}, "/where/1"),
                ({"where": [good] * 17}, "/where"),
                ({"at_most": {"field": "tags", "n": 1}}, "/at_most/field"),
                ({"at_most": {"field": "nobody", "n": 1}}, "/at_most/field"),
                ({"at_most": {"field": "author", "n": 0}}, "/at_most/n"),
                ({"unknown": "perhaps"}, "/unknown"),
                ({"fields": ["author", "nobody"]}, "/fields/1")]:
            answer = ask(self.server, "u5", ["v1"], status=400, record=True, **member)
            self.assertEqual(answer.error["field"], field, answer)
        self.assertEqual(ask(self.server, "u5", ["v1"])["unseen"], ["v1"])
        answer = self.server.request("POST", "/filter?user=u5&ids=u64&where=x", b"\0" * 8,
                                     {"Content-Type": "application/octet-stream"})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/where"))

    def test_lines_have_rules_of_their_own(self):
        answer = self.server.ndjson("/filter", [
            {"user": "u6", "items": ["v1", "v3"], "where": WHERE, "fields": ["author"]},
            {"user": "u6", "items": ["v1", "v3"], "where": [{"field": "no", "eq": 1}]},
            {"user": "u6", "items": ["v1", "v3"]}])
        first, second, third = answer.lines
        self.assertEqual((first["unseen"], first["fields"]), (["v1"], {"v1": {"author": "a1"}}))
        self.assertEqual(second["error"]["field"], "/where/0/field")
        self.assertEqual(third["unseen"], ["v1", "v3"])


class OwnServerTest(unittest.TestCase):
    """Cases that need a server of their own."""

    def test_without_a_schema_rules_are_refused(self):
        for config in ({}, {"items": {"bytes": 0}}):
            server = CheckedServer(config=config)
            try:
                for member in ({"where": WHERE}, {"at_most": {"field": "a", "n": 1}},
                               {"unknown": "drop"}, {"fields": ["a"]}):
                    answer = ask(server, "u", ["v"], status=409, record=True, **member)
                    self.assertEqual(answer.error["code"], "incompatible")
                # Generated clients send empty lists for none.
                said = ask(server, "u", ["v"], where=[], fields=[], unknown="keep")
                self.assertEqual(said["unseen"], ["v"])
            finally:
                server.close()

    def test_groups_and_times_of_items_stand_for_a_candidates_own(self):
        server = CheckedServer(clock_ms=NOW)
        try:
            server.post("/users/u/marks", {"marks": [{"group": "channel:9", "until": 1_000},
                                                     {"group": "author:1", "until": "always"}]})
            fields = [{"name": "of", "type": "list_text"}, {"name": "at", "type": "i64"}]
            server.put("/items/schema", {"fields": fields})
            channel = ["", "x" * 65, "channel:8", "channel:9"]
            server.post("/items", {"items": [
                {"id": "old", "version": 1, "set": {"of": channel, "at": 1_000}},
                {"id": "new", "version": 1, "set": {"of": channel, "at": 1_001}},
                {"id": "undated", "version": 1, "set": {"of": channel}},
                {"id": "always", "version": 1, "set": {"of": ["author:1"]}},
                {"id": "late", "version": 1, "set": {
                    "of": ["g%d" % i for i in range(16)] + ["author:1"]}},
                {"id": "none", "version": 1}]})
            said = ask(server, "u", ["old", "new", "undated", "always", "late", "none", "unknown"],
                       explain=True)
            self.assertEqual(said["unseen"], ["new", "undated", "late", "none", "unknown"])
            self.assertEqual(said["reasons"], {"old": "mark:channel:9", "always": "mark:author:1"})
            self.assertEqual(said["undated"], 1)
            # What the request says counts before what the store says.
            said = ask(server, "u", [{"id": "old", "at": 1_001}, {"id": "new", "at": 1},
                                     {"id": "always", "of": ["h"]},
                                     {"id": "none", "of": ["author:1"]}, {"id": "undated", "of": []}],
                       explain=True)
            self.assertEqual(said["unseen"], ["old", "always", "undated"])
            self.assertEqual(said["reasons"], {"new": "mark:channel:9", "none": "mark:author:1"})
            # A list of another type is somebody else's affair.
            server.put("/items/schema", {"fields": fields[1:]})
            server.put("/items/schema", {"fields": [{"name": "of", "type": "text"}]})
            said = ask(server, "u", ["old", "always"])
            self.assertEqual((said["unseen"], "undated" in said), (["old", "always"], False))
        finally:
            server.close()

    def test_a_kill_takes_nothing_from_what_rules_see(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder)
            try:
                server.put("/items/schema", SCHEMA)
                # The updates of one item come out of order in one body.
                lines = [{"id": "v", "version": 3, "set": {"state": "public"}},
                         {"id": "w", "version": 9, "delete": True},
                         {"id": "v", "version": 1, "set": {"state": "draft", "author": "a1",
                                                           "published_at": 1}},
                         {"id": "w", "version": 8, "set": {"state": "public"}},
                         {"id": "v", "version": 2, "set": {"state": "hidden", "author": "a2"}},
                         {"id": "x", "version": 2, "unset": ["state"]},
                         {"id": "x", "version": 1, "set": {"state": "public", "author": "a2"}}]
                said = server.ndjson("/items", lines).json
                self.assertEqual((said["accepted"], said["refused"]), (7, 0))
                before = self.asked(server)
                self.assertEqual(before["unseen"], ["v", "w"])
                self.assertEqual(before["reasons"], {"x": "where:0"})
                self.assertEqual(before["fields"],
                                 {"v": {"state": "public", "author": "a2", "published_at": 1}})
                server.kill()
            finally:
                server.close()
            server = CheckedServer(folder)
            try:
                self.assertEqual(self.asked(server), before)
                said = ask(server, "u", ["w", "x", "v"], unknown="drop", explain=True,
                           at_most={"field": "author", "n": 1})
                self.assertEqual(said["unseen"], ["x"])
                self.assertEqual(said["reasons"], {"w": "unknown", "v": "at_most:author"})
            finally:
                server.close()

    @staticmethod
    def asked(server):
        return ask(server, "u", ["x", "v", "w"], where=[{"field": "state", "eq": "public"}],
                   fields=["state", "author", "published_at"], explain=True)


if __name__ == "__main__":
    unittest.main()
