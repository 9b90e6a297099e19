"""Groups that are the same: `same_as` of events, of candidates, of items and of deletions."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

NOW = 1_700_000_000_000


class SameAsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def ask(self, user, items, **more):
        answer = self.server.post("/filter", dict(user=user, items=items, **more))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def play(self, user, item, *groups, **more):
        event = dict(user=user, item=item, same_as=list(groups))
        answer = self.server.post("/plays", dict(events=[event], **more))
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 1), answer)

    def test_what_is_seen_of_one_is_seen_of_all_through_a_drain_and_a_kill(self):
        self.play("a", "v1", "src:9", "clip \"7\"")
        items = ["v1", {"id": "v2", "same_as": ["src:9"]}, {"id": "v3", "same_as": ["src:8"]}, "v4",
                 {"id": 5, "same_as": ["x", "clip \"7\""]}]
        for step in (lambda: None, lambda: (self.server.kill(), self.server.start()),
                     lambda: self.server.post("/admin/drain", {}),
                     lambda: (self.server.kill(), self.server.start())):
            step()
            for verify in (False, True):
                said = self.ask("a", items, explain=True, verify=verify)
                self.assertEqual(said["unseen"], ["v3", "v4"])
                self.assertEqual({item: why for item, why in said["reasons"].items() if item != "v1"},
                                 {"v2": "same:src:9", "5": "same:clip \"7\""})
            self.assertEqual(self.ask("b", ["v1", {"id": "v2", "same_as": ["src:9"]}])["unseen"], ["v1", "v2"])

    def test_a_page_has_one_of_a_group(self):
        items = [{"id": "a", "same_as": ["s"]}, {"id": "b", "same_as": ["t", "s"]}, "c",
                 {"id": "d", "same_as": ["t"]}]
        said = self.ask("p", items, explain=True)
        self.assertEqual((said["unseen"], said["seen"]), (["a", "c", "d"], 1))
        self.assertEqual(said["reasons"], {"b": "same:s"})
        self.assertEqual(self.ask("p", items, exclude=["a"])["unseen"], ["b", "c"])
        answer = self.server.ndjson("/filter", [{"user": "p", "items": items}])
        self.assertEqual(json.loads(answer.body)["unseen"], ["a", "c", "d"])

    def test_lines_and_exposures(self):
        lines = [{"user": "l", "item": "v%d" % i, "same_as": ["s%d" % i], "of": ["author:1"]} for i in range(5_000)]
        bad = [{"user": "l", "item": "x", "same_as": [""]}, {"user": "l", "item": "x", "same_as": "a"},
               {"user": "l", "item": "x", "same_as": ["a" * 65]}]
        said = self.server.ndjson("/plays", lines[:10] + bad + lines[10:]).json
        self.assertEqual((said["accepted"], said["refused"]), (5_000, 3))
        self.assertEqual([one["error"]["field"] for one in said["refusals"]], ["/same_as/0", "/same_as", "/same_as/0"])
        items = [{"id": "w%d" % i, "same_as": ["s%d" % i]} for i in range(0, 5_000, 50)]
        self.assertEqual(self.ask("l", items)["unseen"], [])
        exposed = [{"user": "e", "item": "v", "surface": "home", "same_as": ["src:9"]}]
        self.assertEqual(self.server.post("/exposures", {"events": exposed}).json["accepted"], 1)
        exposed[0].update(item="w", same_as=["src:8"])
        self.assertEqual(self.server.ndjson("/exposures", exposed).json["accepted"], 1)
        items = [{"id": "x", "same_as": ["src:9"]}, {"id": "y", "same_as": ["src:8"]}]
        self.assertEqual(self.ask("e", items)["unseen"], ["x", "y"])
        home = {"fact": "exposed", "surface": "home"}
        said = self.ask("e", items, explain=True, **{"not": [home]})
        self.assertEqual(said["reasons"], {"x": "same:src:9", "y": "same:src:8"})

    def test_a_deletion_lifts_what_it_names(self):
        policy = {"history": {"enabled": True, "deleted_items": "recommend_again"}}
        self.assertIn(self.server.put("/collections/again", policy).status, (200, 201))
        self.play("d", "v1", "src:9", collection="again")
        items = [{"id": "v1"}, {"id": "v2", "same_as": ["src:9"]}]
        self.assertEqual(self.ask("d", items, collection="again")["unseen"], [])
        body = {"items": ["v1"], "collection": "again"}
        self.assertEqual(self.server.post("/users/d/history/delete", body).status, 200)
        self.assertEqual(self.ask("d", items, collection="again")["unseen"], ["v1"])
        answer = self.server.post("/users/d/history/delete", dict(body, same_as=["src:9"]))
        self.assertEqual(answer.json, {"deleted": True})
        self.server.kill()
        self.server.start()
        self.assertEqual(self.ask("d", items, collection="again")["unseen"], ["v1", "v2"])
        for groups, field in (([""], "/same_as/0"), ("s", "/same_as"), (["g"] * 17, "/same_as")):
            answer = self.server.post("/users/d/history/delete", dict(body, same_as=groups))
            self.assertEqual((answer.status, answer.error["field"]), (400, field))

    def test_what_is_recorded_takes_its_groups_where_it_counts_as_a_play(self):
        self.server.put("/collections/served", {"served_is_seen": True})
        items = [{"id": "v1", "same_as": ["src:9"]}, {"id": "v2", "same_as": ["src:9"]}]
        said = self.ask("r", items, record=True, collection="served")
        self.assertEqual(said["unseen"], ["v1"])
        self.assertEqual(self.ask("r", items[1:], collection="served")["unseen"], [])
        served = {"user": "r", "collection": "served", "items": [{"id": "v3", "same_as": ["src:8"]}]}
        self.assertEqual(self.server.post("/impressions", served).json["accepted"], 1)
        self.assertEqual(self.ask("r", [{"id": "v4", "same_as": ["src:8"]}], collection="served")["unseen"], [])

    def test_what_is_malformed_names_its_field_and_changes_nothing(self):
        event = {"user": "m", "item": "v"}
        groups = ["g%d" % i for i in range(16)]
        for more, field in [
                ({"same_as": "s"}, "/same_as"), ({"same_as": [""]}, "/same_as/0"),
                ({"same_as": ["s", 1]}, "/same_as/1"), ({"same_as": ["s" * 65]}, "/same_as/0"),
                ({"same_as": groups + ["s"]}, "/same_as"), ({"same_as": ["s"], "of": groups}, "/same_as")]:
            for path in ("/plays", "/exposures"):
                answer = self.server.post(path, {"events": [event, dict(event, **more)]})
                self.assertEqual((answer.status, answer.error["field"]), (400, "/events/1" + field), more)
            answer = self.server.post("/filter", {"user": "m", "items": ["a", dict(id="v", **more)]})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/items/1" + field), more)
            answer = self.server.post("/impressions", {"user": "m", "items": ["a", dict(id="v", **more)]})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/items/1" + field), more)
        self.assertEqual(self.ask("m", ["v", {"id": "w", "same_as": ["s"]}])["unseen"], ["v", "w"])
        self.assertEqual(self.ask("m", [{"id": "w", "same_as": groups}])["unseen"], ["w"])
        answer = self.server.post("/users/m/history/lookup", {"items": ["v"], "same_as": ["s"]})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/same_as"))

    def test_groups_of_items_stand_for_a_candidates_own(self):
        server = CheckedServer(clock_ms=NOW)
        try:
            server.put("/items/schema", {"fields": [{"name": "same_as", "type": "list_text"}]})
            server.post("/items", {"items": [
                {"id": "v%d" % i, "version": 1, "set": {"same_as": ["", "x" * 65, "src:9"]}} for i in range(3)]})
            said = server.post("/filter", {"user": "u", "items": ["v1", "v2", "other"], "explain": True}).json
            self.assertEqual((said["unseen"], said["reasons"]), (["v1", "other"], {"v2": "same:src:9"}))
            server.post("/plays", {"events": [{"user": "u", "item": "w", "same_as": ["src:9"]}]})
            items = ["v1", {"id": "v2", "same_as": ["src:8"]}, {"id": "v0", "of": ["author:1"]}]
            self.assertEqual(server.post("/filter", {"user": "u", "items": items}).json["unseen"], ["v2"])
        finally:
            server.close()


if __name__ == "__main__":
    unittest.main()
