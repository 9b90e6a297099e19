"""/users/{user}/sets, and their names in POST /filter."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

HOUR = 3_600_000
NOW = 1_700_000_000_000


class UserSetsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def put(self, user, name, items, **more):
        answer = self.server.put("/users/%s/sets/%s" % (user, name), dict({"items": items, "expires_ms": HOUR}, **more))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def ask(self, user, items, sets, **more):
        answer = self.server.post("/filter", dict(user=user, items=items, exclude_sets=sets, **more))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def refused(self, answer, status, field):
        self.assertEqual((answer.status, answer.json["error"].get("field", "")), (status, field), answer)

    def test_excludes_before_a_shared_one(self):
        self.assertEqual(self.put("a", "s", ["b", 42, "b"]),
                         {"name": "s", "count": 2, "at": NOW, "expires_at": NOW + HOUR})
        self.server.put("/sets/s", {"items": ["shared"]})
        said = self.ask("a", ["x", "b", 42, "shared"], ["s"], explain=True)
        self.assertEqual((said["unseen"], said["excluded"]), (["x", "shared"], 2))
        self.assertEqual(said["reasons"], {"b": "set:s", "42": "set:s"})
        self.assertEqual(self.ask("z", ["b", "shared"], ["s"])["unseen"], ["b"])
        lines = [{"user": user, "items": ["b", "shared"], "exclude_sets": ["s"]} for user in ("a", "z")]
        answer = self.server.ndjson("/filter", lines)
        self.assertEqual([json.loads(line)["unseen"] for line in answer.body.splitlines()], [["shared"], ["b"]])
        self.assertEqual(self.server.delete("/users/a/sets/s").json, {"deleted": True})
        self.assertEqual(self.server.delete("/users/a/sets/s").json, {"deleted": False})
        self.assertEqual(self.ask("a", ["b", "shared"], ["s"])["unseen"], ["b"])

    def test_are_listed_and_paged(self):
        self.put("l", "b%2F1", ["%02d" % i for i in range(25)])
        self.put("l", "a", [])
        listed = self.server.get("/users/l/sets").json
        self.assertEqual([(one["name"], one["count"]) for one in listed["sets"]], [("a", 0), ("b/1", 25)])
        first = self.server.get("/users/l/sets/b%2F1?limit=20").json
        self.assertEqual((len(first["items"]), first["count"]), (20, 25))
        second = self.server.get("/users/l/sets/b%2F1?cursor=" + first["cursor"]).json
        self.assertEqual(first["items"] + second["items"], ["%02d" % i for i in range(25)])
        self.assertNotIn("cursor", second)
        self.assertEqual(self.server.get("/users/l").json["own_sets"], 2)
        exported = [json.loads(line) for line in self.server.get("/users/l/export").body.splitlines()]
        sets = {line["name"]: line["items"] for line in exported if line["type"] == "set"}
        self.assertEqual(sets, {"a": [], "b/1": ["%02d" % i for i in range(25)]})
        self.assertEqual(exported[-1]["type"], "end")

    def test_an_erasure_takes_them(self):
        self.put("e", "s", ["b"])
        self.assertEqual(self.server.delete("/users/e").status, 200)
        self.assertEqual(self.server.get("/users/e/sets").json, {"sets": []})
        self.refused(self.server.put("/users/e/sets/s", {"items": ["b"], "expires_ms": 1, "at": NOW}), 400, "/at")
        self.put("e", "s", ["b"])

    def test_what_is_malformed_names_its_place(self):
        self.put("m", "s", ["a"])
        for body, field in [({"expires_ms": 1}, "/items"), ({"items": ["a"]}, "/expires_ms"),
                            ({"items": ["a", ""], "expires_ms": 1}, "/items/1"),
                            ({"items": ["x"], "expires_ms": 0}, "/expires_ms"),
                            ({"items": ["x"], "expires_ms": 30 * 24 * HOUR + 1}, "/expires_ms"),
                            ({"items": ["x"], "expires_ms": "1d"}, "/expires_ms"),
                            ({"items": ["x"], "expires_ms": 1, "at": NOW + 2 * HOUR}, "/at"),
                            ({"items": ["x"], "expires_ms": 1, "name": "s"}, "/name"),
                            ({"items": ["%d" % i for i in range(10_001)], "expires_ms": 1}, "/items")]:
            self.refused(self.server.put("/users/m/sets/s", body), 400, field)
        self.refused(self.server.put("/users/m/sets/" + "n" * 65, {"items": [], "expires_ms": 1}), 400, "/name")
        self.refused(self.server.get("/users/m/sets/s?limit=0"), 400, "/limit")
        self.refused(self.server.get("/users/m/sets/s?cursor="), 400, "/cursor")
        self.refused(self.server.get("/users/m/sets/none"), 404, "")
        self.refused(self.server.post("/filter", {"user": "m", "items": ["a"], "exclude_sets": ["s", "none"]}),
                     404, "/exclude_sets/1")
        self.assertEqual(self.server.get("/users/m/sets/s").json["items"], ["a"])
        for i in range(15):
            self.put("m", "s%d" % i, ["a"])
        self.refused(self.server.put("/users/m/sets/more", {"items": ["a"], "expires_ms": 1}), 409, "/name")

    def test_the_one_said_last_counts(self):
        self.put("o", "s", ["new"], at=NOW + 5)
        self.assertEqual(self.put("o", "s", ["old"], at=NOW + 4)["at"], NOW + 5)
        self.assertEqual(self.ask("o", ["new", "old"], ["s"])["unseen"], ["old"])
        self.assertEqual(self.put("o", "s", ["next"])["at"], NOW + 6)
        self.assertEqual(self.server.delete("/users/o/sets/s").json, {"deleted": True})
        self.server.put("/users/o/sets/s", {"items": ["new"], "expires_ms": HOUR, "at": NOW + 5})
        self.refused(self.server.get("/users/o/sets/s"), 404, "")
        self.put("o", "s", ["again"])
        self.assertEqual(self.ask("o", ["new", "again"], ["s"])["unseen"], ["new"])

    def test_binary_requests_name_them(self):
        self.put("bin", "s", [2, 3])
        body = b"".join(number.to_bytes(8, "little") for number in (1, 2, 3, 4))
        ask = lambda user: self.server.request("POST", "/filter?user=%s&ids=u64&exclude_sets=s" % user, body,
                                               {"Content-Type": "application/octet-stream"})
        answer = ask("bin")
        self.assertEqual((answer.status, answer.body), (200, bytes([0b1001])), answer)
        self.refused(ask("bin2"), 404, "/exclude_sets/0")

    def test_end_to_the_millisecond(self):
        with tempfile.TemporaryDirectory() as folder:
            def at(ms, call):
                server = CheckedServer(folder, clock_ms=ms)
                try:
                    return call(server)
                finally:
                    server.close()
            ask = lambda server: server.post("/filter", {"user": "u", "items": ["a", "b"], "exclude_sets": ["s"]})
            at(NOW, lambda server: server.put("/users/u/sets/s", {"items": ["b"], "expires_ms": HOUR}))
            self.assertEqual(at(NOW + HOUR - 1, ask).json["unseen"], ["a"])
            def ended(server):
                self.refused(ask(server), 404, "/exclude_sets/0")
                self.assertEqual(server.get("/users/u/sets").json, {"sets": []})
                self.assertEqual(server.delete("/users/u/sets/s").json, {"deleted": False})
                self.assertEqual(server.post("/admin/compact", {}).status, 200)
                self.assertEqual(server.put("/users/u/sets/s", {"items": ["a"], "expires_ms": 1}).status, 200)
                return ask(server).json["unseen"]
            self.assertEqual(at(NOW + HOUR, ended), ["b"])

    def test_stay_over_a_drain_and_a_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder)
            try:
                server.put("/users/u/sets/s", {"items": ["b"], "expires_ms": HOUR})
                ask = lambda: server.post("/filter", {"user": "u", "items": ["a", "b"], "exclude_sets": ["s"]}).json
                self.assertEqual(ask()["unseen"], ["a"])
                self.assertEqual(server.post("/admin/drain", {}).status, 200)
                self.assertEqual(ask()["unseen"], ["a"])
                server.kill()
                server.start()
                self.assertEqual(ask()["unseen"], ["a"])
            finally:
                server.close()


if __name__ == "__main__":
    unittest.main()
