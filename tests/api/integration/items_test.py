"""The store of items over HTTP: schema, updates in any order, reads, what a kill leaves."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

NOW = 1_700_000_000_000
SCHEMA = {"fields": [{"name": "author", "type": "text", "column": True},
                     {"name": "published_at", "type": "i64"},
                     {"name": "score", "type": "f32"},
                     {"name": "public", "type": "bool"},
                     {"name": "tags", "type": "list_text"},
                     {"name": "numbers", "type": "list_i64"}]}
WHOLE = {"author": "a3", "published_at": -5, "score": 0.5, "public": True, "tags": ["x", "ü\""],
         "numbers": [1, -(2 ** 63), 2 ** 63 - 1]}


class ItemsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)
        answer = cls.server.put("/items/schema", SCHEMA)
        assert answer.status == 200, answer

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def update(self, *items, status=200):
        answer = self.server.post("/items", {"items": list(items)})
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def get(self, *ids, **more):
        answer = self.server.post("/items/get", {"ids": list(ids), **more})
        self.assertEqual(answer.status, 200, answer)
        return answer.json["items"]

    def test_what_was_set_is_read(self):
        said = self.update({"id": "v1", "version": 7, "set": WHOLE}, {"id": 2, "version": 1})
        self.assertEqual(said, {"accepted": 2, "stale": 0, "refused": 0, "refusals": []})
        self.assertEqual(self.get("v1", "none", 2),
                         [{"id": "v1", "version": 7, "fields": WHOLE},
                          {"id": 2, "version": 1, "fields": {}}])
        # Ids come back as they were written, each as often as it was asked for.
        self.assertEqual([item["id"] for item in self.get("2", 2, "v1", 2)], ["2", 2, "v1", 2])
        self.assertEqual(self.get("v1", fields=["tags", "author"])[0]["fields"],
                         {"tags": WHOLE["tags"], "author": "a3"})

    def test_the_schema_is_told(self):
        fields = self.server.get("/items/schema").json["fields"]
        self.assertEqual(fields[:2], [{"name": "author", "type": "text", "column": True},
                                      {"name": "published_at", "type": "i64", "column": False}])

    def test_updates_of_one_body_come_in_any_order(self):
        lines = [{"id": "o", "version": 3, "set": {"author": "third"}},
                 {"id": "o", "version": 1, "set": {"author": "first", "published_at": 1}},
                 b"\r",
                 {"id": "o", "version": 2, "unset": ["published_at"]},
                 {"id": "o", "version": 3, "set": {"author": "third"}}]
        said = self.server.ndjson("/items", lines).json
        self.assertEqual((said["accepted"], said["refused"], said["stale"]), (4, 0, 1))
        self.assertEqual(self.get("o"), [{"id": "o", "version": 3, "fields": {"author": "third"}}])
        self.update({"id": "o", "version": 9, "delete": True},
                    {"id": "o", "version": 8, "set": {"author": "eighth"}})
        self.assertEqual(self.get("o"), [])
        self.update({"id": "o", "version": 9, "set": {"author": "ninth"}})
        self.assertEqual(self.get("o")[0]["fields"], {"author": "ninth"})
        self.update({"id": "o", "version": 11, "replace": True, "set": {"score": 2}},
                    {"id": "o", "version": 10, "set": {"author": "tenth"}})
        self.assertEqual(self.get("o")[0]["fields"], {"score": 2.0})

    def test_an_item_is_unknown_from_its_time_on(self):
        self.update({"id": "soon", "version": 1, "set": {"author": "a"}, "expires_at": NOW + 1},
                    {"id": "gone", "version": 1, "set": {"author": "a"}, "expires_at": NOW})
        self.assertEqual([item["id"] for item in self.get("soon", "gone")], ["soon"])

    def test_a_bad_document_changes_nothing(self):
        good = {"id": "bad", "version": 1, "set": {"author": "a"}}
        for update, field in [
                ({"version": 1}, "/items/1/id"),
                ({"id": "", "version": 1}, "/items/1/id"),
                ({"id": "b"}, "/items/1/version"),
                ({"id": "b", "version": 0}, "/items/1/version"),
                ({"id": "b", "version": 2 ** 63}, "/items/1/version"),
                ({"id": "b", "version": 1, "set": {"nobody": 1}}, "/items/1/set/nobody"),
                ({"id": "b", "version": 1, "set": {"a/b": 1}}, "/items/1/set/a~1b"),
                ({"id": "b", "version": 1, "set": {"author": 7}}, "/items/1/set/author"),
                ({"id": "b", "version": 1, "set": {"author": None}}, "/items/1/set/author"),
                ({"id": "b", "version": 1, "set": {"published_at": 1.5}},
                 "/items/1/set/published_at"),
                ({"id": "b", "version": 1, "set": {"published_at": 2 ** 63}},
                 "/items/1/set/published_at"),
                ({"id": "b", "version": 1, "set": {"score": 1e39}}, "/items/1/set/score"),
                ({"id": "b", "version": 1, "set": {"public": 1}}, "/items/1/set/public"),
                ({"id": "b", "version": 1, "set": {"tags": ["x", 2]}}, "/items/1/set/tags/1"),
                ({"id": "b", "version": 1, "set": {"tags": ["x"] * 1001}}, "/items/1/set/tags"),
                ({"id": "b", "version": 1, "unset": ["nobody"]}, "/items/1/unset/0"),
                ({"id": "b", "version": 1, "set": {"score": 1}, "unset": ["score"]},
                 "/items/1/set/score"),
                ({"id": "b", "version": 1, "delete": True, "set": {"score": 1}},
                 "/items/1/delete"),
                ({"id": "b", "version": 1, "expires_at": -1}, "/items/1/expires_at"),
                ({"id": "b", "version": 1, "sets": {}}, "/items/1/sets"),
                ("b", "/items/1")]:
            answer = self.server.post("/items", {"items": [good, update]})
            self.assertEqual((answer.status, answer.error["field"]), (400, field), answer)
        self.assertEqual(self.get("bad"), [])

    def test_a_bad_line_is_refused_and_the_others_are_taken(self):
        lines = [{"id": "l1", "version": 1, "set": {"author": "a"}},
                 b'{"id":"l2","version":1,"set":{"author":tru}}',
                 {"id": "l2", "version": 1, "set": {"nobody": 1}},
                 {"id": "l2", "version": 1, "set": {"tags": ["y" * 40_000, "z" * 40_000]}},
                 {"id": "l3", "version": 1}]
        said = self.server.ndjson("/items", lines).json
        self.assertEqual((said["accepted"], said["refused"]), (2, 3))
        self.assertEqual([(one["index"], one["error"]["field"]) for one in said["refusals"]],
                         [(1, "/set/author"), (2, "/set/nobody"), (3, "")])
        self.assertEqual([item["id"] for item in self.get("l1", "l2", "l3")], ["l1", "l3"])
        answer = self.server.ndjson("/items", lines[1:2])
        self.assertEqual((answer.status, answer.json["accepted"]), (422, 0))

    def test_a_bad_question_names_its_place(self):
        for body, field in [({"ids": ["a"] * 1001}, "/ids"), ({"ids": ["a", ""]}, "/ids/1"),
                            ({"fields": []}, "/ids"),
                            ({"ids": ["a"], "fields": ["author", "no"]}, "/fields/1")]:
            answer = self.server.post("/items/get", body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), answer)

    def test_figures_are_told(self):
        self.update({"id": "figure", "version": 2, "set": {"author": "a"}},
                    {"id": "figure", "version": 1, "set": {"author": "b"}})
        state = self.server.get("/admin/items").json
        self.assertEqual(state["fields"], len(SCHEMA["fields"]))
        for name in ("items", "record_bytes", "memory_bytes", "bytes_limit", "accepted", "stale"):
            self.assertGreater(state[name], 0, name)
        metrics = self.server.get("/metrics").body.decode()
        self.assertIn("\nseendb_item_updates_accepted_total ", metrics)
        self.assertIn("\nseendb_items ", metrics)


class OwnServerTest(unittest.TestCase):
    """Cases that need a server of their own."""

    def test_there_is_no_store_until_a_schema_is_put(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder)
            try:
                for answer in (server.post("/items", {"items": []}),
                               server.ndjson("/items", [b"{}"]),
                               server.post("/items/get", {"ids": []}),
                               server.get("/items/schema"), server.get("/admin/items")):
                    self.assertEqual((answer.status, answer.error["code"]), (409, "incompatible"))
                self.assertNotIn("seendb_items", server.get("/metrics").body.decode())
                for fields, field in [
                        ([{"name": "a"}], "/fields/0/type"),
                        ([{"name": "", "type": "text"}], "/fields/0/name"),
                        ([{"name": "a", "type": "blob"}], "/fields/0/type"),
                        ([{"name": "a", "type": "list_text", "column": True}], "/fields/0/column"),
                        ([{"name": "a", "type": "text"}] * 2, "/fields/1/name")]:
                    answer = server.put("/items/schema", {"fields": fields})
                    self.assertEqual((answer.status, answer.error["field"]), (400, field), answer)
                self.assertNotIn("items", os.listdir(folder))
            finally:
                server.close()

    def test_a_kill_leaves_what_was_acknowledged(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder)
            try:
                server.put("/items/schema", SCHEMA)
                server.post("/items", {"items": [{"id": "k", "version": 4, "set": WHOLE}]})
                server.put("/items/schema", {"fields": SCHEMA["fields"][:3]})
                server.kill()
            finally:
                server.close()
            server = CheckedServer(folder)
            try:
                self.assertEqual(server.post("/items/get", {"ids": ["k"]}).json["items"],
                                 [{"id": "k", "version": 4,
                                   "fields": {name: WHOLE[name]
                                              for name in ("author", "published_at", "score")}}])
            finally:
                server.close()

    def test_a_checkpoint_has_the_items(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(os.path.join(folder, "db"),
                                   config={"checkpoints": os.path.join(folder, "copies")})
            try:
                server.put("/items/schema", SCHEMA)
                server.post("/items", {"items": [{"id": "c", "version": 1}]})
                answer = server.post("/admin/checkpoint", {"name": "one"})
                self.assertEqual(answer.status, 200, answer)
            finally:
                server.close()
            self.assertEqual(os.listdir(os.path.join(folder, "copies")), ["one"])
            server = CheckedServer(os.path.join(folder, "copies", "one"))
            try:
                self.assertEqual([item["id"] for item in
                                  server.post("/items/get", {"ids": ["c"]}).json["items"]], ["c"])
            finally:
                server.close()

    def test_none_where_the_setting_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            server = CheckedServer(folder, config={"items": {"bytes": 0}})
            try:
                self.assertEqual(server.put("/items/schema", SCHEMA).status, 409)
                self.assertNotIn("items", os.listdir(folder))
            finally:
                server.close()


if __name__ == "__main__":
    unittest.main()
