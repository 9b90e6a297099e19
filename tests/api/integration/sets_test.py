"""/sets, and `exclude_sets` of POST /filter."""

import json
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

NOW = 1_700_000_000_000
MB = 1 << 20
BINARY = {"Content-Type": "application/octet-stream"}


class SetsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def put(self, name, items):
        answer = self.server.put("/sets/" + name, {"items": items})
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def ask(self, items, sets, user="u", **more):
        answer = self.server.post("/filter", dict(user=user, items=items, exclude_sets=sets, **more))
        self.assertEqual(answer.status, 200, answer)
        said = answer.json
        self.assertEqual(said["examined"], len(said["unseen"]) + said["seen"] + said["excluded"] +
                         said.get("duplicates", 0))
        return said

    def refused(self, answer, status, field):
        self.assertEqual((answer.status, answer.error.get("field", "")), (status, field), answer)

    def test_members_are_excluded_and_say_so(self):
        self.put("blocked", ["a", "b", 42])
        self.put("sold", ["s", "b"])
        self.server.post("/plays", {"events": [{"user": "m", "item": item} for item in ("b", "p")]})
        items = ["x", "a", "b", "42", "s", "p", "e", "a"]
        said = self.ask(items, ["blocked", "sold"], "m", explain=True, exclude=["e", "s"])
        self.assertEqual(said["unseen"], ["x"])
        self.assertEqual((said["seen"], said["excluded"], said["duplicates"]), (1, 5, 1))
        self.assertEqual(said["reasons"], {"a": "set:blocked", "b": "set:blocked",
                                           "42": "set:blocked", "p": "ring"})
        said = self.ask(items, ["sold"], "m", explain=True)
        self.assertEqual(said["reasons"], {"b": "set:sold", "s": "set:sold", "p": "ring"})
        self.assertEqual(self.ask(["x"], [], "m")["excluded"], 0)
        answer = self.server.ndjson("/filter", [
            {"user": "m", "items": ["x", "a"], "exclude_sets": ["blocked"]},
            {"user": "m", "items": ["x"], "exclude_sets": ["no"]}, {"user": "m", "items": ["a"]}])
        first, second, third = answer.lines
        self.assertEqual((first["unseen"], third["unseen"]), (["x"], ["a"]))
        self.assertEqual(second["error"]["field"], "/exclude_sets/0")

    def test_what_is_excluded_is_not_recorded(self):
        self.put("muted", ["q"])
        said = self.ask(["q", "r"], ["muted"], "n", record=True)
        self.assertEqual(said["unseen"], ["r"])
        self.assertEqual(self.ask(["q", "r"], [], "n")["unseen"], ["q"])

    def test_a_set_comes_before_a_mark(self):
        self.put("gone", ["v1"])
        self.server.post("/users/k/marks", {"group": "channel:9", "until": "always"})
        items = [{"id": "v1", "of": ["channel:9"]}, {"id": "v2", "of": ["channel:9"]}, "k1"]
        said = self.ask(items, ["gone"], "k", explain=True)
        self.assertEqual(said["reasons"], {"v1": "set:gone", "v2": "mark:channel:9"})
        self.assertEqual((said["seen"], said["excluded"], said["unseen"]), (1, 1, ["k1"]))

    def test_in_binary(self):
        self.put("bin:a", [1, 2])
        self.put("bin:b", [4])
        body = struct.pack("<5Q", 1, 2, 3, 4, 5)
        answer = self.server.request("POST", "/filter?user=u&ids=u64&exclude_sets=bin:a,bin:b", body, BINARY)
        self.assertEqual((answer.status, answer.body), (200, b"\x14"), answer)
        self.assertEqual(answer.headers["seendb-excluded"], "3")
        ask = lambda names: self.server.request("POST", "/filter?user=u&ids=u64&exclude_sets=" + names, body, BINARY)
        self.refused(ask("bin:a,no"), 404, "/exclude_sets/1")
        self.refused(ask("bin:a,,bin:b"), 400, "/exclude_sets/1")
        self.refused(ask("bin:a,"), 400, "/exclude_sets/1")
        self.refused(ask(",".join(["bin:a"] * 9)), 400, "/exclude_sets")
        self.refused(self.server.post("/filter?exclude_sets=bin:a", {"user": "u", "items": []}), 400, "/exclude_sets")

    def test_are_replaced_listed_and_deleted(self):
        first = self.put("list%2Fed", ["c", "a", "b", "a"])
        self.assertEqual((first["name"], first["count"], first["at"]), ("list/ed", 3, NOW))
        page = self.server.get("/sets/list%2Fed?limit=2").json
        self.assertEqual((page["items"], page["cursor"], page["count"]), (["a", "b"], "b", 3))
        page = self.server.get("/sets/list%2Fed?limit=2&cursor=b").json
        self.assertEqual(page["items"], ["c"])
        self.assertNotIn("cursor", page)
        second = self.put("list%2Fed", ["z", 7])
        self.assertGreater(second["at"], first["at"])
        self.assertEqual(self.server.get("/sets/list%2Fed").json["items"], ["7", "z"])
        listed = self.server.get("/sets").json
        self.assertIn(second, listed["sets"])
        self.assertEqual(listed["bytes"], sum(one["bytes"] for one in listed["sets"]))
        self.assertEqual(listed["bytes_limit"], 64 * MB)
        metrics = self.server.get("/metrics").body.decode()
        self.assertIn("\nseendb_sets_memory_bytes %d\n" % listed["bytes"], metrics)
        self.assertIn("\nseendb_sets_damaged 0\n", metrics)
        self.assertEqual(self.put("list%2Fed", [])["count"], 0)
        self.assertEqual(self.server.get("/sets/list%2Fed").json["items"], [])
        self.assertEqual(self.ask(["z"], ["list/ed"])["unseen"], ["z"])
        self.assertEqual(self.server.delete("/sets/list%2Fed").json, {"deleted": True})
        self.refused(self.server.delete("/sets/list%2Fed"), 404, "")
        self.refused(self.server.get("/sets/list%2Fed"), 404, "")
        self.refused(self.server.post("/filter", {"user": "u", "items": ["z"], "exclude_sets": ["list/ed"]}),
                     404, "/exclude_sets/0")

    def test_lines_bring_more_than_a_body_may_have(self):
        lines = [{"items": ["%08d" % i for i in range(at, at + 50_000)]} for at in range(0, 1_000_000, 50_000)]
        body = "\n".join(json.dumps(line) for line in lines)
        self.assertGreater(len(body), 8 * MB)
        kind = {"Content-Type": "application/x-ndjson"}
        answer = self.server.request("PUT", "/sets/large", body, kind)
        self.assertEqual((answer.status, answer.json["count"]), (200, 1_000_000), answer)
        self.assertLess(answer.json["bytes"], 16 * MB)
        said = self.ask(["00000000", "00999999", "01000000", "7"], ["large"])
        self.assertEqual(said["unseen"], ["01000000", "7"])
        put = lambda text: self.server.request("PUT", "/sets/large", text, kind)
        self.refused(put(body + '\n{"items":["more"]}'), 400, "/items")
        self.refused(put('{"items":["b"]}\n{"items":[""]}'), 400, "/items/0")
        self.refused(put('{"items":["b"]}\n{"itms":[]}'), 400, "/itms")
        self.refused(put("\n\n"), 400, "")
        self.assertEqual(self.server.get("/sets/large?limit=1").json["count"], 1_000_000)
        self.server.delete("/sets/large")

    def test_what_is_malformed_names_its_place(self):
        self.put("good", ["a"])
        for body, field in [({}, "/items"), ({"items": "a"}, "/items"), ({"items": ["a", ""]}, "/items/1"),
                            ({"items": ["a", {}]}, "/items/1"), ({"items": ["x" * 256]}, "/items/0"),
                            ({"items": [], "name": "good"}, "/name")]:
            self.refused(self.server.put("/sets/good", body), 400, field)
        self.refused(self.server.put("/sets/" + "n" * 65, {"items": []}), 400, "/name")
        self.refused(self.server.put("/sets/%ff", {"items": []}), 400, "/name")
        for query, field in [("limit=0", "/limit"), ("limit=10001", "/limit"), ("cursor=", "/cursor"),
                             ("after=a", "/after")]:
            self.refused(self.server.get("/sets/good?" + query), 400, field)
        for sets, status, field in [(["good", ""], 400, "/exclude_sets/1"), (["n" * 65], 400, "/exclude_sets/0"),
                                    (["good"] * 9, 400, "/exclude_sets"), ("good", 400, "/exclude_sets"),
                                    ([7], 400, "/exclude_sets/0"), (["good", "no"], 404, "/exclude_sets/1")]:
            self.refused(self.server.post("/filter", {"user": "u", "items": ["a"], "exclude_sets": sets}),
                         status, field)
        self.assertEqual(self.server.get("/sets/good").json["items"], ["a"])

    def test_what_does_not_fit_is_413(self):
        kind = {"Content-Type": "application/x-ndjson"}
        line = lambda at: json.dumps({"items": ["%0250d" % i for i in range(at, at + 20_000)]})
        large = "\n".join(line(at) for at in range(0, 160_000, 20_000))
        answer = self.server.request("PUT", "/sets/half", large, kind)
        self.assertEqual(answer.status, 200, answer)
        answer = self.server.request("PUT", "/sets/other", large, kind)
        self.assertEqual((answer.status, answer.error["code"]), (413, "too_large"), answer)
        self.refused(self.server.get("/sets/other"), 404, "")
        self.assertEqual(self.server.request("PUT", "/sets/half", large, kind).status, 200)  # in place of itself
        more = "\n".join(line(at) for at in range(0, 280_000, 20_000))
        answer = self.server.request("PUT", "/sets/half", more, kind)
        self.assertEqual(answer.status, 413, answer)
        self.assertEqual(self.server.get("/sets/half?limit=1").json["count"], 160_000)
        self.server.delete("/sets/half")


class OwnServerTest(unittest.TestCase):
    """Cases that need a server of their own."""

    def test_there_is_nothing_until_a_set_is_put(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder)
            try:
                self.assertEqual(server.get("/sets").json["sets"], [])
                self.assertEqual(server.get("/sets/a").status, 404)
                self.assertEqual(server.delete("/sets/a").status, 404)
                self.assertEqual(server.put("/sets/a", {"items": [""]}).status, 400)
                self.assertNotIn("sets", os.listdir(folder))
            finally:
                server.close()

    def test_they_stay_over_a_drain_a_kill_and_an_erasure(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder)
            try:
                server.put("/sets/gone", {"items": ["x"]})
                server.put("/sets/blocked", {"items": ["old"]})
                server.put("/sets/blocked", {"items": ["a", "b", "p"]})
                server.delete("/sets/gone")
                server.post("/plays", {"events": [{"user": "u", "item": "p"}]})
                ask = lambda: server.post("/filter", {
                    "user": "u", "items": ["a", "p", "old", "c"], "exclude_sets": ["blocked"], "explain": True}).json
                expected = {"unseen": ["old", "c"], "seen": 0, "excluded": 2, "examined": 4,
                            "unseen_share": 0.5, "degraded": False, "reasons": {"a": "set:blocked", "p": "set:blocked"}}
                self.assertEqual(ask(), expected)
                self.assertEqual(server.post("/admin/drain", {}).status, 200)
                self.assertEqual(ask(), expected)
                server.kill()
                server.start()
                self.assertEqual(ask(), expected)
                self.assertEqual([one["name"] for one in server.get("/sets").json["sets"]], ["blocked"])
                server.delete("/users/u")
                self.assertEqual(ask(), expected)
            finally:
                server.close()

    def test_a_checkpoint_has_them(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(os.path.join(folder, "db"), config={"checkpoints": os.path.join(folder, "copies")})
            try:
                server.put("/sets/blocked", {"items": ["a"]})
                answer = server.post("/admin/checkpoint", {"name": "one"})
                self.assertEqual(answer.status, 200, answer)
            finally:
                server.close()
            self.assertEqual(os.listdir(os.path.join(folder, "copies")), ["one"])
            server = CheckedServer(os.path.join(folder, "copies", "one"))
            try:
                self.assertEqual(server.get("/sets/blocked").json["items"], ["a"])
            finally:
                server.close()


if __name__ == "__main__":
    unittest.main()
